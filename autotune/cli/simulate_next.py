"""The measurement that would help a decision most, in a sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from autotune.api.next_measurement import Advice

__all__ = ["say_next_measurement"]


def say_next_measurement(run: Path, as_json: bool) -> int:
    """Print it, and the row to measure."""
    from autotune.api.next_measurement import advise
    from autotune.cli.output import console, print_json

    advice = advise(run)
    if as_json:
        print_json(json.dumps({"schema": "autotune/next-measurement/1", **advice.model_dump(mode="json")}))
    else:
        for line in _lines(advice):
            console().print(line, markup=False, soft_wrap=True)
    return 0


def _lines(advice: Advice) -> list[str]:
    found, row = advice.found, advice.row
    choice = f"{found.chosen} ({advice.chosen_device})"
    if not row:
        return [
            f"No single measurement would make a difference: {choice} is a wrong choice with a probability of "
            f"{found.wrong_now:.1%}."
        ]
    setting = " ".join(f"{name}={row[name]}" for name in ("precision", "tp", "pp"))
    load = f"{row['concurrency']} requests at once of {row['isl']} tokens in and {row['osl']} out"
    return [
        f"Measure {found.trial}: {advice.model} on {row['system']} with {setting} under {load}. The probability that the choice "
        f"made, now {choice}, is wrong falls from {found.wrong_now:.1%} to {found.wrong_after:.1%}.",
        f"{','.join(row)},ttft_ms_measured,tpot_ms_measured",
        f"{','.join(row.values())},,",
        "next: fill in that row of a CSV file, then search again with --calibrate FILE",
    ]
