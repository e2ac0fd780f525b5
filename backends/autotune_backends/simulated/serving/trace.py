"""Trace files: requests as somebody served them."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from autotune.core.errors import UserError

__all__ = ["TraceRow", "read_trace"]

_NEEDED = ("arrived_at", "input_tokens", "output_tokens")
_OPTIONAL = ("priority", "prefix_id", "prefix_tokens")
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class TraceRow:
    """``arrived_s`` from the first row's; ``prefix_id`` empty: the input is its own."""

    arrived_s: float
    input_tokens: int
    output_tokens: int
    priority: int = 0
    prefix_id: str = ""
    prefix_tokens: int = 0


def read_trace(path: Path) -> list[TraceRow]:
    """Read ``arrived_at, input_tokens, output_tokens[, priority, prefix_id, prefix_tokens]`` (seconds, tokens).

    Rows are sorted by arrival. Without ``prefix_tokens``, inputs of one ``prefix_id`` share all that the shortest has but one.
    Raises ``UserError`` that names the rows which cannot be read, the header being row 1.
    """
    try:
        with path.open(encoding="utf-8", newline="") as file:
            table = csv.DictReader(file)
            _refuse_header(path, table.fieldnames or ())
            rows, wrong = _rows(table)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path} cannot be read: {error}", "give a CSV file with a header") from error
    if wrong:
        shown = "; ".join(wrong[:_SHOWN]) + (f"; and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else "")
        raise UserError(f"{path}: {shown}", "mend or remove these rows")
    if not rows:
        raise UserError(f"{path} has no rows", f"write {','.join(_NEEDED)} and one row a request")
    begin_s = min(row.arrived_s for row in rows)
    moved = [_shifted(row, begin_s) for row in sorted(rows, key=lambda row: row.arrived_s)]
    return _with_prefixes(moved)


def _refuse_header(path: Path, names: Sequence[str]) -> None:
    missing = [name for name in _NEEDED if name not in names]
    if missing:
        raise UserError(
            f"{path} has no column {missing[0]}", f"columns: {', '.join(_NEEDED)}[, {', '.join(_OPTIONAL)}]"
        )


def _rows(table: csv.DictReader[str]) -> tuple[list[TraceRow], list[str]]:
    rows, wrong = [], []
    for number, fields in enumerate(table, start=2):
        try:
            rows.append(_row(fields))
        except ValueError as error:
            wrong.append(f"row {number}: {error}")
    return rows, wrong


def _row(fields: dict[str, str | None]) -> TraceRow:
    return TraceRow(
        arrived_s=_number(fields, "arrived_at"),
        input_tokens=_whole(fields, "input_tokens", 1),
        output_tokens=_whole(fields, "output_tokens", 1),
        priority=_whole(fields, "priority", 0) if fields.get("priority") else 0,
        prefix_id=(fields.get("prefix_id") or "").strip(),
        prefix_tokens=_whole(fields, "prefix_tokens", 0) if fields.get("prefix_tokens") else 0,
    )


def _number(fields: dict[str, str | None], name: str) -> float:
    text = (fields.get(name) or "").strip()
    try:
        number = float(text)
    except ValueError:
        raise ValueError(f"{name} is {text!r}, no number") from None
    if not 0 <= number < 1e12:
        raise ValueError(f"{name} is {text}, not between 0 and 1e12")
    return number


def _whole(fields: dict[str, str | None], name: str, least: int) -> int:
    number = _number(fields, name)
    if number != int(number) or number < least:
        raise ValueError(f"{name} is {number:g}, no whole number of {least} or more")
    return int(number)


def _shifted(row: TraceRow, begin_s: float) -> TraceRow:
    return TraceRow(
        row.arrived_s - begin_s, row.input_tokens, row.output_tokens, row.priority, row.prefix_id, row.prefix_tokens
    )


def _with_prefixes(rows: list[TraceRow]) -> list[TraceRow]:
    """Fill in how many tokens the inputs of one ``prefix_id`` share, never all of an input."""
    shortest: dict[str, int] = {}
    for row in rows:
        own = min(row.prefix_tokens or row.input_tokens, row.input_tokens - 1)
        shortest[row.prefix_id] = min(own, shortest.get(row.prefix_id, own))
    return [
        TraceRow(
            row.arrived_s, row.input_tokens, row.output_tokens, row.priority, row.prefix_id, shortest[row.prefix_id]
        )
        if row.prefix_id
        else row
        for row in rows
    ]
