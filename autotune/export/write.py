"""Writes an exported folder: whole, or not at all. (Into the current folder: file by file, `config.json` last.)"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from autotune.core.deployment import ExportedConfig, Original
from autotune.core.errors import UserError
from autotune.export.ort import deployed_files
from autotune.replay.folder import is_exported, read_config
from autotune.replay.samples import ReplaySamples, write_samples

__all__ = ["MAX_ORIGINAL_BYTES", "OriginalFiles", "replacing", "write_export"]

MAX_ORIGINAL_BYTES = 100_000_000

_OURS = {
    "config.json",
    "run.py",
    "batcher.py",
    "endpoint.py",
    "openvino_session.py",
    "torch_session.py",
    "models",
    "workload.yaml",
    "README.md",
    "samples.npz",
    "original",
    "accepted.json",
    "__pycache__",
}


@dataclass(frozen=True)
class OriginalFiles:
    """The original model: ``files`` relative to ``folder``, ``model`` one of them."""

    folder: Path
    model: str
    files: tuple[str, ...]

    @property
    def size_bytes(self) -> int:
        """All files together."""
        return sum((self.folder / file).stat().st_size for file in self.files)


def write_export(
    folder: Path,
    config: ExportedConfig,
    artifact_folder: Path,
    files: Sequence[str],
    *,
    samples: ReplaySamples | None = None,
    original: OriginalFiles | None = None,
    custom_op_library: Path | None = None,
) -> ExportedConfig:
    """Write the model's ``files`` from ``artifact_folder``, and everything that describes them, into ``folder``.

    An earlier export there is replaced. ``samples`` None leaves samples.npz out. ``original`` (None: left out) is copied to
    ``original/`` when it is no larger than ``MAX_ORIGINAL_BYTES``, so that ``verify`` can compare with it side by side.
    Returns the config as it was written. Raises ``UserError`` when ``folder`` holds anything else, or cannot be written.
    """
    with replacing(folder) as fresh:
        kept = original if original is not None and original.size_bytes <= MAX_ORIGINAL_BYTES else None
        library = None if custom_op_library is None else custom_op_library.name
        written = _placed(config, files, kept, library)
        _copy(artifact_folder, files, fresh)
        if kept is not None:
            _copy(kept.folder, kept.files, fresh / "original")
        if custom_op_library is not None:
            shutil.copyfile(custom_op_library, fresh / custom_op_library.name)
        if samples is not None:
            write_samples(fresh / "samples.npz", samples)
        for name, text in deployed_files(written, samples=len(samples) if samples is not None else 0).items():
            (fresh / name).write_text(text, encoding="utf-8")
    return written


def _placed(
    config: ExportedConfig, files: Sequence[str], original: OriginalFiles | None, library: str | None
) -> ExportedConfig:
    """``config`` with the places that its files have in the folder."""
    session = config.session.model_copy(update={"custom_op_library": library})
    beside = config.original
    if beside is not None or original is not None:
        beside = beside or Original()
        model = None if original is None else f"original/{original.model}"
        theirs = beside.session.model_copy(update={"custom_op_library": library})
        beside = beside.model_copy(update={"model": model, "session": theirs})
    return config.model_copy(update={"files": tuple(files), "session": session, "original": beside})


def _copy(source: Path, files: Iterable[str], target: Path) -> None:
    for file in files:
        (target / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / file, target / file)


@contextmanager
def replacing(folder: Path) -> Iterator[Path]:
    """Yield a fresh folder beside ``folder`` that takes its place when the block ends well, and vanishes when it does not.

    An earlier export at ``folder`` is replaced. Raises ``UserError`` when it holds anything else, or cannot be written.
    The current folder is not replaced but filled: whoever stands in it would be left in one that is gone.
    """
    try:
        folder = folder.resolve()
    except (OSError, RuntimeError) as error:  # before Python 3.13 a circle of links is a RuntimeError
        raise UserError(
            f"cannot write {folder}: its symbolic links lead in a circle", "choose another folder with -o"
        ) from error
    _refuse_foreign(folder)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    except OSError as error:
        raise UserError(f"cannot write {folder}: {error.strerror}", "choose another folder with -o") from error
    try:
        fresh.chmod(0o755)
        yield fresh
        if folder.exists() and folder.samefile(Path.cwd()):
            _fill(fresh, folder)
        else:
            _swap(fresh, folder)
    except OSError as error:
        raise UserError(
            f"cannot write {folder}: {error}", "choose another folder with -o, or free some space"
        ) from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _swap(fresh: Path, folder: Path) -> None:
    if not folder.exists():
        fresh.rename(folder)
        return
    earlier = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    folder.rename(earlier)  # onto an empty folder, which a rename replaces
    fresh.rename(folder)
    shutil.rmtree(earlier, ignore_errors=True)


def _fill(fresh: Path, folder: Path) -> None:
    """Move everything of ``fresh`` into ``folder``, in place of an earlier export; ``config.json``, which makes it one, last."""
    names = sorted((entry.name for entry in fresh.iterdir()), key=lambda name: name == "config.json")
    for stale in {entry.name for entry in folder.iterdir()} - set(names):
        _remove(folder / stale)
    for name in names:
        if (folder / name).is_dir():
            _remove(folder / name)
        (fresh / name).replace(folder / name)


def _remove(entry: Path) -> None:
    if entry.is_dir() and not entry.is_symlink():
        shutil.rmtree(entry)
    else:
        entry.unlink()


def _refuse_foreign(folder: Path) -> None:
    remedy = "choose an empty or a new folder with -o"
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder} is a file", remedy)
    present = {entry.name for entry in folder.iterdir()} if folder.exists() else set()
    if present and not is_exported(folder):
        raise UserError(f"{folder} is not empty, and is no exported folder", remedy)
    foreign = present - _OURS - _model_files(folder) if present else set()
    if foreign:
        raise UserError(f"{folder} holds files that no export wrote, such as {min(foreign)}", remedy)


def _model_files(folder: Path) -> set[str]:
    try:
        config = read_config(folder)
    except UserError:
        return set()
    library = config.session.custom_op_library
    return {Path(file).parts[0] for file in (config.model, *config.files, *([library] if library else []))}
