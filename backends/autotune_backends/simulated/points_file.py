"""Reads a table of points and writes it predicted."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from autotune.core.errors import UserError
from autotune_backends.simulated.points import PREDICTED, predict_points
from autotune_backends.simulated.table import read_table

__all__ = ["predict_file"]


def predict_file(source: Path, target: Path, calibration: Path | None = None) -> list[dict[str, str]]:
    """Predict each row of the CSV ``source`` into the CSV ``target``; return the rows. Raises ``UserError``."""
    columns, found = read_table(source)
    rows = predict_points(found, calibration)
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
