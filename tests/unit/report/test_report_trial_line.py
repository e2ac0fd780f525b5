from __future__ import annotations

from autotune.core.objective import objective
from autotune.core.trial import TrialRecord
from autotune.report.trial_line import trial_line
from autotune.testing.sample_search import sample_records


def test_a_warning_of_a_transformation_is_told_and_other_notes_are_kept_for_the_record() -> None:
    record = next(one for one in sample_records() if one.measurement)
    assert record.measurement is not None
    notes = ("a round was disturbed", "warning (fp16): 's' reaches 160000")
    told = record.model_copy(update={"outcome": record.measurement.model_copy(update={"notes": notes})})
    line = trial_line(
        TrialRecord.model_validate(told.model_dump()), record.trial.candidate, (objective("latency_p50"),)
    )
    assert line.endswith("warning (fp16): 's' reaches 160000")
    assert "disturbed" not in line


def test_that_figures_are_simulated_is_said_once() -> None:
    record = next(one for one in sample_records() if one.measurement)
    assert record.measurement is not None
    metrics = {
        name: value.model_copy(update={"provenance": "simulated"}) for name, value in record.measurement.metrics.items()
    }
    told = record.model_copy(update={"outcome": record.measurement.model_copy(update={"metrics": metrics})})
    line = trial_line(told, record.trial.candidate, (objective("latency_p50"), objective("throughput")))
    assert line.count("simulated") == 1
    assert ": simulated latency" in line


def test_a_search_over_several_devices_says_of_each_trial_where_it_was() -> None:
    original, changed = sample_records()[:2]
    goals = (objective("latency_p50"),)
    lines = [trial_line(one, original.trial.candidate, goals, several_devices=True) for one in (original, changed)]
    assert lines[0].startswith("t0000  the original on cpu: ")
    assert " on cpu: " in lines[1]
    assert " on cpu" not in trial_line(changed, original.trial.candidate, goals)
