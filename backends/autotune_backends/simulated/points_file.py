"""Reads a table of points and writes it predicted."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from autotune.core.errors import UserError
from autotune_backends.simulated.points import PREDICTED, missing_columns, predict_points

__all__ = ["predict_file"]


def predict_file(source: Path, target: Path) -> list[dict[str, str]]:
    """Predict each row of the CSV ``source`` into the CSV ``target``; return the rows. Raises ``UserError``."""
    try:
        text = source.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"--points {source}: {error}", "name a readable CSV file") from error
    reader = csv.DictReader(io.StringIO(text), restval="")
    columns = [name for name in reader.fieldnames or [] if name]
    lacking = missing_columns(columns)
    if lacking:
        raise UserError(f"--points {source}: no column {lacking}", "its head names the columns of a served point")
    rows = predict_points({name: row[name] or "" for name in columns} for row in reader)
    _write(target, [*(name for name in columns if name not in PREDICTED), *PREDICTED], rows)
    return rows


def _write(target: Path, columns: list[str], rows: list[dict[str, str]]) -> None:
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    try:
        target.write_text(out.getvalue(), encoding="utf-8")
    except OSError as error:
        raise UserError(f"-o {target}: {error.strerror}", "name a file that can be written") from error
