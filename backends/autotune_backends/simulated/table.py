"""A table of served points, as a CSV file that a person has."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from pathlib import Path

from autotune.core.errors import UserError, nearest
from autotune_backends.simulated.served_point import NEEDED

__all__ = ["missing_columns", "read_table"]


def read_table(source: Path) -> tuple[list[str], list[dict[str, str]]]:
    """Its columns and its rows. Raises ``UserError`` when it cannot be read, lacks a column, or has no row."""
    try:
        text = source.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{source}: {error}", "name a readable CSV file of served points") from error
    reader = csv.DictReader(io.StringIO(text), restval="")
    columns = [name for name in reader.fieldnames or [] if name]
    lacking = missing_columns(columns)
    if lacking:
        raise UserError(f"{source}: no column {lacking}", "its head names the columns of a served point")
    rows = [{name: row[name] or "" for name in columns} for row in reader]
    if not rows:
        raise UserError(f"{source}: no rows", "write one line for each served point below its head")
    return columns, rows


def missing_columns(columns: Iterable[str]) -> str:
    """What a table lacks, with the nearest of its own columns; empty when it lacks nothing."""
    have = list(columns)
    return ", ".join(f"{name}{nearest(name, have)}" for name in NEEDED if name not in have)
