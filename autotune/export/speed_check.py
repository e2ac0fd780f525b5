"""Speed, energy and memory against the promise: measured again in fresh processes, more than once when it is close."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from autotune.core.deployment import ExportedConfig
from autotune.core.front import BASELINE_ID
from autotune.core.model import ModelFacts
from autotune.core.plan import Plan
from autotune.core.samples import Tensors
from autotune.core.values import Value
from autotune.export.judging import (
    ABSOLUTE,
    CLOSE,
    PAIRED,
    doubt_if_busy,
    doubt_if_moving,
    judge_absolute,
    judge_ratio,
    middle,
)
from autotune.export.verdict import Compared
from autotune.replay.instruments import Instruments
from autotune.replay.loads import phase_loads
from autotune.replay.sides import Sides

if TYPE_CHECKING:
    from autotune.measure import Measured

__all__ = ["Speed", "check_speed", "judge_speed", "promised_ratios", "settled", "speed_metrics"]

MAX_ATTEMPTS = 3

_NOT_SPEED = ("accuracy", "accuracy_drop", "fidelity", "size", "load_time", "build_time", "utilisation")
_NO_TIME = "the budget left no time to measure again what is in doubt: give more with --budget"
_OWN_SPEED = ("latency_p50", "throughput")


@dataclass(frozen=True)
class Speed:
    """Verdicts on speed, and in how many attempts they were reached."""

    compared: tuple[Compared, ...]
    attempts: int
    notes: tuple[str, ...] = ()


def check_speed(
    config: ExportedConfig,
    both: Sides,
    inputs: Sequence[Tensors],
    budget_s: float,
    tools: Instruments,
    facts: ModelFacts | None = None,
) -> Speed:
    """Measure until the verdicts are settled: at most three times, and no longer than ``budget_s``.

    ``facts`` of the model, where its load mixes shapes.

    One attempt settles what is far from the bound; else the middle of several does, of two the kinder.
    """
    clock = tools.clock
    end, attempts = clock.now_s() + budget_s, list[tuple[Compared, ...]]()
    while True:
        started = clock.now_s()
        measured = _measure(config, both, inputs, budget_s, tools, facts)
        attempts.append(judge_speed(config, measured, paired=both.original is not None))
        took = clock.now_s() - started
        if settled(attempts) or clock.now_s() + took > end:
            break
    merged = tuple(middle(of_one) for of_one in zip(*attempts, strict=True))
    if settled(attempts):
        return Speed(merged, len(attempts), measured.notes)
    return Speed(tuple(_in_doubt(entry) for entry in merged), len(attempts), (*measured.notes, _NO_TIME))


def settled(attempts: Sequence[Sequence[Compared]]) -> bool:
    """Whether another attempt would hardly change a verdict."""
    if len(attempts) >= MAX_ATTEMPTS:
        return True
    last = attempts[-1]
    if len(attempts) == 1:
        return not any(entry.verdict == "broken" or _close(entry) for entry in last)
    before = attempts[-2]
    agree = all(one.verdict == other.verdict for one, other in zip(before, last, strict=True))
    return agree and not any(entry.in_question for entry in last)


def judge_speed(config: ExportedConfig, measured: Measured, *, paired: bool) -> tuple[Compared, ...]:
    """Each promised metric of speed, energy and memory: by its ratio to the original where there are two, else absolutely.

    ``paired``: the original was measured beside it, so that a promised ratio is not replaced by an absolute value.
    """
    ratios = promised_ratios(config) if paired else {}
    return tuple(_judge(name, config.promise.metrics[name], ratios, measured) for name in speed_metrics(config))


def speed_metrics(config: ExportedConfig) -> tuple[str, ...]:
    """The promised metrics that depend on the machine and the moment."""
    return tuple(name for name in config.promise.metrics if name not in _NOT_SPEED)


def promised_ratios(config: ExportedConfig) -> Mapping[str, Value]:
    """The promise's ratios; the original exported as it is promises to be as fast as itself."""
    if config.source.point == BASELINE_ID and not config.promise.ratios:
        return {name: Value(value=1.0, unit="1") for name in _OWN_SPEED if name in config.promise.metrics}
    return config.promise.ratios


