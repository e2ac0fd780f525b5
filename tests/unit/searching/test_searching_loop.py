from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from autotune.core.errors import AllTrialsFailed, ExitCode, OutOfTime
from autotune.core.trial import Failure, Outcome, Trial
from autotune.searching.found import found_by_searching
from autotune.testing.fake_search import fake_search, fake_space, respond
from autotune.testing.surface import Surface, tabulate


class Slow(Surface):
    """Every trial but the baseline hangs for an hour."""

    def duration_s(self, trial: Trial) -> float:
        return 3600.0 if trial.purpose == "search" else super().duration_s(trial)


class Broken(Surface):
    def outcome(self, trial: Trial) -> Outcome:
        return Failure(stage="open", cause="custom_op", message="acme::Foo is not registered\nand more")


class SlowPairs(Surface):
    """What is measured in pairs takes four times as long as anybody could expect."""

    def duration_s(self, trial: Trial) -> float:
        return super().duration_s(trial) * (4 if trial.plan.paired else 1)


class QuickPairs(Surface):
    def duration_s(self, trial):
        return super().duration_s(trial) * (0.3 if trial.plan.paired else 1.0)


class BadTracker:
    def __init__(self) -> None:
        self.calls = 0

    def record(self, record: Any) -> None:
        self.calls += 1
        raise OSError("server away")

    def finish(self, *_: Any) -> None: ...

    def close(self) -> None: ...


class GoodTracker(BadTracker):
    def record(self, record: Any) -> None:
        self.calls += 1


def test_two_minutes_on_a_fast_model_are_thirty_trials_and_a_paired_front(desk):
    table = desk(fake_search(budget_s=120.0))
    ending = table.search()
    front = table.finish()
    assert ending.reason == "budget"
    assert ending.trials >= 30
    assert table.budget.spent_s() <= 120
    assert all(point.ratios for point in front.points if point.id != "baseline")


@pytest.mark.parametrize("budget_s", [60.0, 300.0, 3600.0, 4 * 3600.0])
@pytest.mark.parametrize("overhead_s", [1.5, 6.0])
def test_the_budget_is_never_exceeded(desk, budget_s, overhead_s):
    asked = fake_search(budget_s=budget_s, patience=0.2)
    table = desk(asked, Surface(tabulate(asked.space, respond), asked.space.baseline, overhead_s=overhead_s))
    table.search()
    table.finish()
    assert table.budget.spent_s() <= budget_s
    assert table.run.spent_s() == pytest.approx(table.budget.spent_s())


def test_a_hanging_trial_ends_with_time_left_for_the_front(desk):
    asked = fake_search(budget_s=120.0)
    table = desk(asked, Slow(tabulate(asked.space, respond), asked.space.baseline))
    ending = table.search()
    assert ending.reason == "budget"
    assert 0 < table.budget.left_s() < 120
    assert table.executor.cancel() == []
    front = table.finish()
    assert [point.id for point in front.points] == ["baseline"]
    assert table.budget.spent_s() <= 125


def test_a_space_without_candidates_left_ends_the_search(desk):
    asked = fake_search(fake_space(batches=1, blocks=1), budget_s=14_400.0)
    table = desk(asked)
    assert table.search().reason == "exhausted"
    assert {trial.candidate for trial in table.searched} == set(asked.space.candidates())


def test_patience_ends_a_search_that_finds_nothing_new(desk):
    table = desk(fake_search(budget_s=14_400.0, patience=0.2))
    assert table.search().reason == "patience"
    assert table.budget.spent_s() < 7200


def test_the_number_of_trials_is_exact_also_with_several_slots(desk):
    table = desk(fake_search(max_trials=17), slots=4)
    assert table.search().reason == "trials"
    assert len(table.searched) == 17


def test_a_tracker_that_fails_is_named_once_and_the_others_go_on(desk):
    bad, good = BadTracker(), GoodTracker()
    table = desk(fake_search(max_trials=5), trackers=[bad, good])
    table.search()
    assert (bad.calls, good.calls) == (1, 5)
    assert [note for note in table.watcher.notes if "BadTracker" in note and "server away" in note]
    assert len(table.watcher.notes) == 1


def test_a_stop_keeps_what_was_found_and_the_front_is_unpaired(desk):
    table = desk(fake_search(budget_s=600.0))
    table.watcher.on_finished = lambda count: table.stop.request(2) if count == 20 else None
    ending = table.search()
    assert (ending.reason, ending.signal) == ("stopped", 2)
    assert len(table.searched) == 20
    front = table.finish()
    assert table.run.front == front
    assert front.points
    assert not any(point.ratios for point in front.points)


