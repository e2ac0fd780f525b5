"""How often a gate cries wolf, and how often it catches what it should, by recorded rounds.

    python -m benchmarks.gate_power [--json] [--quick] [--seed N] [--live N]

Gates are put together from recorded blocks (``benchmarks.gate_blocks``) in virtual time: each attempt of a gate is another pair
of processes that were really run, and no gate uses a block twice. A slow-down is the head's times multiplied. ``--live`` gates
run for real, A/A beside a neighbour that loads one core at random; there are 40 of them, two with ``--quick``.
"""

from __future__ import annotations

import sys
import tempfile
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

from autotune.core.plan import Plan
from autotune.core.samples import Requests
from autotune.core.workload import Phase
from autotune.gate.counted import Counted
from autotune.gate.evidence import Scored
from autotune.gate.judging import FALSE_FAILURE
from autotune.gate.speed import Effort, Speed, compare_speed
from autotune.gate.tolerances import DEFAULTS
from autotune.measure import Against, Measured, PhaseLoad, measure
from autotune.measure.proportions import paired_drop
from autotune.testing.virtual_clock import VirtualClock
from benchmarks.gate_blocks import BUDGET_S, CONDITIONS, Block, conditions, load_blocks
from benchmarks.gate_playback import BlockPlayback
from benchmarks.report import Figure, argument_parser, finish
from benchmarks.tape import RECORDED

MAX_BUDGET_S = 180.0
CPUS = 2
SAMPLES, CHANGED = 2000, 0.04  # of 2,000 samples, so many are answered otherwise
METRICS = 4  # judged together: two speeds, size, accuracy

_SCENARIOS = ("single_stream", "offline")


@dataclass(frozen=True)
class Case:
    """Gates of one kind: the head is ``slower`` times as slow, ``tolerance`` is that of both speeds."""

    condition: str
    folder: Path
    slower: float = 1.0
    tolerance: float = 0.05


@dataclass(frozen=True)
class Outcome:
    """One gate: its verdict, the virtual seconds until then, and whether the blocks were too few, or one too short."""

    verdict: str
    seconds: float
    outlasted: bool


def main() -> int:
    """Print the figures."""
    parser = argument_parser(__doc__)
    parser.add_argument("--live", type=int, help="gates that run for real")
    parser.add_argument("--recorded", type=Path, default=RECORDED, help="where the blocks lie")
    asked = parser.parse_args()
    equals, others = (200, 100) if asked.quick else (2000, 400)
    live = asked.live if asked.live is not None else (2 if asked.quick else 40)
    with ProcessPoolExecutor(CPUS) as pool:
        figures = [*equal_figures(pool, equals, asked), *slower_figures(pool, others, asked)]
        figures += strict_figures(pool, others, asked)
    figures += accuracy_figures(others, asked.seed)
    if live:
        figures += live_figures(live, asked.seed)
    return finish("gate_power", figures, as_json=asked.json)


def equal_figures(pool: ProcessPoolExecutor, count: int, asked: Namespace) -> Iterator[Figure]:
    """A/A gates: none should fail."""
    missing = [name for name in CONDITIONS if name not in conditions(asked.recorded)]
    yield Figure("not recorded (benchmarks.gate_blocks)", ", ".join(missing) or "nothing", "", "nothing", not missing)
    for condition in conditions(asked.recorded):
        outcomes = outcomes_of(pool, Case(condition, asked.recorded), count, asked.seed)
        failed, doubt = share(outcomes, "failed"), share(outcomes, "inconclusive")
        recorded = load_blocks(condition, asked.recorded)
        minutes = sum(block.lasted_s for block in recorded) / 60
        yield Figure(f"A/A gates, {condition}", float(count), f"from {len(recorded)} blocks, {minutes:.1f} min")
        disturbed = float(np.mean(np.concatenate([block.tapes["a"].disturbed for block in recorded])))
        yield Figure(f"rounds that were disturbed when recorded, {condition}", disturbed)
        yield Figure(f"A/A false failures, {condition}", failed, "", "<= 0.01", failed <= 0.01)
        yield Figure(f"A/A inconclusive, {condition}", doubt, "", "<= 0.10", doubt <= 0.10)
        reused = float(np.mean([one.outlasted for one in outcomes]))
        yield Figure(f"gates that the blocks were too few or short for, {condition}", reused, "", "0", reused == 0)
        seconds = [outcome.seconds for outcome in outcomes]
        middle, late = (float(np.quantile(seconds, level)) for level in (0.5, 0.95))
        if condition == "quiet":
            yield Figure("median decision", middle, "s", "<= 30", middle <= 30)
            yield Figure("95 % of decisions within", late, "s", "<= 120", late <= 120)
        else:
            yield Figure(f"median decision, {condition}", middle, "s")
            yield Figure(f"95 % of decisions within, {condition}", late, "s")


def strict_figures(pool: ProcessPoolExecutor, count: int, asked: Namespace) -> Iterator[Figure]:
    """A/A gates at a tolerance of 2 %: what catching 5 % there costs."""
    for condition in conditions(asked.recorded):
        outcomes = outcomes_of(pool, Case(condition, asked.recorded, 1.0, 0.02), count, asked.seed)
        failed, doubt = share(outcomes, "failed"), share(outcomes, "inconclusive")
        yield Figure(f"A/A false failures at a tolerance of 2%, {condition}", failed, "", "<= 0.01", failed <= 0.01)
        yield Figure(f"A/A inconclusive at a tolerance of 2%, {condition}", doubt)


