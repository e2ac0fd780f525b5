"""A folder of images: which files, and what their labels are."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from autotune.core.errors import UserError, nearest

__all__ = ["LABEL_FILE", "ImageFiles", "find_images", "holds_images"]

LABEL_FILE: Final = "labels.csv"
_SUFFIXES: Final = {".jpg", ".jpeg", ".png", ".webp", ".bmp", ".gif", ".tif", ".tiff", ".ppm", ".pgm"}
_WHOLE: Final = re.compile(r"-?\d+")
_DECIMAL: Final = re.compile(r"-?\d*\.?\d+(?:[eE][-+]?\d+)?")
_FILE_COLUMNS: Final = ("file", "filename", "image", "path")


@dataclass(frozen=True)
class ImageFiles:
    """Images in a fixed order; ``labels``: one each, None: there are none."""

    files: tuple[Path, ...]
    labels: tuple[int, ...] | tuple[float, ...] | None


def holds_images(folder: Path) -> bool:
    """Whether a folder is one of images, rather than of arrays."""
    return not any(folder.rglob("*.npy")) and ((folder / LABEL_FILE).is_file() or bool(_images(folder)))


def find_images(folder: Path) -> ImageFiles:
    """Return the images that ``labels.csv`` lists, else all there are, labelled by the class sub-folder that they lie in.

    Labels, or names of classes, that are all numbers are taken as they are; others are counted in alphabetical order.
    Images that lie in the folder itself, or all in one sub-folder, have no labels. Raises ``UserError``.
    """
    table = folder / LABEL_FILE
    if table.is_file():
        rows = _rows(table)
        return ImageFiles(tuple(folder / name for name, _ in rows), _numbered([label for _, label in rows]))
    files = _images(folder)
    classes = [file.relative_to(folder).parts[0] if file.parent != folder else None for file in files]
    loose = [file for file, name in zip(files, classes, strict=True) if name is None]
    if loose and len(loose) < len(files):
        remedy = f"move it into its class's folder, or write {LABEL_FILE}"
        raise UserError(f"--data {folder.name}: {loose[0].name} lies beside the class folders", remedy)
    named = [name for name in classes if name is not None]
    return ImageFiles(tuple(files), _numbered(named) if len(set(named)) > 1 else None)


def _images(folder: Path) -> list[Path]:
    found = (file for file in folder.rglob("*") if file.suffix.lower() in _SUFFIXES and file.is_file())
    return sorted(file for file in found if not any(_hidden(part) for part in file.relative_to(folder).parts))


def _hidden(part: str) -> bool:
    return part.startswith((".", "__MACOSX"))


def _numbered(names: Sequence[str]) -> tuple[int, ...] | tuple[float, ...]:
    if all(_WHOLE.fullmatch(name) for name in names):
        return tuple(int(name) for name in names)
    if all(_DECIMAL.fullmatch(name) for name in names):
        return tuple(float(name) for name in names)
    numbers = {name: number for number, name in enumerate(sorted(set(names)))}
    return tuple(numbers[name] for name in names)


def _rows(table: Path) -> list[tuple[str, str]]:
    """The table's (file, label) pairs."""
    try:
        with table.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.DictReader(stream)
            header = [name.strip().lower() for name in reader.fieldnames or ()]
            reader.fieldnames = header
            column = _file_column(header)
            rows = [(row, reader.line_num) for row in reader]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"--data: {LABEL_FILE} cannot be read: {error}", "write it as UTF-8 text") from error
    if not rows:
        raise UserError(f"--data: {LABEL_FILE} lists no images", "write a line for each: cat.jpg,3")
    return [_row(table, row, column, line) for row, line in rows]


def _file_column(header: Sequence[str]) -> str:
    column = next((name for name in _FILE_COLUMNS if name in header), None)
    if column is None or "label" not in header:
        close = nearest("label", header) if column else ""
        remedy = "its first line must read file,label"
        raise UserError(f"--data: {LABEL_FILE} has the columns {', '.join(header) or 'none'}{close}", remedy)
    return column


def _row(table: Path, row: Mapping[str, str | None], column: str, line: int) -> tuple[str, str]:
    name, label = (row[column] or "").strip(), (row["label"] or "").strip()
    if not name or not label:
        raise UserError(f"--data: {LABEL_FILE}: line {line} lacks a file or a label", "write it like cat.jpg,3")
    if Path(name).is_absolute() or ".." in Path(name).parts:
        raise UserError(f"--data: {LABEL_FILE}: line {line}: {name} lies outside the folder", "name files below it")
    if not (table.parent / name).is_file():
        remedy = f"names are relative to the folder of {LABEL_FILE}"
        raise UserError(f"--data: {LABEL_FILE}: line {line}: there is no file {name}", remedy)
    return name, label
