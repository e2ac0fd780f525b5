"""Where the user's data are, and how they were split."""

from __future__ import annotations

from pathlib import Path

from autotune.core.frozen import Record

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

    ``sha256`` covers the data (or, for generated inputs, the recipe).
    """

    path: Path | None
    sha256: str
    count: int
    labels: bool
    split: Split
    seed: int = 0
