"""``python -m autotune_backends.torch.converting PROGRAM TARGET OPTIONS``: make another kind of file of a program.

A process of its own: it is the only one of a build that loads the program. PROGRAM is a plain copy (``models.pt2_plain``);
OPTIONS is JSON. What goes wrong is told on stderr.
"""

from __future__ import annotations

import json
import sys
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import astuple
from pathlib import Path
from typing import Any, Final

from autotune.replay.torch_session import Port, import_torch, numpy_name, program_ports

__all__ = ["main"]

_CONFIGURED: Final = {"freezing": True, "cpp.dynamic_threads": True}
"""torch/_inductor/config.py: weights are constants, laid out for the kernels; the number of threads is asked for at run time."""
_WHEN: Final = (1980, 1, 1, 0, 0, 0)


def main(arguments: list[str]) -> None:
    """Convert."""
    source, target, options = Path(arguments[0]), Path(arguments[1]), json.loads(arguments[2])
    torch = import_torch()
    program = torch.export.load(str(source))
    make = _to_onnx if options["kernels"] == "onnxruntime" else _compile
    make(torch, program, target, options)


def _to_onnx(torch: Any, program: Any, target: Path, options: Mapping[str, Any]) -> None:  # noqa: ARG001
    """PyTorch's exporter, with the program's own names."""
    inputs, outputs = program_ports(program)
    torch.onnx.export(
        program,
        f=str(target),
        dynamo=True,
        input_names=[port.name for port in inputs],
        output_names=[port.name for port in outputs],
        external_data=False,
        verbose=False,
    )


def _compile(torch: Any, program: Any, target: Path, options: Mapping[str, Any]) -> None:
    """Inductor's code, ahead of time, for any number of threads and with the weights inside."""
    inputs, outputs = program_ports(program)
    example = _example(torch, program)
    if options["precision"] == "bf16":
        program = _narrowed(torch, program, example, outputs)
    program.example_inputs = (example, {})
    ports = {side: [astuple(port) for port in found] for side, found in (("in", inputs), ("out", outputs))}
    with tempfile.TemporaryDirectory(prefix="autotune-compiled-") as place:
        package = Path(place) / target.name
        torch._inductor.aoti_compile_and_package(  # noqa: SLF001 - its documented place
            program,
            package_path=str(package),
            inductor_configs={**_CONFIGURED, "aot_inductor.metadata": {"ports": json.dumps(ports)}},
        )
        _without_sources(package, target)


def _narrowed(torch: Any, program: Any, example: tuple[Any, ...], outputs: Sequence[Port]) -> Any:
    """The program exported again under autocast, its outputs in the types that they had."""
    dtypes = {port.name: getattr(torch, numpy_name(port)) for port in outputs}
    module = program.module(check_guards=False)

    class Narrowed(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.module = module

        def forward(self, *tensors: Any) -> dict[str, Any]:
            with torch.autocast("cpu", dtype=torch.bfloat16):
                found = self.module(*tensors)
            return {name: tensor.to(dtypes[name]) for name, tensor in found.items()}

    auto = torch.export.Dim.AUTO
    shapes = [value.shape for value in _fed(program)]
    free = tuple({axis: auto for axis, size in enumerate(shape) if type(size) is not int} for shape in shapes)
    return torch.export.export(Narrowed(), example, dynamic_shapes={"tensors": free})


def _example(torch: Any, program: Any) -> tuple[Any, ...]:
    """Zeros in the sizes of the example that the program was exported with."""
    return tuple(
        torch.zeros([size if type(size) is int else size.node.hint for size in value.shape], dtype=value.dtype)
        for value in _fed(program)
    )


def _fed(program: Any) -> list[Any]:
    """What the program knows of each tensor that it takes, in order."""
    values = {node.name: node.meta["val"] for node in program.graph.nodes if node.op == "placeholder"}
    return [values[name] for name in program.graph_signature.user_inputs]


def _without_sources(package: Path, target: Path) -> None:
    """The package without C++ and random numbers: what is left is the same each time, and all that is loaded."""
    with zipfile.ZipFile(package) as source, zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as kept:
        for entry in sorted(source.infolist(), key=lambda entry: entry.filename):
            if not entry.filename.endswith((".cpp", "/serialization_id")):
                kept.writestr(zipfile.ZipInfo(entry.filename, _WHEN), source.read(entry))


if __name__ == "__main__":
    main(sys.argv[1:])
