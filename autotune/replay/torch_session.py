"""A PyTorch program opened, called as an onnxruntime session is. Needs torch and numpy alone: exported folders hold it."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["Port", "TorchSession", "import_torch", "numpy_name", "program_ports"]

_TYPES = {"float32": "float", "float64": "double"}
"""numpy's names → onnxruntime's, where they differ."""


@dataclass(frozen=True)
class Port:
    """An input or output. ``type`` as onnxruntime writes it (``tensor(float)``); an axis of any size is None in ``shape``."""

    name: str
    type: str
    shape: tuple[int | None, ...]


class TorchSession:
    """``settings`` are those of ``config.json``. Their ``options``: ``kernels`` eager (``model`` is an exported program) or
    inductor (it is a package that was compiled from one), ``num_threads``, ``spinning``; of eager ones ``precision`` (fp32,
    bf16), ``linear_weights`` (float, int8), ``channels_last``, ``attention`` (flash, math).
    """

    def __init__(self, model: Path, settings: Mapping[str, Any]) -> None:
        options = dict(settings.get("options", {}))
        self._torch = import_torch(spinning=options.get("spinning") is not False)
        self._torch.set_num_threads(int(options.get("num_threads", 1)))
        self._channels_last = options.get("channels_last") is True
        self._bfloat = options.get("kernels") == "eager" and options.get("precision") == "bf16"
        self._cast = threading.local()
        open_it = _compiled if options.get("kernels") == "inductor" else _eager
        self._call, self._inputs, self._outputs = open_it(self._torch, str(model), options)
        self._dtypes = {port.name: numpy_name(port) for port in self._outputs}

    def get_inputs(self) -> list[Port]:
        """What goes in, in the program's order."""
        return self._inputs

    def get_outputs(self) -> list[Port]:
        """What comes out, in the program's order."""
        return self._outputs

    def run(self, names: Sequence[str] | None, inputs: Mapping[str, Any]) -> list[Any]:
        """Infer once; the outputs of these names (None: all), as arrays."""
        tensors = [self._tensor(inputs[port.name]) for port in self._inputs]
        with self._torch.no_grad():
            self._enter_autocast()
            found = self._call(*tensors)
        return [self._array(name, found[name]) for name in names or self._dtypes]

    def _tensor(self, array: Any) -> Any:
        dense = np.require(array, requirements=["C", "W"])  # torch warns of arrays that it must not write to
        tensor = self._torch.from_numpy(dense)
        if self._channels_last and tensor.ndim == 4:
            return tensor.contiguous(memory_format=self._torch.channels_last)
        return tensor

    def _array(self, name: str, tensor: Any) -> Any:
        """In the type that the program promises: under autocast, what comes out may be narrower."""
        wanted = getattr(self._torch, self._dtypes[name])
        return (tensor if tensor.dtype == wanted else tensor.to(wanted)).detach().numpy()

    def _enter_autocast(self) -> None:
        """Once a thread, and never left: leaving drops the weights that were cast, and each run would cast them again."""
        if self._bfloat and not getattr(self._cast, "entered", False):
            self._torch.autocast("cpu", dtype=self._torch.bfloat16).__enter__()
            self._cast.entered = True


def import_torch(*, spinning: bool = True) -> Any:
    """Import torch so that it unpickles tensors alone, whatever a file asks for.

    Not ``spinning``: OpenMP's idle threads sleep. It reads that once, when torch loads it.
    """
    os.environ["TORCH_FORCE_WEIGHTS_ONLY_LOAD"] = "1"
    if not spinning:
        os.environ["OMP_WAIT_POLICY"] = "passive"
    import torch

    return torch


Opened = tuple[Callable[..., Mapping[str, Any]], list[Port], list[Port]]


def _eager(torch: Any, model: str, options: Mapping[str, Any]) -> Opened:
    torch.backends.cuda.enable_flash_sdp(options.get("attention", "flash") == "flash")  # named so, and the CPU's too
    program = torch.export.load(model)
    module = program.module(check_guards=False)
    if options.get("linear_weights") == "int8":
        _quantise(torch, module)
    if options.get("channels_last") is True:
        module.to(memory_format=torch.channels_last)
    narrowed = options.get("precision") == "bf16"
    for parameter in module.parameters():  # autocast keeps its copies of those weights alone that could be trained
        parameter.requires_grad_(narrowed and parameter.is_floating_point())
    return module, *program_ports(program)


def _compiled(torch: Any, model: str, options: Mapping[str, Any]) -> Opened:  # noqa: ARG001
    package = torch._inductor.aoti_load_package(model)  # noqa: SLF001 - its documented place
    ports = json.loads(package.get_metadata()["ports"])
    inputs, outputs = ([Port(name, kind, tuple(shape)) for name, kind, shape in ports[side]] for side in ("in", "out"))
    return package, inputs, outputs


def program_ports(program: Any) -> tuple[list[Port], list[Port]]:
    """A program's inputs and outputs, named as its arguments and the mapping that it returns."""
    nodes = {node.name: node for node in program.graph.nodes}
    signature = program.graph_signature
    names = list(program.call_spec.out_spec.context)
    inputs = [_port(name, nodes[name].meta["val"]) for name in signature.user_inputs]
    outputs = [_port(name, nodes[value].meta["val"]) for name, value in zip(names, signature.user_outputs, strict=True)]
    return inputs, outputs


def _port(name: str, value: Any) -> Port:
    kind = str(value.dtype).removeprefix("torch.")
    return Port(name, f"tensor({_TYPES.get(kind, kind)})", tuple(n if type(n) is int else None for n in value.shape))


def numpy_name(port: Port) -> str:
    """The type's name in numpy, and in torch."""
    kind = port.type.removeprefix("tensor(").removesuffix(")")
    return {theirs: ours for ours, theirs in _TYPES.items()}.get(kind, kind)


def _quantise(torch: Any, module: Any) -> None:
    """Linear layers with weights in int8, a scale for each output; activations are scaled as they come."""
    for number, node in enumerate(list(module.graph.nodes)):
        if node.target is not torch.ops.aten.linear.default or node.args[1].op != "get_attr":
            continue
        weight, bias = (_attribute(module, arg) for arg in (node.args[1], node.args[2] if len(node.args) > 2 else None))
        packed = torch.ops.quantized.linear_prepack(_int8(torch, weight), bias)
        setattr(module, f"_packed_{number}", packed)
        with module.graph.inserting_before(node):
            held = module.graph.get_attr(f"_packed_{number}")
            product = module.graph.call_function(torch.ops.quantized.linear_dynamic.default, (node.args[0], held))
        node.replace_all_uses_with(product)
        module.graph.erase_node(node)
    module.graph.eliminate_dead_code()
    module.delete_all_unused_submodules()
    module.recompile()


def _int8(torch: Any, weight: Any) -> Any:
    weight = weight.detach()
    scales = (weight.abs().amax(1) / 127).clamp(min=1e-12)
    return torch.quantize_per_channel(weight, scales, torch.zeros(len(scales), dtype=torch.int64), 0, torch.qint8)


def _attribute(module: Any, node: Any) -> Any:
    if node is None:
        return None
    found = module
    for part in node.target.split("."):
        found = getattr(found, part)
    return found.detach()
