"""Where the user's data are, and how they were split."""

from __future__ import annotations

from pathlib import Path

from autotune.core.frozen import Record
from autotune.core.workload import Shape

__all__ = ["DataFacts", "Split"]


class Split(Record):
    """Sample indices by use: calibrate quantisers, select among candidates, confirm what is shown.

    With too few samples there is no split: ``whole`` is True and all three are the same.
    """

    calibrate: tuple[int, ...]
    select: tuple[int, ...]
    confirm: tuple[int, ...]
    whole: bool = False


class DataFacts(Record):
    """``path`` None: the inputs are generated from ``seed``. ``count`` samples; ``labels`` says whether they are labelled.

    ``sha256`` covers the data (or, for generated inputs, the recipe) and the preprocessing.
    ``preprocess``: what was asked to be done to images, maybe nothing; None: they are none.
    ``loader``: the ``module:function`` that yielded the samples; ``path`` is then the folder that they are kept in, or the
    function's source file when its sequence is read as it is. None: the data are files.
    ``shapes``: the sizes that generated samples take in turn; empty: the model's. ``varying``: symbolic dimensions that differ
    from sample to sample.
    """

    path: Path | None
    sha256: str
    count: int
    labels: bool
    split: Split
    seed: int = 0
    preprocess: str | None = None
    loader: str | None = None
    shapes: tuple[Shape, ...] = ()
    varying: tuple[str, ...] = ()
