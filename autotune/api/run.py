"""A finished (or stopped) search, as Python sees it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from autotune.api.notebook import ShownFront
from autotune.core.errors import UserError
from autotune.core.front import Front, Point
from autotune.core.trial import TrialRecord
from autotune.runs.folder import RunFolder
from autotune.searching.ending import Ending

__all__ = ["Run", "read_front"]


@dataclass(frozen=True)
class Run:
    """``path`` is the run folder, ``front`` the answer; ``ending`` tells why the search ended, None: it was read back."""

    path: Path
    front: ShownFront
    ending: Ending | None = None

    @classmethod
    def open(cls, path: str | Path) -> Run:
        """Read the run in that folder. Raises ``UserError`` when it is none, or has no front yet."""
        folder = RunFolder.open(Path(path))
        return cls(folder.path, ShownFront.of(read_front(folder)))

    def records(self) -> list[TrialRecord]:
        """Every trial and how it ended, oldest first."""
        return RunFolder.open(self.path).records()

    def point(self, name: str = "knee") -> Point:
        """Return the point of that id or name: knee, fastest, frugal, accurate, baseline, or a metric. Raises ``UserError``."""
        from autotune.export import choose_point

        return choose_point(self.front, name)

    def export(self, to: str | Path, point: str | None = None, *, samples: bool = True, original: bool = True) -> Path:
        """Write a point as a folder that deploys as it is; return the folder. Raises ``UserError``.

        ``point`` None: what the answer recommends, else the original, as ``autotune export`` without ``--point``.
        """
        from autotune.api.exporting import Exporter
        from autotune.report import recommended

        exporter = Exporter(RunFolder.open(self.path), self.front, samples=samples, original=original)
        chosen = self.point(point) if point is not None else recommended(self.front) or self.front.baseline
        return exporter.export(chosen, Path(to))


def read_front(folder: RunFolder) -> Front:
    """Return the run's front. Raises ``UserError`` when there is none yet."""
    front = folder.front()
    if front is None:
        raise UserError(
            f"{folder.path} has no front yet",
            f"finish its search: autotune search --resume {folder.path} --budget NEW-TOTAL",
        )
    return front
