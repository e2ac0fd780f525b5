"""Shows a run in the tracker, during the search and afterwards."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from autotune import plugins
from autotune.api.exporting import Exporter
from autotune.core.front import Front
from autotune.report import front_markdown
from autotune.runs.folder import RunFolder
from autotune.runs.store import EXPORTING

__all__ = ["exported_points", "sync_run"]

TRACKER = "mlflow"


@contextmanager
def exported_points(folder: RunFolder, front: Front) -> Iterator[Mapping[str, Path]]:
    """Export each point of the front into a folder that lives as long as the block; yield the folders by point id."""
    root = Path(tempfile.mkdtemp(prefix=EXPORTING, dir=folder.path))
    try:
        exporter = Exporter(folder, front)
        points = {point.id: point for point in (*front.points, front.baseline)}
        yield {name: exporter.export(point, root / name) for name, point in points.items()}
    finally:
        shutil.rmtree(root, ignore_errors=True)


def sync_run(folder: RunFolder, uri: str | None) -> str:
    """Write to the tracker what it lacks of this run; return the id of the search's run there. Raises ``UserError``."""
    front = folder.front()
    tracker = plugins.tracker_factory(TRACKER)
    records = folder.records()
    if front is None or front.kind == "simulated":
        summary = "" if front is None else front_markdown(front)
        return str(tracker.sync(folder.search, records, front, summary, {}, uri, folder.path))
    with exported_points(folder, front) as exports:
        return str(tracker.sync(folder.search, records, front, front_markdown(front), exports, uri, folder.path))
