from __future__ import annotations

import random

import pytest

from autotune.core.errors import UserError
from autotune.core.space import Parameter
from autotune.core.trial import Measurement, SameAs
from autotune.core.values import Value
from autotune.searching import Plans, usable_objectives
from autotune.searching.coding import Coding
from autotune.searching.optuna_sampler import OptunaSampler
from autotune.testing.fake_search import fake_search, fake_space, respond
from autotune.testing.sampler_suite import drive
from autotune.testing.sampler_timing import ask_tell_s
from autotune.testing.surface import Surface, tabulate


def sampler(search):
    return OptunaSampler(search.space, search.context, Plans(search.budget_s, 2), search.max_trials)


def best(records, metric):
    return min(r.measurement.metrics[metric].value for r in records if r.measurement)


def test_experts_follow_the_baseline():
    search = fake_search()
    answer = Surface(tabulate(search.space, respond), search.space.baseline).outcome
    trials = [record.trial for record in drive(sampler(search), answer, 3)]
    assert trials[1].candidate == search.space.experts[0]
    assert trials[1].parent == trials[0].id


def test_where_four_of_five_candidates_fail_the_good_region_is_found():
    search = fake_search(fake_space(batches=10, blocks=6), objectives=("latency_p50",))

    def responds(candidate):
        if candidate == search.space.baseline:
            return {"latency_p50": 10.0}
        if candidate["precision"] not in ("fp32", "fp16") or candidate["level"] == "none":
            return None
        return {"latency_p50": 1.0 + abs(float(candidate["batch"]) - 64) / 64 + (candidate["threads"] == 1)}

    answer = Surface(tabulate(search.space, responds), search.space.baseline, noise=0.0).outcome
    records = drive(sampler(search), answer, 100)
    failed = sum(record.measurement is None for record in records[20:])
    assert best(records, "latency_p50") == 1.0
    assert failed < 0.5 * len(records[20:])


def test_tpe_beats_random_search():
    def loss(candidate):
        return {"latency_p50": 1.0 + 0.1 * sum(abs(int(candidate[f"x{i}"]) - 7) for i in range(6))}

    names = [f"x{i}" for i in range(6)]
    space = fake_space().model_copy(
        update={
            "parameters": tuple(Parameter(name=name, low=0, high=9) for name in names),
            "baseline": fake_space().baseline.model_validate(dict.fromkeys(names, 0)),
            "experts": (),
        }
    )
    ours, randoms = [], []
    for seed in range(3):
        search = fake_search(space, objectives=("latency_p50",), seed=seed)
        records = drive(
            sampler(search),
            lambda trial: Measurement(
                metrics={"latency_p50": Value(value=loss(trial.candidate)["latency_p50"], unit="s")}
            ),
            80,
        )
        ours.append(best(records, "latency_p50"))
        draw = random.Random(seed)
        randoms.append(min(loss({n: draw.randint(0, 9) for n in names})["latency_p50"] for _ in range(80)))
    assert sum(ours) < sum(randoms)


def test_a_space_that_fits_is_enumerated_in_an_order_the_seed_decides():
    def order(seed):
        search = fake_search(fake_space(batches=1, blocks=1), seed=seed)
        answer = Surface(tabulate(search.space, respond), search.space.baseline).outcome
        return [r.trial.candidate for r in drive(sampler(search), answer, 200) if r.trial.purpose == "search"]

    assert order(1) == order(1)
    assert order(1) != order(2)
    assert set(order(1)) == set(order(2))


def test_an_objective_unknown_for_the_baseline_is_left_out_with_the_reason():
    search = fake_search(objectives=("latency_p50", "energy"))

    def without_energy(candidate):
        return {"latency_p50": respond(candidate)["latency_p50"]}

    answer = Surface(tabulate(search.space, without_energy), search.space.baseline).outcome
    records = drive(sampler(search), answer, 30)
    assert len(records) == 30
    kept, dropped = usable_objectives(search.objectives, records[0])
    assert [objective.metric for objective in kept] == ["latency_p50"]
    assert "energy is no objective" in dropped[0][1]


def test_no_usable_objective_is_a_persons_mistake():
    search = fake_search(objectives=("energy",))
    baseline = drive(sampler(search), lambda _: Measurement(metrics={}), 1)[0]
    with pytest.raises(UserError, match="energy"):
        usable_objectives(search.objectives, baseline)


def test_a_baseline_outside_a_narrowed_space_does_not_stop_the_search():
    space = fake_space()
    threads = Parameter(name="threads", choices=(1,))
    parameters = tuple(threads if p.name == "threads" else p for p in space.parameters)
    search = fake_search(space.model_copy(update={"parameters": parameters, "experts": ()}))
    answer = Surface(tabulate(search.space, respond), search.space.baseline).outcome
    records = drive(sampler(search), answer, 40)
    assert all(r.trial.candidate["threads"] == 1 for r in records if r.trial.purpose == "search")


def test_true_and_one_are_different_codes():
    coding = Coding(Parameter(name="x", choices=(1, True, "1")))
    assert [coding.code(value) for value in (1, True, "1")] == [0, 1, 2]
    assert type(coding.value(1)) is bool
    with pytest.raises(ValueError, match="x=2"):
        coding.code(2)


def test_rising_numbers_are_ordinal_and_words_are_not():
    assert Coding(Parameter(name="batch", choices=(1, 2, 4))).kind == "ordinal"
    assert Coding(Parameter(name="level", choices=("none", "all", "x"))).kind == "category"
    assert Coding(Parameter(name="flag", choices=(True, False))).kind == "category"
    assert Coding(Parameter(name="share", low=0.0, high=0.5)).kind == "range"


def test_a_continuous_parameter_is_searched():
    space = fake_space()
    share = Parameter(name="share", low=0.0, high=0.5)
    space = space.model_copy(
        update={"parameters": (*space.parameters, share), "baseline": space.baseline.with_(share=0.25), "experts": ()}
    )
    search = fake_search(space, objectives=("latency_p50",))

    def answer(trial):
        return Measurement(metrics={"latency_p50": Value(value=1 + float(trial.candidate["share"]), unit="s")})

    records = drive(sampler(search), answer, 60)
    assert len({record.trial.candidate for record in records if record.trial.purpose == "search"}) == 54
    assert best(records, "latency_p50") < 1.05


def test_what_an_ask_costs_can_be_timed():
    assert len(ask_tell_s(sampler, trials=30, timed=5)) == 5


def test_what_is_the_same_as_another_trial_is_told_as_being_as_good():
    search = fake_search(max_trials=200)
    surface = Surface(tabulate(search.space, respond), search.space.baseline)
    asked = sampler(search)
    records = drive(asked, surface.outcome, 12)
    trial = asked.ask()
    asked.tell(records[-1].model_copy(update={"trial": trial, "outcome": SameAs(trial=records[5].trial.id, reason="")}))
    *earlier, same = asked._study._study.trials
    twin = next(one for one in earlier if one.values and one.params == asked._study._params(records[5].trial))
    assert same.values == twin.values
    assert same.constraints == twin.constraints


def test_what_an_estimate_proposes_follows_the_baseline_on_its_own_device() -> None:
    space = fake_space()
    proposed = space.candidates()[-1]
    device = fake_search().context.devices[0].name
    search = fake_search(space.model_copy(update={"screened": ((device, proposed),)}))
    answer = Surface(tabulate(search.space, respond), search.space.baseline).outcome
    trials = [record.trial for record in drive(sampler(search), answer, 3)]
    assert (trials[1].device, trials[1].candidate) == (device, proposed)
    assert trials[2].candidate == space.experts[0]
