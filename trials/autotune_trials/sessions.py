"""A trial's sessions: opened, and measured as its assignment asks."""

from __future__ import annotations

from collections.abc import Mapping

from autotune.core.artifact import Artifact
from autotune.core.candidate import Candidate
from autotune.core.clock import SystemClock
from autotune.core.plan import Plan
from autotune.core.ports import Session
from autotune.core.values import Value
from autotune.host.cpus import counted_cpus
from autotune.measure import Against, Measured, measure
from autotune.measure.counters import counter_for
from autotune_trials.bench import Bench
from autotune_trials.loads import phase_loads

__all__ = ["measure_session", "open_session"]


def open_session(bench: Bench, artifact: Artifact) -> Session:
    """The artifact's session, not entered yet."""
    return bench.backend(artifact.candidate).open(artifact, bench.device)


def measure_session(
    bench: Bench,
    session: Session,
    candidate: Candidate,
    plan: Plan,
    *,
    baseline: Session | None = None,
    known: Mapping[str, Value] | None = None,
) -> Measured:
    """Measure the session of a candidate under the search's workload: alone, or pair by pair beside the ``baseline``'s.

    ``known``: what is known of it already, for the race; None: nothing.
    """
    context = bench.context
    against = None if baseline is None else Against(baseline, phase_loads(bench, context.baseline))
    return measure(
        session,
        phase_loads(bench, candidate),
        plan,
        clock=SystemClock(),
        power=context.power if context.energy == "auto" else None,
        cpus=counted_cpus(),
        objectives=context.objectives,
        bar=bench.assignment.bar,
        known=known,
        against=against,
        counter=counter_for(context.energy),
    )
