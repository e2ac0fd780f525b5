"""What every sampler must do, as a test class: subclass it and give it a ``make``."""

# ruff: noqa: D102  - a test's name says what it is for
from __future__ import annotations

from collections.abc import Callable

from autotune.core.ports import Sampler
from autotune.core.trial import Failure, Outcome, Trial, TrialRecord
from autotune.runs.search_file import SearchFile
from autotune.testing.fake_search import fake_search, fake_space, respond
from autotune.testing.surface import Surface, tabulate

__all__ = ["SamplerSuite", "drive"]

Answer = Callable[[Trial], Outcome]


class SamplerSuite:
    """Subclass it, and define ``make``: a new sampler for a search."""

    def make(self, search: SearchFile) -> Sampler:
        """A new sampler that knows no record."""
        raise NotImplementedError

    def test_the_baseline_comes_first(self) -> None:
        search = fake_search()
        trial = self.make(search).ask()
        assert trial is not None
        assert (trial.purpose, trial.candidate, trial.parent) == ("baseline", search.space.baseline, None)

    def test_every_candidate_is_a_point_of_the_space(self) -> None:
        search = fake_search()
        for record in drive(self.make(search), _answer(search), 60):
            assert search.space.fault(record.trial.candidate) is None

    def test_no_key_is_asked_twice_and_no_candidate_searched_twice(self) -> None:
        search = fake_search()
        trials = [record.trial for record in drive(self.make(search), _answer(search), 120)]
        searched = [trial.candidate for trial in trials if trial.purpose == "search"]
        assert len({trial.key for trial in trials}) == len(trials)
        assert len(set(searched)) == len(searched)

    def test_a_small_space_is_tried_whole_and_then_nothing_is_left(self) -> None:
        search = fake_search(fake_space(batches=1, blocks=1))
        records = drive(self.make(search), _answer(search), 10_000)
        assert {record.trial.candidate for record in records} == set(search.space.candidates())

    def test_the_baseline_is_repeated_afresh(self) -> None:
        search = fake_search()
        repeats = [
            record.trial.repeat
            for record in drive(self.make(search), _answer(search), 45)
            if record.trial.purpose == "baseline"
        ]
        assert repeats == list(range(len(repeats)))
        assert 4 <= len(repeats) <= 6

    def test_the_same_records_lead_to_the_same_next_trial(self) -> None:
        search = fake_search()
        first = self.make(search)
        records = drive(first, _answer(search), 40)
        for known in (3, 17, 40):
            resumed = self.make(search)
            for record in records[:known]:
                resumed.tell(record)
            expected = records[known].trial if known < len(records) else first.ask()
            assert resumed.ask() == expected

    def test_a_record_told_twice_counts_once(self) -> None:
        search = fake_search()
        once, twice = self.make(search), self.make(search)
        for record in drive(self.make(search), _answer(search), 25):
            once.tell(record)
            twice.tell(record)
            twice.tell(record)
        assert once.ask() == twice.ask()

    def test_failures_are_left_behind(self) -> None:
        """int8 always fails, half of the space: a sampler that forgets failures goes on proposing it."""
        search = fake_search(objectives=("latency_p50", "throughput"))

        def answer(trial: Trial) -> Outcome:
            if str(trial.candidate["precision"]).startswith("int8"):
                return Failure(stage="build", cause="unsupported", message="no")
            return _answer(search)(trial)

        records = drive(self.make(search), answer, 80)
        failed = sum(isinstance(record.outcome, Failure) for record in records[20:])
        assert failed < 0.5 * len(records[20:])

    def test_several_trials_may_run_at_once(self) -> None:
        search = fake_search()
        sampler = self.make(search)
        drive(sampler, _answer(search), 15)
        running = [sampler.ask() for _ in range(6)]
        assert all(trial is not None for trial in running)
        assert len({trial.key for trial in running if trial}) == 6


def drive(sampler: Sampler, answer: Answer, trials: int) -> list[TrialRecord]:
    """Ask, answer and tell, one at a time, until that many trials ended or nothing is left."""
    records: list[TrialRecord] = []
    while len(records) < trials:
        trial = sampler.ask()
        if trial is None:
            break
        began_s = 3.0 * len(records)
        record = TrialRecord(trial=trial, started_s=began_s, finished_s=began_s + 3.0, outcome=answer(trial))
        sampler.tell(record)
        records.append(record)
    return records


def _answer(search: SearchFile) -> Answer:
    return Surface(tabulate(search.space, respond), search.space.baseline).outcome
