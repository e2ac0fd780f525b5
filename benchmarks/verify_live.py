"""``verify`` of an export that is what it was, and of one that was slowed down by a known share of its work."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from autotune.core.clock import SystemClock
from autotune.core.plan import Plan
from autotune.core.values import Value
from autotune.export import verify
from autotune.measure import Against, measure
from benchmarks.built_models import conv_stack, slowed_conv_stack
from benchmarks.subject import subject

__all__ = ["Exports", "export_both", "slow_down", "verdicts"]

_LONG = Plan(name="slow-down", min_rounds=100, max_rounds=200, precision=0.002, phase_limit_s=20.0, paired=True)
_SPEED = ("latency_p50", "throughput")


@dataclass(frozen=True)
class Exports:
    """Two exported folders with one promise: ``honest`` holds the model it was made from, ``slowed`` a slower one."""

    honest: Path
    slowed: Path


def export_both(place: Path) -> Exports:
    """Search the built model shortly, export its baseline, and copy the export with the model replaced."""
    model, run, honest, slowed = (place / name for name in ("model.onnx", "run", "honest", "slowed"))
    place.mkdir(parents=True, exist_ok=True)
    conv_stack(model)
    _autotune("search", model, "--trials", 1, "--budget", "60s", "--workload", "latency", "-o", run)
    _autotune("export", run, "--point", "baseline", "-o", honest)
    shutil.copytree(honest, slowed)
    (exported,) = slowed.glob("*.onnx")
    slowed_conv_stack(exported)
    return Exports(honest, slowed)


def slow_down(place: Path) -> Value:
    """How much slower the slowed model really is: one long paired measurement."""
    slow = subject(slowed_conv_stack(place / "slow.onnx"), place / "slow")
    plain = subject(conv_stack(place / "plain.onnx"), place / "plain")
    with slow.open() as a, plain.open() as b:
        against = Against(b, plain.loads)
        measured = measure(a, slow.loads, _LONG, clock=SystemClock(), against=against)
    return measured.ratios["latency_p50"]


def verdicts(folder: Path, repeats: int, budget_s: float = 120.0) -> Counter[str]:
    """Verify a folder again and again; count the verdicts.

    An export that is broken in anything but speed, or does not say how fast it is, is counted as ``other``.
    """
    return Counter(_verdict(folder, budget_s) for _ in range(repeats))


def _verdict(folder: Path, budget_s: float) -> str:
    report = verify(folder, budget_s=budget_s)
    amiss = [entry.metric for entry in report.compared if entry.verdict == "broken"]
    return "other" if any(name not in (*_SPEED, "energy", "power") for name in amiss) else report.verdict


def _autotune(*arguments: object) -> None:
    command = [sys.executable, "-m", "autotune", *map(str, arguments)]
    extra = ["--no-tracking", "-q", "--executor", "process"] if arguments[0] == "search" else []
    subprocess.run([*command, *extra], check=True, stdout=subprocess.DEVNULL)
