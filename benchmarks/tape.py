"""A tape: the rounds that sessions really ran, one after another, kept to be played back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from autotune.core.samples import Samples

__all__ = ["RECORDED", "Tape", "load_tapes", "save_tapes", "tape_of"]

RECORDED = Path(__file__).parent / "recorded"

_JOINED = "; "
_FIELDS = ("latency_s", "counts", "cpu_s", "began_s")


@dataclass(frozen=True)
class Tape:
    """One session's rounds. ``latency_s``: seconds per request, all rounds joined, of ``counts[i]`` requests each.

    ``cpu_s`` and ``began_s`` (seconds since the recording began) ``[rounds]``; ``reasons`` what disturbed each round (empty:
    nothing did). ``items`` per request.
    """

    latency_s: NDArray[np.float32]
    counts: NDArray[np.int32]
    cpu_s: NDArray[np.float32]
    began_s: NDArray[np.float64]
    reasons: tuple[tuple[str, ...], ...]
    items: int = 1

    def __len__(self) -> int:
        return len(self.counts)

    @cached_property
    def rounds(self) -> list[NDArray[np.float64]]:
        """The seconds per request of each round."""
        return np.split(self.latency_s.astype(np.float64), np.cumsum(self.counts)[:-1])

    @cached_property
    def medians_s(self) -> NDArray[np.float64]:
        """The median seconds per request of each round."""
        return np.asarray([np.median(latency) for latency in self.rounds])

    @cached_property
    def disturbed(self) -> NDArray[np.bool_]:
        """Which rounds were disturbed."""
        return np.asarray([bool(reasons) for reasons in self.reasons])

    @cached_property
    def size(self) -> int:
        """Requests that every round has."""
        return int(self.counts.min())

    def samples(self, row: int, count: int | None = None) -> Samples:
        """One round's first ``size`` requests, or fewer, ``count``; rows beyond the end begin again."""
        row %= len(self)
        whole = self.rounds[row]
        latency = whole[: self.size if count is None else min(count, self.size)]
        share = len(latency) / len(whole)
        return Samples(latency, self.items, float(latency.sum()), cpu_s=float(self.cpu_s[row]) * share)

    def stream(self, start: int, count: int) -> Samples:
        """A round of ``count`` requests from the ``start``-th on, whatever rounds they were recorded in."""
        latency = self.latency_s.take(range(start, start + count), mode="wrap").astype(np.float64)
        row = int(np.searchsorted(np.cumsum(self.counts), start % len(self.latency_s), side="right"))
        cpu = float(self.cpu_s[row]) / int(self.counts[row]) * count
        return Samples(latency, self.items, float(latency.sum()), cpu_s=cpu)


def tape_of(rounds: Sequence[tuple[float, Samples, tuple[str, ...]]]) -> Tape:
    """Make a tape of rounds in time order: when each began, what it measured, what disturbed it."""
    taken = [samples for _, samples, _ in rounds]
    return Tape(
        np.concatenate([samples.latency_s for samples in taken]).astype(np.float32),
        np.asarray([len(samples.latency_s) for samples in taken], dtype=np.int32),
        np.asarray([np.nan if samples.cpu_s is None else samples.cpu_s for samples in taken], dtype=np.float32),
        np.asarray([began for began, _, _ in rounds]),
        tuple(reasons for _, _, reasons in rounds),
        taken[0].items,
    )


def save_tapes(path: Path, tapes: Mapping[str, Tape]) -> None:
    """Write tapes by name into one compressed ``.npz``."""
    arrays: dict[str, NDArray[np.generic]] = {}
    for name, tape in tapes.items():
        arrays |= {f"{name}/{field}": getattr(tape, field) for field in _FIELDS}
        arrays[f"{name}/reasons"] = np.asarray([_JOINED.join(reasons) for reasons in tape.reasons], dtype=np.str_)
        arrays[f"{name}/items"] = np.asarray(tape.items)
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(path, **arrays)  # type: ignore[arg-type]


def load_tapes(path: Path) -> dict[str, Tape]:
    """Read what ``save_tapes`` wrote."""
    with np.load(path, allow_pickle=False) as arrays:
        names = dict.fromkeys(key.rpartition("/")[0] for key in arrays.files)
        return {name: _read(arrays, name) for name in names}


def _read(arrays: Mapping[str, NDArray[np.generic]], name: str) -> Tape:
    reasons = tuple(tuple(filter(None, str(text).split(_JOINED))) for text in arrays[f"{name}/reasons"])
    fields = {field: np.asarray(arrays[f"{name}/{field}"]) for field in _FIELDS}
    return Tape(**fields, reasons=reasons, items=int(arrays[f"{name}/items"]))
