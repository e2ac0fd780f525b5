"""Opens what ``--data`` names, checks that it fits the model, and splits it."""

from __future__ import annotations

from autotune.core.dataset import DataFacts
from autotune.core.hashing import hash_files, hash_json
from autotune.core.model import ModelFacts
from autotune.data.fit import fit
from autotune.data.generated import GENERATED, recipe, refuse_what_cannot_be_generated
from autotune.data.source import open_source
from autotune.data.split import split

__all__ = ["open_data", "sizes_in"]


def open_data(spec: str | None, model: ModelFacts, seed: int) -> DataFacts:
    """Return where the samples are and how they are split by ``seed``. ``spec`` None: they are generated.

    Only headers are read and the files hashed by chunks. Raises ``UserError`` when ``spec`` names nothing readable, or
    its names, types or shapes do not fit the model.
    """
    if spec is None:
        return _generated(model, seed)
    source = open_source(spec)
    layout = fit(source, model)
    return DataFacts(
        path=source.path,
        sha256=hash_files(source.files, source.path if source.path.is_dir() else source.path.parent),
        count=layout.count,
        labels=layout.labels is not None,
        split=split(layout.count, seed),
        seed=seed,
    )


def sizes_in(spec: str | None, model: ModelFacts) -> dict[str, int]:
    """Return what the user's arrays say of the model's symbols, the batch excepted: sizes to read the model with again.

    Sums such as ``past + seq`` follow from their symbols and are left out. Raises ``UserError`` as ``open_data`` does.
    """
    if spec is None:
        return {}
    sizes = fit(open_source(spec), model).sizes
    return {symbol: size for symbol, size in sizes.items() if not set(symbol) & set("+-*/")}


def _generated(model: ModelFacts, seed: int) -> DataFacts:
    refuse_what_cannot_be_generated(model)
    return DataFacts(
        path=None,
        sha256=hash_json(recipe(model, seed)),
        count=GENERATED,
        labels=False,
        split=split(GENERATED, seed),
        seed=seed,
    )
