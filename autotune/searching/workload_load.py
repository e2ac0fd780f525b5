"""How a phase loads the server: its rate or its trace, its streams, limits and priorities, as a person wrote them."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from autotune.core.errors import UserError
from autotune.core.limits import parse_limit
from autotune.core.units import parse_quantity, parse_rate
from autotune.core.workload import Scenario
from autotune.searching.yaml_text import named

__all__ = ["read_load"]

# A key that would be read and then ignored is refused, with what to do instead.
_MEANT_FOR: dict[str, tuple[Scenario, ...]] = {
    "streams": ("multi_stream",),
    "rate": ("server",),
    "trace": ("server",),
    "limits": ("server",),
    "priorities": ("server",),
    "queue_limit": ("server",),
    "duration": ("server", "multi_stream"),
}
_MOST_ARRIVALS = 100_000


def read_load(fields: Mapping[str, Any], scenario: Scenario, where: str, folder: Path) -> dict[str, Any]:
    """The fields of ``Phase`` that say how it loads. ``where`` names the phase in messages; ``folder`` holds its trace.

    Raises ``UserError``.
    """
    for key in fields:
        if key in _MEANT_FOR and scenario not in _MEANT_FOR[key]:
            raise UserError(f"{where}: {key} means nothing to {scenario}", "leave it out")
    if "streams" in fields and not _whole(fields["streams"]):
        raise UserError(
            f"{where}: streams {fields['streams']} is no number of clients", "give a whole number, such as 4"
        )
    limit = fields.get("queue_limit")
    if limit is not None and not _whole(limit):
        raise UserError(f"{where}: queue_limit {limit} is no number of requests", "give a whole number, such as 1000")
    arrivals = _trace(fields["trace"], where, folder) if "trace" in fields else ()
    if scenario == "server" and "rate" not in fields and not arrivals:
        raise UserError(f"{where}: a server phase needs a load", "write rate: 100/s, or trace: arrivals.csv")
    return {
        "streams": fields.get("streams", 2 if scenario == "multi_stream" else None),
        "rate_per_s": _above_zero(parse_rate, fields, "rate", where),
        "duration_s": _above_zero(lambda text: parse_quantity(text, "s"), fields, "duration", where),
        "limits": _limits(fields.get("limits", []), where),
        "arrivals_s": arrivals,
        "priorities": _shares(fields.get("priorities", []), where),
        "queue_limit": limit,
    }


def _above_zero(read: Any, fields: Mapping[str, Any], key: str, where: str) -> float | None:
    if key not in fields:
        return None
    with named(f"{where}: {key}"):
        number: float = read(str(fields[key]))
    if not 0 < number < math.inf:
        raise UserError(f"{where}: {key} {fields[key]} is not above 0", "give for example rate: 100/s, duration: 30s")
    return number


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _limits(data: object, where: str) -> tuple[str, ...]:
    texts: list[Any] = data if isinstance(data, list) else [data]
    for text in texts:
        with named(f"{where}: limits"):
            limit = parse_limit(str(text))
        if not limit.metric.startswith(("latency_p", "response_p")):
            raise UserError(
                f"{where}: a load cannot be held to {limit.text!r}", 'bound a percentile, such as "latency_p99<=50ms"'
            )
    return tuple(str(text) for text in texts)


def _shares(data: object, where: str) -> tuple[float, ...]:
    numbers: list[Any] = data if isinstance(data, list) else [data]
    if not all(isinstance(one, int | float) and not isinstance(one, bool) and 0 < one < math.inf for one in numbers):
        raise UserError(f"{where}: priorities {data} are no shares", "give each level's, most urgent first: [0.2, 0.8]")
    return tuple(float(one) for one in numbers)


def _trace(data: object, where: str, folder: Path) -> tuple[float, ...]:
    """Seconds of arrival: a list, or a CSV file's first column (a heading is skipped); from the first one on."""
    texts: list[Any] = list(data) if isinstance(data, list) else list(_column(folder / str(data), where))
    try:
        times = [float(str(text)) for text in texts]
    except (TypeError, ValueError) as error:
        raise UserError(f"{where}: the trace cannot be read: {error}", "give seconds, one arrival a line") from error
    ascending = all(earlier <= later for earlier, later in pairwise(times))
    if not 2 <= len(times) <= _MOST_ARRIVALS or not ascending or not math.isfinite(times[-1]) or times[0] == times[-1]:
        raise UserError(
            f"{where}: the trace has {len(times)} arrivals, or they do not ascend",
            f"give 2 to {_MOST_ARRIVALS:,} times in seconds, in order",
        )
    return tuple(time - times[0] for time in times)


def _column(file: Path, where: str) -> list[str]:
    try:
        with file.open(encoding="utf-8", newline="") as lines:
            cells = [row[0].strip() for row in csv.reader(lines) if row and row[0].strip()]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{where}: trace {file} cannot be read: {error}", "give a CSV file of arrival times") from error
    return cells[1:] if cells and not _number(cells[0]) else cells


def _number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
