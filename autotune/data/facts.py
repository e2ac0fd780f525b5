"""Opens what ``--data`` names, checks that it fits the model, and splits it."""

from __future__ import annotations

from autotune.core.dataset import DataFacts
from autotune.core.hashing import hash_json
from autotune.core.model import ModelFacts
from autotune.core.workload import Shape
from autotune.data.dataset import Dataset
from autotune.data.generated import (
    GENERATED,
    GeneratedDataset,
    at_sizes,
    recipe,
    refuse_what_cannot_be_generated,
)
from autotune.data.source import Source, described_source, open_source
from autotune.data.split import split

__all__ = ["open_data", "open_dataset", "sizes_in"]

Spec = str | Source | None


def open_data(
    spec: Spec, model: ModelFacts, seed: int, preprocess: str | None = None, shapes: tuple[Shape, ...] = ()
) -> DataFacts:
    """Return where the samples are and how they are split by ``seed``. ``spec`` None: they are generated, in ``shapes``.

    ``spec`` is what ``--data`` names, or a source that was opened already. Of files, only headers are read, and the bytes
    hashed by chunks; a loader is run once. Raises ``UserError`` when ``spec`` names nothing readable, or its names, types
    or shapes do not fit the model.
    """
    if spec is None:
        return _generated(model, seed, shapes)
    source = open_source(spec, preprocess) if isinstance(spec, str) else spec
    found = source.fit(model)
    return DataFacts(
        path=source.path,
        sha256=source.sha256(),
        count=found.count,
        labels=found.labels,
        split=split(found.count, seed),
        seed=seed,
        preprocess=source.preprocess,
        loader=source.loader,
        varying=found.varying,
    )


def open_dataset(data: DataFacts, model: ModelFacts) -> Dataset:
    """Open what ``open_data`` described. Raises ``UserError`` when it is gone or no longer fits."""
    if data.path is None:
        return GeneratedDataset(model, data.seed, data.count, data.shapes)
    return described_source(data).dataset(model)


def sizes_in(spec: Spec, model: ModelFacts, preprocess: str | None = None) -> dict[str, int]:
    """Return what the user's data say of the model's symbols, the batch excepted: sizes to read the model with again.

    Sums such as ``past + seq`` follow from their symbols and are left out. Raises ``UserError`` as ``open_data`` does.
    """
    if spec is None:
        return {}
    source = open_source(spec, preprocess) if isinstance(spec, str) else spec
    sizes = source.fit(model).sizes
    return {symbol: size for symbol, size in sizes.items() if not set(symbol) & set("+-*/")}


def _generated(model: ModelFacts, seed: int, shapes: tuple[Shape, ...]) -> DataFacts:
    for one in (model, *(at_sizes(model, shape.dims) for shape in shapes)):
        refuse_what_cannot_be_generated(one)
    return DataFacts(
        path=None,
        sha256=hash_json(recipe(model, seed, shapes)),
        count=GENERATED,
        labels=False,
        split=split(GENERATED, seed),
        seed=seed,
        shapes=shapes,
    )
