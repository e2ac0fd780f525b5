"""What a search's runs show."""

from __future__ import annotations

from pathlib import Path

import pytest

from autotune.core.candidate import Candidate
from autotune.testing.sample_search import sample_front, sample_record, sample_records, sample_search
from autotune_trials.mlflow_tracker import MlflowTracker

# mlflow 3.17 under SQLAlchemy 2.1
pytestmark = pytest.mark.filterwarnings("ignore:The ``noload`` loader strategy is deprecated")


def test_one_flat_run_a_trial_and_one_for_the_search(client, runs_by_trial):
    runs = runs_by_trial(client)
    assert sorted(trial or "" for trial in runs) == ["", *(f"t{number:04d}" for number in range(8))]
    assert all(len(found) == 1 for found in runs.values())
    assert all("mlflow.parentRunId" not in run.data.tags for found in runs.values() for run in found)


def test_runs_end_as_their_trials_did(client, runs_by_trial, only):
    runs = runs_by_trial(client)
    statuses = {
        trial: (only(runs, trial).info.status, only(runs, trial).data.tags["autotune.status"])
        for trial in runs
        if trial
    }
    assert statuses["t0001"] == ("FINISHED", "ok")
    assert statuses["t0003"] == ("FAILED", "failed:open/unsupported")
    assert statuses["t0004"] == ("FINISHED", "same_as")
    assert only(runs, None).info.status == "FINISHED"


def test_runs_last_as_long_as_their_trials(client, runs_by_trial, only):
    info = only(runs_by_trial(client), "t0001").info
    assert info.end_time - info.start_time == 1500


def test_the_front_is_tagged_on_the_runs_that_measured_it_again(client, runs_by_trial, only):
    runs = runs_by_trial(client)
    tags = {trial: only(runs, trial).data.tags for trial in runs if trial}
    assert [trial for trial in tags if tags[trial].get("autotune.front") == "true"] == ["t0007", "t0006"]
    assert {trial for trial in tags if tags[trial].get("autotune.shown") == "true"} == {"t0005", "t0006", "t0007"}
    assert [trial for trial in tags if tags[trial].get("autotune.knee") == "true"] == ["t0007"]
    assert {trial: tags[trial]["autotune.point"] for trial in ("t0005", "t0006", "t0007")} == {
        "t0005": "baseline",
        "t0006": "t0001",
        "t0007": "t0002",
    }
    assert {trial for trial in tags if tags[trial].get("autotune.picked") == "no"} == {"t0005", "t0006", "t0007"}


def test_the_searchs_run_carries_the_answer_and_the_files(client, search, runs_by_trial, only):
    run = only(runs_by_trial(client), None)
    assert run.data.tags["mlflow.note.content"].startswith("# Use t0002\n\n**Runs:** [baseline]")
    assert {file.path for file in client.list_artifacts(run.info.run_id)} == {"search.json", "front.json", "summary.md"}
    assert run.data.tags["autotune.kind"] == "real"


def test_a_long_parameter_is_whole_in_an_artifact(tmp_path, search, uri, client, runs_by_trial, only):
    record = sample_record(1)
    long = record.trial.candidate.with_(rule="x" * 6001)
    trial = record.trial.model_copy(update={"candidate": long, "id": "t0100"})
    MlflowTracker.sync(search, [record.model_copy(update={"trial": trial})], None, "", {}, uri, tmp_path / "run")
    run = only(runs_by_trial(client), "t0100")
    file = client.download_artifacts(run.info.run_id, "candidate.json", str(tmp_path))
    assert Candidate.model_validate_json(Path(file).read_text(encoding="utf-8")) == long


def test_syncing_twice_doubles_nothing_and_keeps_the_pick(
    tmp_path, search, uri, exported, tracked, client, runs_by_trial, only
):
    tracked.pick("s1", "t0001")
    for _ in range(2):
        MlflowTracker.sync(
            search, sample_records(), sample_front(search), "# Use t0002", {"t0001": exported}, uri, tmp_path / "run"
        )
    runs = runs_by_trial(client)
    assert len(runs) == 9
    assert all(len(found) == 1 for found in runs.values())
    assert [run.point for run in tracked.picked("s1")] == ["t0001"]
    assert len(only(runs, "t0006").outputs.model_outputs) == 1


def test_a_trial_whose_writing_was_cut_short_is_written_whole(tmp_path, search, uri, client, runs_by_trial, only):
    run = only(runs_by_trial(client), "t0001")
    half = client.create_run(run.info.experiment_id, tags={"autotune.search": "s1", "autotune.trial": "t0050"})
    record = sample_record(50)
    MlflowTracker.sync(search, [record], None, "", {}, uri, tmp_path / "run")
    whole = only(runs_by_trial(client), "t0050")
    assert whole.info.run_id == half.info.run_id
    assert whole.info.status == "FINISHED"
    assert whole.data.metrics["latency_p50_ms"] == pytest.approx(4.0 / 51)


def test_a_later_front_takes_the_tags_off_the_earlier_ones_runs(tmp_path, search, uri, client, runs_by_trial, only):
    front = sample_front(search)
    later = front.model_copy(update={"points": front.points[:1], "knee": "t0001"})
    MlflowTracker.sync(search, sample_records(), later, "# Use t0001", {}, uri, tmp_path / "run")
    tags = only(runs_by_trial(client), "t0007").data.tags
    assert (tags["autotune.shown"], tags["autotune.front"], tags["autotune.knee"]) == ("false", "false", "false")
    assert tags["mlflow.runName"] == "t0007"


def test_a_resumed_search_goes_on_in_its_own_run(tmp_path, search, uri, client, runs_by_trial, only):
    before = only(runs_by_trial(client), None).info.run_id
    tracker = MlflowTracker(search, uri, tmp_path / "run")
    tracker.record(sample_record(20))
    assert tracker.run_id == before
    assert client.get_run(before).info.status == "RUNNING"
    tracker.close()
    assert client.get_run(before).info.status == "KILLED"


def test_searches_of_one_model_share_an_experiment_and_nothing_else(tmp_path, uri, client, runs_by_trial):
    other = sample_search(tmp_path / "run", search_id="s2")
    MlflowTracker.sync(other, sample_records(), sample_front(other), "", {}, uri, tmp_path / "run")
    assert len(runs_by_trial(client, "s1")) == len(runs_by_trial(client, "s2")) == 9