def slower_figures(pool: ProcessPoolExecutor, count: int, asked: Namespace) -> Iterator[Figure]:
    """Injected slow-downs: all should fail."""
    for slower, tolerance, floor in ((1.1, 0.05, 0.95), (1.2, 0.05, 0.99), (1.05, 0.02, 0.90)):
        for condition in conditions(asked.recorded):
            caught = share(
                outcomes_of(pool, Case(condition, asked.recorded, slower, tolerance), count, asked.seed), "failed"
            )
            name = f"caught: {slower - 1:.0%} slower at a tolerance of {tolerance:.0%}, {condition}"
            quiet = condition == "quiet"
            yield Figure(name, caught, "", f">= {floor}" if quiet else None, caught >= floor if quiet else None)


def accuracy_figures(count: int, seed: int) -> Iterator[Figure]:
    """Drops of accuracy on 2,000 samples, of which 4 % are answered otherwise (more where the drop is larger)."""
    level = FALSE_FAILURE / METRICS
    for points, floor in ((2.0, 0.95), (1.0, None), (0.0, None)):
        found = [drop(points, seed + number).beyond(DEFAULTS["accuracy"], level) for number in range(count)]
        caught, name = float(np.mean(found)), f"caught: accuracy {points:g} points lower on {SAMPLES} samples"
        yield Figure(name, caught, "", f">= {floor}" if floor else None, caught >= floor if floor else None)


def drop(points: float, seed: int) -> Scored:
    """What a gate sees of a model that is right 90 % of the time, and of another that is so much worse."""
    generator = np.random.default_rng(seed)
    before = generator.random(SAMPLES) < 0.9
    lost = generator.random(SAMPLES) < (CHANGED + points / 100) / 2 / 0.9
    gained = generator.random(SAMPLES) < max(0.0, CHANGED - points / 100) / 2 / 0.1
    after = np.where(before, ~lost, gained)
    return Scored(paired_drop(before.astype(float), after.astype(float)), SAMPLES)


def live_figures(count: int, seed: int) -> Iterator[Figure]:
    """Real A/A gates of an exported model beside a neighbour."""
    from autotune.api.gating import GateRequest, gate
    from benchmarks.neighbour import neighbour
    from benchmarks.verify_live import export_both

    with tempfile.TemporaryDirectory() as folder:
        deploy = str(export_both(Path(folder) / "exports").honest)
        with neighbour(seed):
            reports = [gate(GateRequest(deploy, deploy)) for _ in range(count)]
    verdicts = Counter(report.verdict for report in reports)
    yield Figure("live A/A gates beside a neighbour", float(count), ", ".join(f"{n} {v}" for v, n in verdicts.items()))
    yield Figure("live false failures", float(verdicts["failed"]), "", "<= 1", verdicts["failed"] <= 1)
    yield Figure("live median decision", float(np.median([report.spent_s for report in reports])), "s")


def outcomes_of(pool: ProcessPoolExecutor, case: Case, count: int, seed: int) -> list[Outcome]:
    """That many gates."""
    seeds = range(seed, seed + count)
    return list(pool.map(run_gate, [case] * count, seeds, chunksize=10))


def share(outcomes: Sequence[Outcome], verdict: str) -> float:
    """How many of them ended so."""
    return float(np.mean([outcome.verdict == verdict for outcome in outcomes]))


def run_gate(case: Case, seed: int) -> Outcome:
    """One gate over blocks drawn without replacement."""
    generator = np.random.default_rng(seed)
    blocks = blocks_of(case.condition, case.folder)
    drawn = iter(generator.permutation(len(blocks)))
    clock = VirtualClock()
    played: list[BlockPlayback] = []

    def attempt(scenarios: Sequence[str], plan: Plan) -> Measured:
        block = blocks[next(drawn)]
        clock.sleep(block.opened_s)
        head, baseline = generator.permutation(["a", "b"])
        tapes = {"head": block.tapes[head], "baseline": block.tapes[baseline]}
        tapes["head"] = replace(tapes["head"], latency_s=tapes["head"].latency_s * np.float32(case.slower))
        playback = BlockPlayback(tapes, clock)
        played.append(playback)
        loads = tuple(PhaseLoad(Phase(scenario=name), Requests(name, ())) for name in scenarios)  # type: ignore[arg-type]
        against = Against(playback.session("baseline"), loads)
        return measure(playback.session("head"), loads, plan, clock=clock, cpus=CPUS, watch=playback, against=against)

    bounds = {"latency_p50": case.tolerance, "throughput": case.tolerance, "size": 0.01, "accuracy": 0.01}
    known = {"size": Counted(0.0), "accuracy": Counted(0.0)}
    try:
        found = compare_speed(attempt, _SCENARIOS, bounds, Effort(BUDGET_S, MAX_BUDGET_S, clock), known)
    except StopIteration:  # no block is left: more have to be recorded
        return Outcome("inconclusive", clock.now_s(), outlasted=True)
    return Outcome(verdict_of(found), clock.now_s(), any(one.outlasted for one in played))


def verdict_of(found: Speed) -> str:
    """As the report words it."""
    standings = set(found.standings.values())
    return "failed" if "worse" in standings else "inconclusive" if "undecided" in standings else "passed"


@cache
def blocks_of(condition: str, folder: Path) -> list[Block]:
    """Read once a process."""
    return load_blocks(condition, folder)


if __name__ == "__main__":
    sys.exit(main())