def test_a_stop_while_measuring_again_keeps_the_points_measured_so_far(desk):
    table = desk(fake_search(budget_s=600.0))
    ending = table.search()
    table.watcher.on_finished = lambda count: table.stop.request(15) if count == ending.trials + 3 else None
    front = table.finish()
    assert any("no time was left" in gone.reason for gone in front.dropped)
    assert all(point.ratios for point in front.points if point.id != "baseline")


def test_a_baseline_that_does_not_run_ends_the_search_with_its_cause(desk):
    asked = fake_search(budget_s=600.0)
    table = desk(asked, Broken(tabulate(asked.space, respond), asked.space.baseline))
    with pytest.raises(
        AllTrialsFailed, match=r"it failed to open \(custom_op\): acme::Foo is not registered"
    ) as caught:
        table.search()
    assert caught.value.exit_code is ExitCode.ALL_FAILED
    assert len(str(caught.value).splitlines()) == 2
    assert len(table.run.records()) == 1


class Unrunnable(Surface):
    def outcome(self, trial):
        return Failure(stage="check", cause="other", message="the unmodified model does not run: axes differ")


def test_a_broken_baseline_is_said_to_be_so_once(desk):
    asked = fake_search(max_trials=6)
    table = desk(asked, Unrunnable(tabulate(asked.space, respond), asked.space.baseline))
    with pytest.raises(
        AllTrialsFailed, match=r"^the unmodified model does not run: it failed to check \(other\): axes differ"
    ):
        table.search()


class LostAtFirst(Surface):
    """The first ``times`` trials are ended by something outside."""

    times = 1

    def outcome(self, trial):
        if self.times:
            self.__dict__["times"] = self.times - 1
            return Failure(stage="lost", cause="lost", message="the trial's process was ended from outside by SIGKILL")
        return super().outcome(trial)


def test_a_baseline_that_was_lost_to_something_else_is_tried_once_more(desk):
    asked = fake_search(max_trials=6)
    table = desk(asked, LostAtFirst(tabulate(asked.space, respond), asked.space.baseline))
    table.search()
    kept = [record for record in table.run.records() if record.measurement]
    assert [record.trial.purpose for record in table.run.records()][:2] == ["baseline", "baseline"]
    assert len(kept) == 5


def test_a_baseline_that_is_lost_twice_ends_the_search(desk):
    asked = fake_search(max_trials=6)
    surface = LostAtFirst(tabulate(asked.space, respond), asked.space.baseline)
    surface.__dict__["times"] = 2
    table = desk(asked, surface)
    with pytest.raises(AllTrialsFailed, match="SIGKILL"):
        table.search()


def test_a_baseline_that_outlasts_the_budget_says_so(desk):
    asked = fake_search(budget_s=20.0)
    table = desk(asked, Surface(tabulate(asked.space, respond), asked.space.baseline, overhead_s=60.0))
    with pytest.raises(OutOfTime, match="the search ended before the unmodified model was measured"):
        table.search()
    assert table.budget.spent_s() <= 21


def test_racing_is_given_the_front_of_the_moment(desk):
    table = desk(fake_search(max_trials=12))
    table.search()
    assert table.executor.bars[0] == ()
    assert set(table.executor.bars[-1][0]) == {"latency_p50", "throughput", "energy", "fidelity"}


def test_progress_counts_failures_and_shows_the_front(desk):
    asked = fake_search(max_trials=30)
    half = {c: (None if c["level"] == "none" else r) for c, r in tabulate(asked.space, respond).items()}
    table = desk(asked, Surface(half, asked.space.baseline))
    table.search()
    last = table.watcher.progress[-1]
    assert last.trials == 30
    assert sum(last.failures.values()) == sum(record.measurement is None for record in table.run.records())
    assert last.baseline is not None
    assert last.front


def test_slots_that_somebody_else_holds_are_waited_for(desk):
    table = desk(fake_search(max_trials=3))
    free_slots = table.executor.free_slots
    table.executor.free_slots = lambda device: 0 if table.clock.now_s() < 5 else free_slots(device)
    assert table.search().reason == "trials"


def test_an_objective_that_cannot_be_known_here_is_said_once(desk):
    asked = fake_search(max_trials=4)
    without = {c: {k: v for k, v in r.items() if k != "energy"} for c, r in tabulate(asked.space, respond).items()}
    table = desk(asked, Surface(without, asked.space.baseline))
    table.search()
    assert [note for note in table.watcher.notes if note.startswith("energy is no objective")] == table.watcher.notes
    front = table.finish()
    assert [objective.metric for objective in front.objectives] == ["latency_p50", "throughput", "fidelity"]


