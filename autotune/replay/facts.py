"""What the model beside an exported folder takes, read from its file again."""

from __future__ import annotations

from pathlib import Path

from autotune.core.deployment import ExportedConfig
from autotune.core.dimensions import symbols_in
from autotune.core.model import ModelFacts

__all__ = ["facts_of", "symbols_of"]


def facts_of(model: Path, config: ExportedConfig, folder: Path) -> ModelFacts:
    """The facts of ``model``, the exported one or its original, at the sizes that the promise was measured at.

    ``folder`` is the exported one, for its custom operators. Raises ``UserError`` when the model cannot be read.
    """
    from autotune.models import read_model

    library = config.session.custom_op_library
    beside = None if library is None else folder / library
    facts = read_model(model, None, beside)
    sizes = {symbol: size for symbol, size in config.promise.dims.items() if symbol in symbols_of(facts)}
    return read_model(model, sizes, beside) if sizes else facts


def symbols_of(facts: ModelFacts) -> set[str]:
    """The symbolic dimensions of a model's inputs."""
    return {symbol for one in facts.inputs for dim in one.shape or () for symbol in symbols_in(dim)}
