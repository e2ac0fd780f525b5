from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autotune.core.trial import Failure, TrialRecord
from autotune.searching.settled import MOST_LOOKS
from autotune.testing.fake_search import fake_search, fake_space, respond
from autotune.testing.surface import Surface, tabulate

_FEW = settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def holes(space):
    """One candidate in six fails."""
    table = tabulate(space, respond)
    return {c: None if i % 6 == 0 and c != space.baseline else r for i, (c, r) in enumerate(table.items())}


@_FEW
@given(
    killed=st.lists(st.integers(1, 44), max_size=3).map(sorted), seed=st.integers(0, 3), blocks=st.sampled_from([1, 3])
)
def test_a_search_killed_anywhere_tries_what_an_undisturbed_one_does(desk, killed, seed, blocks):
    asked = fake_search(fake_space(blocks=blocks), max_trials=45, seed=seed, limits=("fidelity>=0.97",))
    surface = Surface(holes(asked.space), asked.space.baseline)
    undisturbed = desk(asked, surface)
    undisturbed.search()
    kept = []
    for count in killed:
        table = desk(asked, surface, kept)
        table.search()
        kept = table.run.records()[:count]
    last = desk(asked, surface, kept)
    last.search()
    assert last.searched == undisturbed.searched
    assert [trial.id for trial in last.executor.submitted] == [f"t{n:04d}" for n in range(len(kept) + 1, 46)]


@_FEW
@given(lost=st.sets(st.integers(2, 20), min_size=1, max_size=4))
def test_lost_trials_are_asked_for_again_under_their_own_ids(desk, lost):
    asked = fake_search(max_trials=30)
    table = desk(asked, slots=4)
    table.search()
    kept = [record for record in table.run.records() if int(record.trial.id[1:]) not in lost]
    again = desk(asked, records=kept)
    again.search()
    ids = sorted(record.trial.id for record in again.run.records())
    assert ids == [f"t{n:04d}" for n in range(1, 31)]
    assert [trial.id for trial in again.executor.submitted] == [f"t{n:04d}" for n in sorted(lost)]


def test_an_expert_that_was_lost_is_tried_again(desk):
    asked = fake_search(max_trials=8)
    table = desk(asked)
    table.search()
    kept = [record for record in table.run.records() if record.trial.id != "t0002"]
    again = desk(asked, records=kept)
    again.search()
    assert again.executor.submitted[0].candidate == asked.space.experts[0]


def test_time_spent_before_counts_and_idle_hours_do_not(desk):
    asked = fake_search(budget_s=300.0)
    first = desk(asked)
    first.watcher.on_finished = lambda count: first.stop.request(2) if count == 20 else None
    first.search()
    second = desk(asked, records=first.run.records(), spent_s=first.run.spent_s())
    assert second.budget.left_s() == 300 - first.budget.spent_s()
    second.search()
    second.finish()
    assert second.budget.spent_s() <= 300


def test_a_resumed_search_goes_on_with_its_plan_under_a_larger_budget(desk):
    first = desk(fake_search(budget_s=120.0))
    first.search()
    plan = first.searched[1].plan
    second = desk(fake_search(budget_s=300.0), records=first.run.records(), spent_s=first.run.spent_s())
    second.search()
    assert {trial.plan for trial in second.searched if trial.purpose == "search"} == {plan}
    assert len({trial.key for trial in second.searched}) == len(second.searched)


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        (fake_search(budget_s=14_400.0, patience=0.2), "patience"),
        (fake_search(fake_space(batches=1, blocks=1), budget_s=14_400.0), "exhausted"),
        (fake_search(max_trials=12, budget_s=14_400.0), "trials"),
        (fake_search(budget_s=120.0), "budget"),
    ],
)
def test_a_search_that_ended_and_is_resumed_says_again_why_it_ended(desk, asked, reason):
    table = desk(asked)
    assert table.search().reason == reason
    table.finish()
    nearly_all_s = max(table.run.spent_s(), asked.budget_s - 1.0)
    again = desk(asked, records=table.run.records(), spent_s=nearly_all_s)
    assert (again.search().reason, again.executor.submitted) == (reason, [])


def test_points_measured_again_before_a_crash_are_not_measured_again_after_it(desk):
    asked = fake_search(budget_s=600.0)
    table = desk(asked)
    ending = table.search()
    table.watcher.on_finished = lambda count: table.stop.request(15) if count == ending.trials + 3 else None
    table.finish()
    again = desk(asked, records=table.run.records(), spent_s=table.run.spent_s())
    again.search()
    again.finish()
    fronts = [record.trial for record in again.run.records() if record.trial.purpose == "front"]
    assert len({trial.key for trial in fronts}) == len(fronts)
    assert max(Counter(trial.candidate for trial in fronts).values()) <= MOST_LOOKS
    candidates = [trial.candidate for trial in fronts]
    first_repeat = next((n for n, one in enumerate(candidates) if one in candidates[:n]), len(candidates))
    assert set(candidates[:first_repeat]) == set(candidates)


def test_trackers_are_shown_the_journal_again(desk):
    class Tracker:
        def __init__(self):
            self.seen = []

        def record(self, record):
            self.seen.append(record.trial.id)

        def finish(self, *_): ...

        def close(self): ...

    asked, tracker = fake_search(max_trials=6), Tracker()
    table = desk(asked)
    table.search()
    desk(asked, records=table.run.records()[:4], trackers=[tracker]).search()
    assert tracker.seen == [f"t{n:04d}" for n in range(1, 7)]


def lost(record: TrialRecord) -> TrialRecord:
    return record.model_copy(update={"outcome": Failure(stage="lost", cause="lost", message="its executor died")})


def test_a_trial_that_was_lost_to_something_else_is_tried_once_more(desk):
    asked = fake_search(max_trials=30)
    table = desk(asked)
    table.search()
    records = [lost(record) if record.trial.id == "t0005" else record for record in table.run.records()[:6]]
    again = desk(asked, records=records)
    again.search()
    owed = records[4].trial.candidate
    assert again.executor.submitted[0].candidate == owed
    assert [trial.candidate for trial in again.executor.submitted].count(owed) == 1


def test_a_trial_that_is_lost_twice_is_given_up(desk):
    asked = fake_search(max_trials=30)
    table = desk(asked)
    table.search()
    first = table.run.records()[:6]
    second = lost(first[4]).model_copy(update={"trial": first[4].trial.model_copy(update={"id": "t0007"})})
    again = desk(asked, records=[*first[:4], lost(first[4]), first[5], second])
    again.search()
    assert first[4].trial.candidate not in [trial.candidate for trial in again.executor.submitted]
