"""What racing lost: points of the front without racing that the front with racing has nothing to set against."""

from __future__ import annotations

from collections.abc import Sequence

from autotune.core.trial import TrialRecord
from autotune.runs.search_file import SearchFile
from autotune.searching.contenders import Contender
from autotune.searching.found import found_by_searching

__all__ = ["lost_points"]


def lost_points(
    search: SearchFile, plain: Sequence[TrialRecord], raced: Sequence[TrialRecord]
) -> tuple[tuple[str, ...], int]:
    """Return the names of the points lost, and how many points the front has without racing.

    A point is not lost when it is on the front with racing, or when that front has one that is certainly worse in nothing:
    no more than an advantage within the interval is then given up.
    """
    before = found_by_searching(plain, search).verdicts.kept
    after = found_by_searching(raced, search).verdicts.kept
    names = {one.name for one in after}
    missing = [one for one in before if one.name not in names]
    lost = tuple(one.name for one in missing if not any(_no_worse(other, one) for other in after))
    return lost, len(before)


def _no_worse(other: Contender, one: Contender) -> bool:
    return not one.certainly_better_somewhere(other)
