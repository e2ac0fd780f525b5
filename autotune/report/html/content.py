"""What a report is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from autotune.core.front import Front
from autotune.core.trial import TrialRecord
from autotune.runs.search_file import SearchFile

__all__ = ["ReportContent"]


@dataclass(frozen=True)
class ReportContent:
    """``run`` is how commands name the run folder. ``spent_s``: seconds worked.

    ``importances``: metric → parameter → share, 0 to 1; empty when too little was tried to say.
    """

    search: SearchFile
    front: Front
    records: Sequence[TrialRecord]
    run: str
    spent_s: float
    importances: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
