"""The search's mind: Optuna's tree-structured Parzen estimator behind ``Sampler``. The only module that imports optuna.

TPE: Bergstra et al., NeurIPS 2011; its multi-objective form: Ozaki et al., JAIR 2022; constraints: Watanabe & Hutter,
IJCAI 2023.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from autotune.core.assignment import SearchContext
from autotune.core.candidate import Candidate, Scalar
from autotune.core.hashing import hash_json
from autotune.core.limits import Limit
from autotune.core.objective import Objective
from autotune.core.space import Parameter, SearchSpace
from autotune.core.trial import Measurement, SameAs, Trial, TrialRecord
from autotune.searching.coding import Coding
from autotune.searching.feasibility import violation
from autotune.searching.objectives import costs_of, usable_objectives
from autotune.searching.plans import Plans
from autotune.searching.trial_sequence import Place, TrialSequence

if TYPE_CHECKING:
    import optuna

__all__ = ["OptunaSampler"]

_STARTUP = 10
_RAN = "ran"
_FAILED = 1e6  # above any limit's violation: a trial that failed is worse than one that missed every limit
_DEVICE = "@device"


class OptunaSampler(TrialSequence):
    """Baseline first, then experts; a small rest of the space is enumerated, a large one explored by TPE."""

    def __init__(self, space: SearchSpace, context: SearchContext, plans: Plans, max_trials: int | None = None) -> None:
        super().__init__(space, context, plans, max_trials)
        self._study: _Study | None = None

    def propose(self, seed: str) -> Place:
        """A candidate that TPE expects to move the front."""
        if self._study is None:
            self._study = self._studied()
        return self._study.propose(self.ledger.pending, seed)

    def learn(self, record: TrialRecord) -> None:
        """Pass a record on; before the first proposal there is nothing to pass it to."""
        if self._study is not None:
            self._study.add(record)

    def _studied(self) -> _Study:
        """Made when it is first needed: objectives that the baseline has no number for are left out."""
        assert self.ledger.baseline is not None
        kept, _ = usable_objectives(self.context.objectives, self.ledger.baseline)
        study = _Study(self.space, [device.name for device in self.context.devices], kept, self.context.limits)
        for record in self.ledger.records:
            study.add(record)
        return study


class _Study:
    """An Optuna study in memory that holds the records told so far, in their order, and nothing else that lasts.

    What an ask adds (its own attempt, and a stand-in for each trial that is running, which TPE then keeps away from) is
    failed before it returns: Optuna's samplers ignore failed trials. So the n-th ask depends on the records alone.
    """

    def __init__(
        self, space: SearchSpace, devices: Sequence[str], objectives: Sequence[Objective], limits: Sequence[Limit]
    ) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._space = space
        self._devices = tuple(devices)
        self._objectives = tuple(objectives)
        self._limits = tuple(limits)
        self._codings = {parameter.name: Coding(parameter) for parameter in space.parameters}
        self._distributions = {name: _distribution(coding) for name, coding in self._codings.items()}
        self._distributions[_DEVICE] = optuna.distributions.CategoricalDistribution(self._devices)
        self._worst = [0.0] * len(self._objectives)
        self._empty = True
        self._measured: dict[str, Measurement] = {}
        self._study = optuna.create_study(directions=["minimize"] * len(self._objectives))

    def add(self, record: TrialRecord) -> None:
        """Add a record. A failed one counts as the worst seen and as out of bounds, never as FAIL: TPE would forget it."""
        import optuna

        if record.trial.repeat > 0:
            return
        record = self._as_its_twin(record)
        params = self._params(record.trial)
        if params is None:
            return
        costs = costs_of(record, self._objectives)
        if costs is not None:
            self._note_worst(costs)
        self._study.add_trial(
            optuna.trial.create_trial(
                params=params,
                distributions={name: self._distributions[name] for name in params},
                values=list(costs or self._worst),
                constraints=self._constraints(record, costs is not None),
            )
        )

    def _as_its_twin(self, record: TrialRecord) -> TrialRecord:
        """A candidate that is the same as another one is as good. (One that is its parent's is left as it is: no use there.)"""
        outcome = record.outcome
        if record.measurement is not None:
            self._measured[record.trial.id] = record.measurement
        if not isinstance(outcome, SameAs) or outcome.trial == record.trial.parent:
            return record
        return record.model_copy(update={"outcome": self._measured.get(outcome.trial, outcome)})

    def propose(self, running: Iterable[Trial], seed: str) -> Place:
        """What TPE thinks best, away from the trials that are running."""
        import optuna

        self._study.sampler = _tpe(int(hash_json(seed)[:8], 16))
        numbers = [self._stand_in(params) for trial in running if (params := self._params(trial)) is not None]
        attempt = self._study.ask()
        try:
            return self._suggest(attempt)
        finally:
            for number in (*numbers, attempt.number):
                self._study.tell(number, state=optuna.trial.TrialState.FAIL)

    def _stand_in(self, params: dict[str, Any]) -> int:
        import optuna

        state = optuna.trial.TrialState.RUNNING
        distributions = {name: self._distributions[name] for name in params}
        number = len(self._study.get_trials(deepcopy=False))
        self._study.add_trial(optuna.trial.create_trial(state=state, params=params, distributions=distributions))
        return number

    def _suggest(self, attempt: optuna.trial.Trial) -> Place:
        chosen: dict[str, Scalar] = {}
        device = self._devices[0]
        if len(self._devices) > 1:
            device = attempt.suggest_categorical(_DEVICE, self._devices)
        for parameter in self._space.parameters:
            if parameter.active(chosen):
                code = _suggest_code(attempt, parameter.name, self._distributions[parameter.name])
                value = self._codings[parameter.name].value(code)
                chosen[parameter.name] = value if parameter.fits(value, chosen) else _most(parameter, chosen)
        return device, Candidate(chosen)

    def _params(self, trial: Trial) -> dict[str, Any] | None:
        """The trial as Optuna sees it; None when it is no point of the space (a baseline that the user's space excludes)."""
        if self._space.fault(trial.candidate) is not None:
            return None
        params: dict[str, Any] = {name: self._codings[name].code(value) for name, value in trial.candidate.items()}
        return params | ({_DEVICE: trial.device} if len(self._devices) > 1 else {})

    def _constraints(self, record: TrialRecord, complete: bool) -> dict[str, float]:
        """By how much each limit is violated, and whether the trial ran: one stopped at a broken limit missed that alone."""
        measurement = record.measurement
        missed = [violation(limit, measurement.metrics) if measurement else 0.0 for limit in self._limits]
        ran = complete or any(amount > 0 for amount in missed)
        return {f"limit {index}": amount for index, amount in enumerate(missed)} | {_RAN: 0.0 if ran else _FAILED}

    def _note_worst(self, costs: Sequence[float]) -> None:
        self._worst = list(costs) if self._empty else [max(pair) for pair in zip(self._worst, costs, strict=True)]
        self._empty = False


def _most(parameter: Parameter, chosen: Mapping[str, Scalar]) -> Scalar:
    """The largest share that is left, where more was proposed."""
    return max(parameter.values(chosen) or (), key=float)


def _tpe(seed: int) -> optuna.samplers.TPESampler:
    import optuna

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)  # `group` is called so since 2.8
        return optuna.samplers.TPESampler(seed=seed, multivariate=True, group=True, n_startup_trials=_STARTUP)


