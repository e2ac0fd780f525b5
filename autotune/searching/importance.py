"""Which parameters mattered: the share of each objective's variance that a parameter explains over a search's trials.

fANOVA: Hutter, Hoos & Leyton-Brown, ICML 2014, in Optuna's implementation. A search tries promising candidates more often,
so shares tell what mattered where it looked, not over the whole space.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from autotune.core.candidate import Candidate, Scalar
from autotune.core.objective import Objective
from autotune.core.trial import TrialRecord

if TYPE_CHECKING:
    import optuna

__all__ = ["ABSENT", "FEWEST_TRIALS", "importances"]

FEWEST_TRIALS = 10
"""With fewer measured candidates nothing is said."""

ABSENT = "–"
"""A conditional parameter that does not apply is a value of its own."""

_MOST_TRIALS, _MANY_TRIALS = 400, 100
_TREES, _FEW_TREES = 16, 6  # of the forest, below and above _MANY_TRIALS: half a second for all objectives


def importances(records: Sequence[TrialRecord], objectives: Sequence[Objective]) -> dict[str, dict[str, float]]:
    """Return metric → parameter → share of the explained variance, 0 to 1, largest first.

    Empty with fewer than ``FEWEST_TRIALS`` candidates measured; a metric that never varied is left out. Values that are all
    above zero are compared by their logarithm: a halving weighs the same anywhere.
    """
    tried = [record for record in records if record.trial.purpose != "front" and record.trial.repeat == 0]
    found: dict[str, dict[str, float]] = {}
    for objective in objectives:
        rows = _rows(tried, objective.metric)[-_MOST_TRIALS:]
        shares = _shares(rows) if len(rows) >= FEWEST_TRIALS else {}
        if shares:
            found[objective.metric] = shares
    return found


def _rows(records: Sequence[TrialRecord], metric: str) -> list[tuple[Candidate, float]]:
    rows = []
    for record in records:
        value = record.measurement.metrics.get(metric) if record.measurement else None
        if value is not None and value.value is not None:
            rows.append((record.trial.candidate, value.value))
    return rows


def _shares(rows: Sequence[tuple[Candidate, float]]) -> dict[str, float]:
    names = dict.fromkeys(name for candidate, _ in rows for name in candidate)
    seen = {name: list(dict.fromkeys(_coded(candidate, name) for candidate, _ in rows)) for name in names}
    varied = {name: values for name, values in seen.items() if len(values) > 1}
    numbers = [number for _, number in rows]
    if not varied or max(numbers) == min(numbers):
        return {}
    scaled = [math.log(number) for number in numbers] if min(numbers) > 0 else numbers
    params = [{name: varied[name].index(_coded(candidate, name)) for name in varied} for candidate, _ in rows]
    return _fanova(params, scaled, {name: len(values) for name, values in varied.items()})


def _coded(candidate: Candidate, name: str) -> tuple[str, Scalar]:
    """``True`` and ``1`` are different values."""
    value = candidate.get(name, ABSENT)
    return type(value).__name__, value


def _fanova(params: Sequence[Mapping[str, int]], values: Sequence[float], sizes: Mapping[str, int]) -> dict[str, float]:
    import optuna

    trees = _TREES if len(params) <= _MANY_TRIALS else _FEW_TREES
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        evaluator = optuna.importance.FanovaImportanceEvaluator(n_trees=trees, seed=0)
        found = optuna.importance.get_param_importances(_study(params, values, sizes), evaluator=evaluator)
    shares = {name: float(share) for name, share in found.items()}
    return shares if all(math.isfinite(share) for share in shares.values()) else {}


def _study(
    params: Sequence[Mapping[str, int]], values: Sequence[float], sizes: Mapping[str, int]
) -> optuna.study.Study:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    kinds: dict[str, Any] = {
        name: optuna.distributions.CategoricalDistribution(range(size)) for name, size in sizes.items()
    }
    study = optuna.create_study()
    study.add_trials(
        [
            optuna.trial.create_trial(params=dict(row), distributions=kinds, value=value)
            for row, value in zip(params, values, strict=True)
        ]
    )
    return study
