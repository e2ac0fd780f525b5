from __future__ import annotations

from autotune.core.trial import Cost, Failure, Outcome, TrialRecord
from autotune.searching.savings import racing_note
from autotune.testing.sample_search import sample_record


def trial(number: int, measure_s: float, stopped: str | None = None, outcome: Outcome | None = None) -> TrialRecord:
    record = sample_record(number, outcome)
    if record.measurement is not None:
        record = record.model_copy(update={"outcome": record.measurement.model_copy(update={"stopped": stopped})})
    return record.model_copy(update={"cost": Cost(measure_s=measure_s)})


BASELINE = trial(0, 9.0)


def test_what_racing_saved_is_told_by_what_the_others_took() -> None:
    records = [BASELINE, trial(1, 2.0), trial(2, 4.0), trial(3, 3.0), trial(4, 0.5, "dominated")]
    assert racing_note([*records, trial(5, 1.0, "dominated")]) == (
        "racing stopped 2 of 5 trials early and saved about 4 s"
    )


def test_without_a_trial_measured_to_the_end_no_saving_is_claimed() -> None:
    assert racing_note([BASELINE, trial(1, 0.5, "dominated")]) == "racing stopped 1 of 1 trials early"


def test_a_saving_of_less_than_a_second_is_not_told() -> None:
    told = racing_note([BASELINE, trial(1, 2.0), trial(2, 1.5, "dominated")])
    assert told == "racing stopped 1 of 2 trials early"


def test_nothing_is_said_when_racing_stopped_nothing() -> None:
    failed = trial(2, 0.0, outcome=Failure(stage="open", cause="crash", message="x"))
    assert racing_note([BASELINE, trial(1, 2.0), failed]) is None


def test_what_was_not_measured_for_its_quality_is_no_trial_of_the_race() -> None:
    assert racing_note([BASELINE, trial(1, 0.0, "limit"), trial(2, 2.0), trial(3, 1.0, "dominated")]) == (
        "racing stopped 1 of 2 trials early and saved about 1 s"
    )
