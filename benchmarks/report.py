"""What every benchmark prints, and its exit status: 0 when the floors held, 1 when one was missed."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

__all__ = ["Figure", "argument_parser", "arguments", "finish"]


@dataclass(frozen=True)
class Figure:
    """One figure. ``floor`` says in words what it has to be, None: it is reported only; ``held`` None likewise."""

    name: str
    value: float | str | None
    unit: str = ""
    floor: str | None = None
    held: bool | None = None

    def __str__(self) -> str:
        value = f"{self.value:.4g}" if isinstance(self.value, float) else str(self.value)
        verdict = {True: "held", False: "MISSED", None: ""}[self.held]
        floor = f"  ({self.floor}: {verdict})" if self.floor else ""
        return f"{self.name}: {value}{f' {self.unit}' if self.unit else ''}{floor}"


def arguments(about: str | None) -> argparse.Namespace:
    """Parse ``[--json] [--quick] [--seed N]``."""
    return argument_parser(about).parse_args()


def argument_parser(about: str | None) -> argparse.ArgumentParser:
    """What parses them, for a benchmark that has more options."""
    parser = argparse.ArgumentParser(description=(about or "").strip().splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--quick", action="store_true", help="five minutes at most on two cores")
    parser.add_argument("--seed", type=int, default=0)
    return parser


def finish(name: str, figures: Sequence[Figure], *, as_json: bool) -> int:
    """Print the figures; return the exit status."""
    if as_json:
        rows = [asdict(figure) for figure in figures]
        print(json.dumps({"schema": f"autotune/benchmark/{name}/1", "figures": rows}, indent=1))
    else:
        for figure in figures:
            print(figure)
    return int(any(figure.held is False for figure in figures))
