"""A paired trial whose two sessions do not fit beside each other into memory: one at a time, the baseline before and after."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

from autotune.core.plan import PAIRED_SIDES
from autotune.core.samples import Tensors
from autotune.measure import Measured
from autotune.measure.bracketed import bracketed
from autotune_trials.bench import Bench, Built
from autotune_trials.checking import check
from autotune_trials.room import has_room
from autotune_trials.sessions import measure_session, open_session

__all__ = ["fits_beside", "measure_in_turns"]

_TURNS = 3


def fits_beside(bench: Bench) -> bool:
    """Whether the trial's other session, if it has one, fits into memory beside the candidate's, which is open."""
    if not bench.paired:
        return True
    artifact = bench.built(bench.context.baseline).artifact
    return has_room(artifact.size_bytes, bench.trial.plan.memory_limit_bytes)


def measure_in_turns(bench: Bench, built: Built, reference: Sequence[Tensors]) -> Measured:
    """Measure the baseline, the candidate, and the baseline again, in the time that a pair has; check the candidate after."""
    baseline = bench.built(bench.context.baseline)
    before = _alone(bench, baseline)
    mine = _alone(bench, built, reference)
    return bracketed(before, mine, _alone(bench, baseline))


def _alone(bench: Bench, built: Built, reference: Sequence[Tensors] | None = None) -> Measured:
    """``reference``: outputs that are checked afterwards, None: none are."""
    plan = bench.trial.plan
    share = PAIRED_SIDES / _TURNS
    shorter = plan.model_copy(update={"phase_limit_s": share * plan.phase_limit_s, "paired": False})
    with ExitStack() as stack:
        with bench.stages.at("open"):
            session = stack.enter_context(open_session(bench, built.artifact))
        with bench.stages.at("measure"):
            measured = measure_session(bench, session, built.artifact.candidate, shorter)
        if reference is not None:
            with bench.stages.at("check"):
                check(bench, session, reference)
    return measured