def _judge(name: str, promised: Value, ratios: Mapping[str, Value], measured: Measured) -> Compared:
    if name in ratios and name in measured.ratios:
        judged = judge_ratio(name, ratios[name], _alike(name, ratios[name], measured))
        judged = doubt_if_busy(judged, busy=measured.busy, longer=name in measured.longer)
        return doubt_if_moving(judged, moving=_moves(name, measured))
    if name in ratios and not measured.ratios:
        reason = "no two rounds side by side fitted into the budget"
        return Compared(metric=name, verdict="not compared", how="side by side", promised=ratios[name], reason=reason)
    if name in measured.metrics:
        return doubt_if_busy(judge_absolute(name, promised, measured.metrics[name]), busy=measured.busy)
    return Compared(metric=name, verdict="not compared", promised=promised, reason="it was not measured again")


def _alike(name: str, promised: Value, measured: Measured) -> Value:
    """The ratio found, by the statistic of a round that the promised one is of, if it names one: judged in its own terms."""
    from autotune.measure.round_statistic import is_by_quartile

    found = measured.ratios[name]
    if promised.basis is None or is_by_quartile(found) == is_by_quartile(promised):
        return found
    return measured.otherwise.get(name, found)


def _moves(name: str, measured: Measured) -> bool:
    """Whether the ratio itself drifted from pair to pair: its interval is one of rounds that are alike."""
    from autotune.measure.steady import drifts

    return name in measured.series and drifts(measured.series[name])


def _in_doubt(entry: Compared) -> Compared:
    """What looked broken, but could not be measured again: not a verdict, unless it is far beyond what drift does."""
    if entry.verdict != "broken" or (entry.worse or 0.0) > ABSOLUTE:
        return entry
    return entry.model_copy(update={"verdict": "not compared", "reason": "seen once, and not measured again"})


def _close(entry: Compared) -> bool:
    """Near the bound, or in question."""
    near = entry.how == "side by side" and entry.worse is not None and abs(entry.worse - PAIRED) < CLOSE
    return entry.in_question or near


def _measure(
    config: ExportedConfig,
    both: Sides,
    inputs: Sequence[Tensors],
    budget_s: float,
    tools: Instruments,
    facts: ModelFacts | None,
) -> Measured:
    from autotune.host.cpus import counted_cpus
    from autotune.measure import Against, measure

    promise = config.promise
    seek = "max_rate" in promise.metrics
    loads = phase_loads(promise.workload, inputs, promise.batch, config.batching, seek, facts)
    plan = _plan(budget_s, len(loads), paired=both.original is not None)
    timed = partial(
        measure,
        loads=loads,
        plan=plan,
        clock=tools.clock,
        power=tools.power,
        cpus=config.device.cpus or counted_cpus(),
        watch=tools.watch,
        counter=tools.counter,
    )
    with tools.open_side(both.exported, both.device) as session:
        if both.original is None or config.original is None:
            return timed(session)
        theirs = phase_loads(promise.workload, inputs, config.original.batch, seek_rate=seek, facts=facts)
        with tools.open_side(both.original, both.device) as original:
            return timed(session, against=Against(original, theirs))


def _plan(budget_s: float, phases: int, *, paired: bool) -> Plan:
    """A plan that fits three times into the budget, as long as that leaves a phase a second."""
    share = budget_s / MAX_ATTEMPTS / max(1, phases)
    sides = 2 if paired else 1
    limit = min(10.0, max(0.5, 0.8 * share / sides))
    return Plan(
        name="verify",
        min_rounds=20,
        max_rounds=80,
        precision=0.005,
        warmup_limit_s=min(2.0, 0.2 * share / sides),
        phase_limit_s=limit,
        paired=paired,
        quality="confirm",
    )
