"""How sure a choice is, and what one measurement does for it."""

from __future__ import annotations

import math

import pytest

from autotune.searching.choice_doubt import Axis, Contender, wrong_after, wrong_now

WIDE = 0.2


def contender(trial: str, price: float, device: str = "a", common: float = 0.5, *limits: Axis) -> Contender:
    return Contender(trial, device, common, (Axis(math.log(price), WIDE, WIDE), *limits))


def test_a_choice_by_far_is_surely_right_and_one_by_little_is_not() -> None:
    assert wrong_now([contender("t1", 1.0), contender("t2", 5.0, "b")], 1.28) == ("t1", 0.0)
    chosen, wrong = wrong_now([contender("t1", 1.02), contender("t2", 1.0, "b")], 1.28)
    assert chosen == "t2"
    assert 0.2 < wrong < 0.5


def test_what_shares_all_of_its_error_is_chosen_among_surely() -> None:
    assert wrong_now([contender("t1", 1.0, common=1.0), contender("t2", 1.1, common=1.0)], 1.28)[1] == 0.0


def test_measuring_a_rival_helps_and_measuring_a_bystander_does_not() -> None:
    three = [contender("t1", 1.0), contender("t2", 1.05, "b"), contender("t3", 9.0, "c")]
    _, now = wrong_now(three, 1.28)
    after = [wrong_after(three, index, 1.28) for index in range(3)]
    assert after[0] < 0.9 * now
    assert after[1] < 0.9 * now
    assert after[2] == pytest.approx(now, abs=0.02)


def test_measuring_a_bystander_helps_as_far_as_it_shares_the_rivals_error() -> None:
    def gain(common: float) -> float:
        three = [contender("t1", 1.0), contender("t2", 1.05, "b", common), contender("t3", 9.0, "b", common)]
        return wrong_now(three, 1.28)[1] - wrong_after(three, 2, 1.28)

    assert gain(0.0) < 0.02 < gain(0.6) < gain(0.95)


def test_a_limit_that_may_not_hold_keeps_a_cheap_candidate_from_being_chosen() -> None:
    near = Axis(math.log(1.95), WIDE, WIDE, math.log(2.0), careful=True)
    risky = contender("t1", 1.0, "a", 0.5, near)
    safe = contender("t2", 1.5, "b", 0.5)
    chosen, wrong = wrong_now([risky, safe], 1.28)
    assert chosen == "t2"
    assert wrong > 0.3  # more often than not the cheap one would have held it
    assert wrong_after([risky, safe], 0, 1.28) < 0.5 * wrong


def test_a_limit_that_is_broken_by_a_hair_is_broken_however_cheap_the_candidate_is() -> None:
    hair = Axis(math.log(2.002), 1e-6, 1e-6, math.log(2.0), careful=True)
    assert wrong_now([contender("t1", 0.1, "a", 0.5, hair), contender("t2", 1.5, "b")], 1.28) == ("t2", 0.0)
