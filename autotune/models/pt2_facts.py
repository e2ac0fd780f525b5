"""The facts of an exported program, read out of its archive: nothing of it is loaded, and PyTorch is not imported."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from autotune.core.errors import UserError
from autotune.core.model import BatchAxis, ModelFacts, TensorFacts
from autotune.models.batch import batch_axis
from autotune.models.dims import size_dims
from autotune.models.pt2_archive import Pt2Archive, opened
from autotune.models.pt2_program import Port, Program, read_program
from autotune.models.pt2_sizes import named_axes, renamed
from autotune.models.pt2_tensors import KINDS, read_tensors

__all__ = ["largest_batch", "read_pt2"]

_QUANTISED = ("quantized_decomposed.", "quantized.")


def read_pt2(path: Path, dims: Mapping[str, int]) -> ModelFacts:
    """Return the facts of the program at the absolute ``path``. Raises ``UserError``; see ``read_model``.

    An axis of any size is called ``batch`` when it is the first of every input, else by input and axis (``ids_1``): the file
    does not keep the names that it was exported with.
    """
    with opened(path) as archive:
        program = read_program(archive)
        weight_bytes = sum(_bytes(archive, kind) for kind in KINDS)
    return _facts(path, program, dims, weight_bytes)


def largest_batch(path: Path) -> int | None:
    """The most samples a run that the program at ``path`` was exported for; None: any number. Raises ``UserError``."""
    with opened(path) as archive:
        program = read_program(archive)
    names = named_axes({port.name: port.sizes for port in program.inputs})
    return next(
        (program.bounds[symbol][1] for symbol, name in names.items() if name == "batch" and symbol in program.bounds),
        None,
    )


def _facts(path: Path, program: Program, dims: Mapping[str, int], weight_bytes: int) -> ModelFacts:
    names = named_axes({port.name: port.sizes for port in program.inputs})
    inputs = tuple(_tensor(port, names, program.tables.get(port.value)) for port in program.inputs)
    batch = _batch(batch_axis(inputs, dims), names, program)
    with path.open("rb") as stream:
        sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
    return ModelFacts(
        path=path,
        format="pt2",
        sha256=sha256,
        files=(path.name,),
        size_bytes=path.stat().st_size,
        inputs=inputs,
        outputs=tuple(_tensor(port, names, None) for port in program.outputs),
        operators=dict(sorted(program.operators.items())),
        batch=batch,
        dims=_sizes(inputs, batch, dims, names, program),
        quantised=any(name.startswith(_QUANTISED) for name in program.operators),
        weight_bytes=weight_bytes,
        notes=_notes(program),
    )


def _bytes(archive: Pt2Archive, kind: str) -> int:
    """Each record once: tensors may share one."""
    return sum(archive.size(record) for record in read_tensors(archive, kind).records)


def _tensor(port: Port, names: Mapping[str, str], rows: int | None) -> TensorFacts:
    shape = tuple(size if isinstance(size, int) else renamed(size, names) for size in port.sizes)
    bounds = {} if rows is None else {"low": 0, "high": rows - 1}
    return TensorFacts(name=port.name, dtype=port.dtype, shape=shape, **bounds)


def _batch(found: BatchAxis, names: Mapping[str, str], program: Program) -> BatchAxis:
    """No batch where the program was exported for two samples and more."""
    for symbol, name in names.items():
        low, _ = program.bounds.get(symbol, (None, None))
        if name == found.symbol and low is not None and low > 1:
            return BatchAxis(works=False, reason=f"the program was exported for {low} samples and more")
    return found


def _sizes(
    inputs: tuple[TensorFacts, ...],
    batch: BatchAxis,
    asked: Mapping[str, int],
    names: Mapping[str, str],
    program: Program,
) -> dict[str, int]:
    """The sizes of the example that it was exported with, but for the batch and what is asked for. Raises ``UserError``."""
    hints = {renamed(symbol, names): size for symbol, size in program.hints.items()}
    hints = {name: size for name, size in hints.items() if name != batch.symbol and name in names.values()}
    found = size_dims(inputs, batch.symbol, hints | dict(asked))
    for symbol, (low, high) in program.bounds.items():
        name = names.get(symbol, "")
        if name in asked and not (low or 0) <= asked[name] <= (high if high is not None else asked[name]):
            raise UserError(
                f"--dim {name}={asked[name]}: the program was exported for {low or 0} to {'any' if high is None else high}",
                "give a size within, or export it for others",
            )
    return found


def _notes(program: Program) -> tuple[str, ...]:
    if not program.constants:
        return ()
    return (f"the export fixed {', '.join(program.constants)}: no input of the program",)
