"""Starting points of a search: all of them where there is time, and no more than their share where there is not."""

from __future__ import annotations

import math
import random

import pytest

from autotune.core.candidate import Candidate
from autotune.core.space import SearchSpace
from autotune.searching.ledger import Ledger
from autotune.searching.starts import Starts
from autotune.testing.fake_search import fake_search, fake_space

EXPERTS = 40


def with_experts(screened: int = 0) -> SearchSpace:
    space = fake_space(batches=10, blocks=6)
    chosen = random.Random(0).sample(space.candidates(), EXPERTS + screened)
    places = tuple(("cpu", one) for one in chosen[EXPERTS:])
    return space.model_copy(update={"experts": tuple(chosen[:EXPERTS]), "screened": places})


def tried_first(desk, space: SearchSpace, **asked: float | int) -> tuple[int, int]:
    """How many experts were tried before anything else was, and how many trials there were."""
    table = desk(fake_search(space, patience=0.0, **asked))
    table.search()
    searched = [trial.candidate for trial in table.searched if trial.purpose == "search"]
    experts = next((place for place, one in enumerate(searched) if one not in space.experts), len(searched))
    return experts, len(table.searched)


@pytest.mark.parametrize("budget_s", [60.0, 120.0, 200.0, 300.0])
def test_experts_take_a_third_of_the_trials_that_fit_and_no_more(desk, budget_s):
    experts, trials = tried_first(desk, with_experts(), budget_s=budget_s)
    assert experts <= max(10, trials / 2.5)  # what fits is an estimate until it is over
    assert experts >= min(EXPERTS, trials / 5)


@pytest.mark.parametrize(("max_trials", "experts"), [(8, 7), (20, 10), (45, 15), (90, 30), (150, EXPERTS)])
def test_a_number_of_trials_bounds_them_exactly(desk, max_trials, experts):
    assert tried_first(desk, with_experts(), max_trials=max_trials) == (experts, max_trials)


def test_a_long_search_tries_every_one(desk):
    assert tried_first(desk, with_experts(), budget_s=1800.0)[0] == EXPERTS


def test_what_an_estimate_proposes_comes_first_and_takes_from_what_experts_get():
    space = with_experts(screened=12)
    ledger = Ledger()
    starts = Starts(space, ["cpu"], ledger)
    given: list[tuple[str, Candidate]] = []
    while (place := starts.next(trials=45)) is not None:
        ledger._seen.add(place)
        given.append(place)
    assert given == [*space.screened, *(("cpu", expert) for expert in space.experts[:3])]
    assert starts.next(trials=math.inf) == ("cpu", space.experts[3])
