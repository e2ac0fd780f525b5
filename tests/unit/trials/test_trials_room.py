from __future__ import annotations

from autotune_trials.room import has_room


def test_a_small_session_has_room_and_one_larger_than_the_machine_has_none() -> None:
    assert has_room(1000, None)
    assert not has_room(10**15, None)


def test_the_trials_own_limit_counts_what_is_used_already() -> None:
    assert has_room(1000, 2**40)
    assert not has_room(1000, 2**20)
