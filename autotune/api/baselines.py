"""Finds what a gate's sides are called: a deployed folder, a point of a run, a registered model, a URL."""

from __future__ import annotations

import shutil
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from autotune.core.errors import UserError
from autotune.core.serving_promise import PROMISE

__all__ = ["MissingBaseline", "baseline_folder", "is_run", "point_of"]

_ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz")


class MissingBaseline(UserError):
    """There is no baseline yet, as on a repository's first run."""


@contextmanager
def baseline_folder(named: str, tracking_uri: str | None = None) -> Iterator[Path]:
    """Yield the deployed folder that ``named`` stands for; what was fetched or exported lives as long as the block.

    Raises ``MissingBaseline``, whose remedy is the command that makes one, and ``UserError`` for any other mistake.
    """
    if not _remote(named) and point_of(named) is None:
        yield _local(named)
        return
    with tempfile.TemporaryDirectory(prefix="autotune-baseline-") as scratch:
        target = Path(scratch) / "baseline"
        if named.startswith("models:/"):
            _download_model(named, target, tracking_uri)
        elif "://" in named:
            _fetch(named, target)
        else:
            _export(named, target)
        yield _inner(target)


def point_of(named: str) -> tuple[Path, str] | None:
    """The run folder and the point in ``RUN:POINT``; None when it is nothing of the kind."""
    run, colon, point = named.rpartition(":")
    return (Path(run), point) if colon and point and is_run(Path(run)) else None


def is_run(path: Path) -> bool:
    """Whether it is a run folder."""
    return (path / "search.json").is_file()


def _remote(named: str) -> bool:
    return named.startswith("models:/") or "://" in named


def _local(named: str) -> Path:
    path = Path(named)
    if not path.exists():
        raise MissingBaseline(
            f"there is no baseline {named}",
            f"make one: autotune search MODEL -o RUN && autotune export RUN -o {named}  (or pass once: --first-run pass)",
        )
    if is_run(path):
        raise UserError(f"the baseline {named} is a run, and the head is none", f"name a point of it: {named}:knee")
    return path


def _export(named: str, target: Path) -> None:
    from autotune.api.exporting import Exporter
    from autotune.api.run import Run
    from autotune.runs.folder import RunFolder

    found = point_of(named)
    assert found is not None
    run = Run.open(found[0])
    if run.front.kind == "simulated":
        raise UserError(
            f"{named} was simulated, and would be compared with what is measured",
            "compare two simulated ones, or two measured ones",
        )
    Exporter(RunFolder.open(run.path), run.front).export(run.point(found[1]), target)


def _download_model(named: str, target: Path, tracking_uri: str | None) -> None:
    from autotune import plugins

    plugins.tracker_factory("mlflow").reader(tracking_uri).download_model(named, target)


def _fetch(url: str, target: Path) -> None:
    """Copy a folder, or an archive of one, from wherever fsspec reaches."""
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        raise UserError(f"{url} needs fsspec", "pip install 'autotune-inference[gate]'") from error
    try:
        files, path = url_to_fs(url)
        if url.endswith(_ARCHIVES):
            archive = target.with_name(url.rpartition("/")[2])
            files.get(path, str(archive))
            _unpack(archive, target)
        else:
            files.get(path.rstrip("/") + "/", f"{target}/", recursive=True)
    except FileNotFoundError as error:
        raise MissingBaseline(
            f"there is no baseline at {url}",
            "upload a folder that `autotune export` wrote  (or pass once: --first-run pass)",
        ) from error
    except (OSError, ValueError, ImportError, tarfile.TarError, zipfile.BadZipFile) as error:
        raise UserError(
            f"{url} cannot be fetched: {error}", "is the address right, and are credentials set?"
        ) from error


def _unpack(archive: Path, target: Path) -> None:
    """Nothing in it may point outside of ``target``."""
    if archive.suffix == ".zip":
        shutil.unpack_archive(archive, target)
        return
    with tarfile.open(archive) as opened:
        opened.extractall(target, filter="data")


def _inner(folder: Path) -> Path:
    """The deployed folder itself, where it was packed or uploaded inside another one."""
    if _deployed(folder) or not folder.is_dir():
        return folder
    inside = [entry for entry in folder.iterdir() if _deployed(entry)]
    return inside[0] if len(inside) == 1 else folder


def _deployed(folder: Path) -> bool:
    """By the file that every export has: of what was measured, or of what was simulated."""
    return any((folder / name).is_file() for name in ("config.json", PROMISE))