def test_a_finished_search_resumed_without_more_budget_changes_nothing(desk):
    asked = fake_search(budget_s=120.0)
    table = desk(asked)
    table.search()
    front = table.finish()
    again = desk(asked, records=table.run.records(), spent_s=table.run.spent_s())
    assert again.search().reason == "budget"
    assert again.finish() == front
    assert again.executor.submitted == []


@pytest.mark.parametrize("budget_s", [60.0, 600.0])
def test_pairs_that_take_much_longer_than_planned_do_not_break_the_promise(desk, budget_s):
    asked = fake_search(budget_s=budget_s)
    table = desk(asked, SlowPairs(tabulate(asked.space, respond), asked.space.baseline))
    table.search()
    front = table.finish()
    assert table.budget.spent_s() <= budget_s + 6
    assert front.points
    assert [note for note in table.watcher.notes if "not measured again" in note]


def test_the_baselines_repeats_are_not_raced(desk):
    table = desk(fake_search(max_trials=25))
    table.search()
    bars = zip(table.executor.submitted, table.executor.bars, strict=True)
    assert [bar for trial, bar in bars if trial.purpose == "baseline"] == [(), (), ()]


def test_points_that_noise_may_have_hidden_are_measured_again_when_time_allows(desk):
    asked = fake_search(budget_s=1800.0)
    table = desk(asked, Surface(tabulate(asked.space, respond), asked.space.baseline, noise=0.15))
    table.search()
    found = found_by_searching(table.run.records(), asked)
    front = table.finish()
    again = {record.trial.candidate for record in table.run.records() if record.trial.purpose == "front"}
    assert {one.record.trial.candidate for one in found.points} <= again
    assert len(again) > len(found.points) + 1
    assert len(front.points) > 1


def front_plans(table):
    """The plans under which each point was measured again, in order."""
    plans = {}
    for record in table.run.records():
        if record.trial.purpose == "front" and record.trial.plan.paired:
            plans.setdefault(record.trial.candidate, []).append(record.trial.plan)
    return plans


def looks_at(table, front):
    """How often each point that is shown was measured again, the baseline aside."""
    plans = front_plans(table)
    return [len(plans[point.candidate]) for point in front.points if point.candidate in plans]


def test_points_in_doubt_are_measured_again_five_times_where_time_allows(desk):
    asked = fake_search(budget_s=1800.0)
    table = desk(asked, QuickPairs(tabulate(asked.space, respond), asked.space.baseline, noise=0.15))
    table.search()
    front = table.finish()
    assert max(looks_at(table, front)) == 5
    assert table.budget.spent_s() <= 1800


def test_no_look_at_a_point_is_much_shorter_than_the_one_before(desk):
    asked = fake_search(budget_s=240.0)
    table = desk(asked, QuickPairs(tabulate(asked.space, respond), asked.space.baseline, noise=0.15))
    table.search()
    table.finish()
    looks = [plans for plans in front_plans(table).values() if len(plans) > 1]
    assert looks
    for plans in looks:
        assert all(later.phase_limit_s >= 0.5 * first.phase_limit_s for first, later in pairwise(plans))


def test_points_that_are_certain_are_measured_again_in_three_pairs_of_processes(desk):
    asked = fake_search(budget_s=1800.0)
    table = desk(asked, QuickPairs(tabulate(asked.space, respond), asked.space.baseline, noise=0.001))
    table.search()
    front = table.finish()
    assert set(looks_at(table, front)) == {3}


def test_every_point_of_the_front_is_measured_again_before_any_is_twice(desk):
    asked = fake_search(budget_s=90.0)
    table = desk(asked, QuickPairs(tabulate(asked.space, respond), asked.space.baseline, noise=0.05))
    table.search()
    table.finish()
    paired = [r.trial.candidate for r in table.run.records() if r.trial.purpose == "front" and r.trial.plan.paired]
    first_repeat = next((n for n, one in enumerate(paired) if one in paired[:n]), len(paired))
    assert len(set(paired)) == first_repeat


def test_a_simulated_search_whose_start_took_its_budget_still_tries_what_comes_first(desk):
    asked = fake_search(budget_s=30.0).model_copy(update={"kind": "simulated"})
    alone = desk(asked.model_copy(update={"max_trials": 1}))
    alone.search()
    table = desk(asked)
    table.clock.sleep(30.0 - alone.budget.spent_s())  # the baseline takes all of the rest
    assert table.search().reason == "budget"
    assert [trial.candidate for trial in table.searched] == [asked.space.baseline, *asked.space.experts]


def test_a_simulated_search_that_is_long_over_its_budget_ends(desk):
    table = desk(fake_search(budget_s=5.0).model_copy(update={"kind": "simulated"}))
    table.clock.sleep(60.0)
    assert table.search().trials == 0
