"""The reference rows that the simulator is fitted to and compared with."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import median

__all__ = ["Row", "medians", "rows"]

REFERENCE = Path(__file__).with_name("reference")

Row = Mapping[str, str]


def rows(name: str) -> list[dict[str, str]]:
    """A reference file."""
    with (REFERENCE / name).open(encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def medians(found: Iterable[tuple[str, float]]) -> dict[str, float]:
    """By key, in order of appearance."""
    groups: dict[str, list[float]] = defaultdict(list)
    for key, value in found:
        groups[key].append(value)
    return {key: median(values) for key, values in groups.items()}
