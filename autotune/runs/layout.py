"""Where things lie in a run folder: paths only, nothing is read or written."""

from __future__ import annotations

from pathlib import Path

from autotune.core.frozen import Frozen

__all__ = ["RunLayout"]


class RunLayout(Frozen):
    """Paths under ``folder``. The contract names the first group; the second is ours and can be deleted between searches."""

    folder: Path

    @property
    def search(self) -> Path:
        """What the search was asked to do."""
        return self.folder / "search.json"

    @property
    def journal(self) -> Path:
        """One line a finished trial: the truth."""
        return self.folder / "journal.jsonl"

    @property
    def front(self) -> Path:
        """The answer."""
        return self.folder / "front.json"

    @property
    def report(self) -> Path:
        """The answer as a page."""
        return self.folder / "report.html"

    @property
    def artifacts(self) -> Path:
        """What was built."""
        return self.folder / "artifacts"

    def artifact(self, sha256: str) -> Path:
        """The folder of one artifact."""
        return self.artifacts / sha256

    def samples(self, trial: str) -> Path:
        """A trial's raw samples."""
        return self.folder / "samples" / f"{trial}.npz"

    @property
    def lock(self) -> Path:
        """Held by the driver while it lives."""
        return self.folder / "lock"

    @property
    def progress(self) -> Path:
        """How long the search has worked."""
        return self.folder / "progress.json"

    def build(self, key: str) -> Path:
        """Which artifact the build of that key gave."""
        return self.folder / "builds" / f"{key}.json"

    def reference(self, device: str, part: str) -> Path:
        """The unoptimised model's outputs on ``device``, for ``part`` of the data."""
        return self.folder / "reference" / f"{device}-{part}.npz"

    def quality(self, sha256: str, device: str, part: str) -> Path:
        """An artifact's quality on ``device``, for ``part`` of the data."""
        return self.folder / "quality" / f"{sha256}-{device}-{part}.json"

    def measured(self, key: str) -> Path:
        """Which trial measured what ``key`` stands for: an artifact, and how it is run."""
        return self.folder / "measured" / f"{key}.json"

    def work(self, trial: str) -> Path:
        """A running trial's assignment."""
        return self.folder / "work" / f"{trial}.json"

    def log(self, trial: str) -> Path:
        """What a trial's processes printed."""
        return self.folder / "logs" / f"{trial}.txt"
