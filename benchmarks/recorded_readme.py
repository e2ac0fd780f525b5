"""What ``recorded/README.md`` says of a recording."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from autotune.core.environment import Environment

__all__ = ["recorded_readme"]

_TEXT = """# Recorded rounds

Real rounds, for `python -m benchmarks.measure_quality` and `python -m benchmarks.gate_power` to replay in virtual time. Do not
edit: `python -m benchmarks.record_series` wrote them, and `python -m benchmarks.gate_blocks` those of gates.

- Machine: {cpu}, {cpus} CPUs, {memory}, {os}
- Date: {date}
- Versions: Python {python}, {versions}

| file | what it holds |
| --- | --- |
| `quiet.npz` | one session of a stack of convolutions (`built_models.conv_stack`), alone, nothing else running |
| `quiet_pairs.npz` | two sessions of the same artifact, `a` and `b`, one paused, rounds alternating ABBA |
| `neighbour.npz`, `neighbour_pairs.npz` | the same beside `neighbour.py`: one core loaded at random, half a second at a time |
| `search.json`, `search_records.jsonl`, `search.npz` | a search of the digits model without racing: file, trials, rounds |
| `gate_quiet`, `gate_neighbour` | half an hour each: pairs, as above, in blocks of two fresh processes (`.json`: the machine) |

Each tape in an `.npz` has `latency_s` (seconds per request, float32, rounds joined), `counts` (requests of each round), `cpu_s`
and `began_s` of each round, `reasons` (what the watch said disturbed it) and `items` per request. Warm-ups are not kept.
A series is made of measurements of a few seconds each; one during which anything else on the machine computed, besides the
session and the neighbour, was dropped and taken again. Rounds of the search that were disturbed are not kept either.

{told}
"""


def recorded_readme(environment: Environment, told: Sequence[str]) -> str:
    """``told``: one line a recording."""
    memory = environment.memory_bytes
    return _TEXT.format(
        cpu=environment.cpu_model or "unknown CPU",
        cpus=environment.cpus,
        memory="memory unknown" if memory is None else f"{memory / 1e9:.1f} GB",
        os=environment.os,
        date=dt.datetime.now(dt.UTC).date().isoformat(),
        python=environment.python,
        versions=", ".join(f"{name} {version}" for name, version in environment.versions.items()),
        told="\n".join(f"- {line}" for line in told),
    )
