"""Quantities and budgets as people write them, read into SI units."""

from __future__ import annotations

import math
import re

from autotune.core.errors import UserError, nearest

__all__ = ["UNITS", "counted", "format_duration", "parse_budget", "parse_quantity", "parse_rate"]

# written unit -> (SI unit, factor)
UNITS: dict[str, tuple[str, float]] = {
    "ns": ("s", 1e-9),
    "us": ("s", 1e-6),
    "µs": ("s", 1e-6),
    "ms": ("s", 1e-3),
    "s": ("s", 1.0),
    "min": ("s", 60.0),
    "h": ("s", 3600.0),
    "d": ("s", 86400.0),
    "B": ("bytes", 1.0),
    "kB": ("bytes", 1e3),
    "MB": ("bytes", 1e6),
    "GB": ("bytes", 1e9),
    "KiB": ("bytes", 1024.0),
    "MiB": ("bytes", 1024.0**2),
    "GiB": ("bytes", 1024.0**3),
    "mJ": ("J", 1e-3),
    "J": ("J", 1.0),
    "Wh": ("J", 3600.0),
    "W": ("W", 1.0),
    "%": ("1", 0.01),
    "USD": ("USD", 1.0),
    "/s": ("1/s", 1.0),
}

_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_QUANTITY = re.compile(rf"\s*({_NUMBER})\s*(\S*)\s*")
_BUDGET_PART = re.compile(r"(\d+(?:\.\d+)?)([smhd])")
_LONGEST_BUDGET_S = 10 * 366 * 86400.0
_BUDGET_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def parse_quantity(text: str, unit: str) -> float:
    """Read ``"50ms"`` or ``"0.05"`` as a number in the SI ``unit`` (``"s"``, ``"bytes"``, ``"1"``, …).

    A number without a unit is taken to be in ``unit`` already.
    Raises ``UserError`` when the text is no number, or its unit measures something else.
    """
    match = _QUANTITY.fullmatch(text)
    if match is None:
        raise UserError(f"{text!r} is not a number with a unit", "write for example 50ms, 1.5GB or 0.98")
    number, written = float(match[1]), match[2]
    if not math.isfinite(number):
        raise UserError(f"{text!r} is too large a number", "write for example 50ms, 1.5GB or 0.98")
    if not written:
        return number
    if written not in UNITS:
        raise UserError(f"{text!r}: unknown unit {written!r}{nearest(written, UNITS)}", f"units: {' '.join(UNITS)}")
    measured, factor = UNITS[written]
    if measured != unit:
        raise UserError(f"{text!r} is in {measured}, but a value in {unit} is needed", "use a unit that fits")
    return number * factor


def counted(count: int, noun: str) -> str:
    """Return ``"1 trial"`` and ``"2 trials"``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def parse_budget(text: str, option: str = "--budget") -> float:
    """Read ``"90s"``, ``"15m"``, ``"4h"``, ``"2d"`` or joined (``"1h30m"``) as seconds. Raises ``UserError`` on ``option``."""
    remedy = "write a time such as 90s, 15m, 4h, 2d or 1h30m, greater than 0"
    parts = _BUDGET_PART.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text.strip():
        raise UserError(f"{option} {text!r} is not a time", remedy)
    seconds = sum(float(number) * _BUDGET_SECONDS[unit] for number, unit in parts)
    if not 0 < seconds < _LONGEST_BUDGET_S:
        raise UserError(f"{option} {text!r} is too short or too long", remedy)
    return seconds


def parse_rate(text: str) -> float:
    """Read ``"20/s"`` or ``"20"`` as 20.0 per second. Raises ``UserError``."""
    return parse_quantity(text, "1/s")


def format_duration(seconds: float) -> str:
    """Write seconds for a person: ``"48 s"``, ``"3 min 05 s"``, ``"2 h 10 min"``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
