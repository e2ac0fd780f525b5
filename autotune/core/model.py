"""Facts about a model, read once from its files."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from autotune.core.frozen import Record

__all__ = ["LANGUAGE_MODEL", "BatchAxis", "ModelFacts", "TensorFacts", "whatever"]

LANGUAGE_MODEL = "transformer"
"""The format of a language model, of which its configuration alone is read."""


class TensorFacts(Record):
    """A graph input or output.

    ``dtype`` is a numpy name (``float32``, ``int64``, ``bool``, ``str`` for strings).
    ``shape`` holds ints, symbol names, or None for an axis that has neither; ``shape`` None: the rank is unknown.
    ``low``..``high`` bound the legal values (ids into a table, say); None: no bound is known. Both ends are legal.
    ``kind`` is ``tensor``, ``sequence``, ``optional`` or ``map``: only tensors can be generated.
    """

    name: str
    dtype: str
    shape: tuple[int | str | None, ...] | None
    low: float | None = None
    high: float | None = None
    kind: str = "tensor"


class BatchAxis(Record):
    """Whether the first axis of every input is a batch. ``symbol`` is its name, None when inputs use several or none.

    ``works`` is True when running with 2 was seen to work; otherwise ``reason`` says why batch is not searched.
    """

    works: bool
    symbol: str | None = None
    reason: str = ""


class ModelFacts(Record):
    """What a reader found. Sizes in bytes; ``sha256`` covers every file; ``flops`` for one run at ``dims``, None: unknown.

    ``files`` are the model's files relative to ``path``'s folder, the model itself first.
    ``dims`` gives each symbolic dimension its size for generated inputs.
    ``operators`` counts nodes, those in sub-graphs included, by ``domain::type`` (the default domain has no prefix).
    ``branching`` says that some nodes could run in parallel. ``notes`` are remarks for a person.
    ``custom_op_library`` None: the model needs none.
    """

    path: Path
    format: str
    sha256: str
    files: tuple[str, ...]
    size_bytes: int
    inputs: tuple[TensorFacts, ...]
    outputs: tuple[TensorFacts, ...]
    operators: dict[str, int] = Field(default_factory=dict)
    opset: dict[str, int] = Field(default_factory=dict)
    ir_version: int | None = None
    batch: BatchAxis = BatchAxis(works=False, reason="not probed")
    dims: dict[str, int] = Field(default_factory=dict)
    quantised: bool = False
    branching: bool = False
    weight_bytes: int | None = None
    flops: float | None = None
    notes: tuple[str, ...] = ()
    custom_op_library: Path | None = None

    @property
    def stem(self) -> str:
        """The file's name without its extension, a language model's whole name: names runs and MLflow's experiment."""
        return self.path.name if self.format == LANGUAGE_MODEL else self.path.stem


def whatever(format: str) -> ModelFacts:
    """Facts of no model in particular: of that format, and with all that makes a choice legal."""
    return ModelFacts(
        path=Path(f"model.{format}"),
        format=format,
        sha256="",
        files=(),
        size_bytes=0,
        inputs=(),
        outputs=(),
        batch=BatchAxis(works=True, symbol="batch"),
        branching=True,
    )