def _distribution(coding: Coding) -> optuna.distributions.BaseDistribution:
    import optuna

    parameter = coding.parameter
    if coding.kind == "category":
        return optuna.distributions.CategoricalDistribution(range(len(parameter.choices)))
    if coding.kind == "ordinal":
        return optuna.distributions.IntDistribution(0, len(parameter.choices) - 1)
    assert parameter.low is not None
    assert parameter.high is not None
    log = parameter.log and parameter.step is None
    if parameter.integer:
        return optuna.distributions.IntDistribution(
            int(parameter.low), int(parameter.high), log=log, step=int(parameter.step or 1)
        )
    return optuna.distributions.FloatDistribution(parameter.low, parameter.high, log=log, step=parameter.step)


def _suggest_code(attempt: optuna.trial.Trial, name: str, shape: optuna.distributions.BaseDistribution) -> float:
    import optuna

    if isinstance(shape, optuna.distributions.CategoricalDistribution):
        return float(attempt.suggest_categorical(name, shape.choices))
    if isinstance(shape, optuna.distributions.IntDistribution):
        return int(attempt.suggest_int(name, shape.low, shape.high, step=shape.step, log=shape.log))
    assert isinstance(shape, optuna.distributions.FloatDistribution)
    return float(attempt.suggest_float(name, shape.low, shape.high, step=shape.step, log=shape.log))
