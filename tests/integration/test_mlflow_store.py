"""The tracker on a real local store."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autotune.core.candidate import Candidate
from autotune.core.errors import UserError
from autotune.testing.sample_search import sample_front, sample_record, sample_records, sample_search
from autotune_trials.mlflow_tracker import MlflowTracker

# mlflow 3.17 under SQLAlchemy 2.1
pytestmark = pytest.mark.filterwarnings("ignore:The ``noload`` loader strategy is deprecated")

RUN_PY = """
class Model:
    def run(self, inputs):
        return {"y": inputs["x"] * 2}


def load(folder):
    assert (folder / "model.onnx").is_file()
    return Model()
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tracked")


@pytest.fixture(scope="module")
def exported(folder):
    deploy = folder / "deploy"
    (deploy / "weights").mkdir(parents=True)
    versions = {"onnxruntime": "1.32.0", "numpy": "2.0.0"}
    (deploy / "config.json").write_text(json.dumps({"environment": {"versions": versions}, "session": {}}))
    (deploy / "model.onnx").write_bytes(bytes(range(256)) * 40)
    (deploy / "weights" / "model.data").write_bytes(b"\r\n\x00\xff" * 1000)
    (deploy / "run.py").write_text(RUN_PY)
    return deploy


@pytest.fixture(scope="module")
def search(folder):
    (folder / "run").mkdir()
    return sample_search(folder / "run")


@pytest.fixture(scope="module")
def database(folder, search, exported):
    """A whole search, tracked once."""
    tracker = MlflowTracker(search, f"sqlite:///{folder}/mlflow.db", folder / "run")
    for record in sample_records():
        tracker.record(record)
    tracker.finish(sample_front(search), "# Use t0002", {"t0001": exported, "t0002": exported})
    tracker.close()
    assert not tracker.away
    return folder / "mlflow.db"


@pytest.fixture
def uri(tmp_path, database):
    """A copy of its own for each test."""
    return f"sqlite:///{shutil.copy(database, tmp_path)}"


@pytest.fixture
def tracked(uri):
    return MlflowTracker.reader(uri)


@pytest.fixture
def client(tracked, uri):
    from mlflow import MlflowClient

    return MlflowClient(uri)


def runs_by_trial(client, search_id="s1"):
    experiment = client.get_experiment_by_name("autotune/digits")
    found = client.search_runs([experiment.experiment_id], f"tags.`autotune.search` = '{search_id}'")
    by_trial = {}
    for run in found:
        by_trial.setdefault(run.data.tags.get("autotune.trial"), []).append(run)
    return by_trial


def only(runs, trial):
    (run,) = runs[trial]
    return run


def content(folder):
    return {file.relative_to(folder): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_one_flat_run_a_trial_and_one_for_the_search(client):
    runs = runs_by_trial(client)
    assert sorted(trial or "" for trial in runs) == ["", *(f"t{number:04d}" for number in range(8))]
    assert all(len(found) == 1 for found in runs.values())
    assert all("mlflow.parentRunId" not in run.data.tags for found in runs.values() for run in found)


def test_runs_end_as_their_trials_did(client):
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


def test_runs_last_as_long_as_their_trials(client):
    info = only(runs_by_trial(client), "t0001").info
    assert info.end_time - info.start_time == 1500


def test_the_front_is_tagged_on_the_runs_that_measured_it_again(client):
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
    assert [trial for trial in tags if tags[trial].get("autotune.picked") == "no"] == ["t0007", "t0006"]


def test_the_searchs_run_carries_the_answer_and_the_files(client, search):
    run = only(runs_by_trial(client), None)
    assert run.data.tags["mlflow.note.content"].startswith("# Use t0002\n\n**Runs:** [baseline]")
    assert {file.path for file in client.list_artifacts(run.info.run_id)} == {"search.json", "front.json", "summary.md"}
    assert run.data.tags["autotune.kind"] == "real"


def test_a_long_parameter_is_whole_in_an_artifact(tmp_path, search, uri, client):
    record = sample_record(1)
    long = record.trial.candidate.with_(rule="x" * 6001)
    trial = record.trial.model_copy(update={"candidate": long, "id": "t0100"})
    MlflowTracker.sync(search, [record.model_copy(update={"trial": trial})], None, "", {}, uri, tmp_path / "run")
    run = only(runs_by_trial(client), "t0100")
    file = client.download_artifacts(run.info.run_id, "candidate.json", str(tmp_path))
    assert Candidate.model_validate_json(Path(file).read_text(encoding="utf-8")) == long


def test_syncing_twice_doubles_nothing_and_keeps_the_pick(tmp_path, search, uri, exported, tracked, client):
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


def test_a_trial_whose_writing_was_cut_short_is_written_whole(tmp_path, search, uri, client):
    run = only(runs_by_trial(client), "t0001")
    half = client.create_run(run.info.experiment_id, tags={"autotune.search": "s1", "autotune.trial": "t0050"})
    record = sample_record(50)
    MlflowTracker.sync(search, [record], None, "", {}, uri, tmp_path / "run")
    whole = only(runs_by_trial(client), "t0050")
    assert whole.info.run_id == half.info.run_id
    assert whole.info.status == "FINISHED"
    assert whole.data.metrics["latency_p50_ms"] == pytest.approx(4.0 / 51)


def test_a_later_front_takes_the_tags_off_the_earlier_ones_runs(tmp_path, search, uri, client):
    front = sample_front(search)
    later = front.model_copy(update={"points": front.points[:1], "knee": "t0001"})
    MlflowTracker.sync(search, sample_records(), later, "# Use t0001", {}, uri, tmp_path / "run")
    tags = only(runs_by_trial(client), "t0007").data.tags
    assert (tags["autotune.shown"], tags["autotune.front"], tags["autotune.knee"]) == ("false", "false", "false")
    assert tags["mlflow.runName"] == "t0007"


def test_a_resumed_search_goes_on_in_its_own_run(tmp_path, search, uri, client):
    before = only(runs_by_trial(client), None).info.run_id
    tracker = MlflowTracker(search, uri, tmp_path / "run")
    tracker.record(sample_record(20))
    assert tracker.run_id == before
    assert client.get_run(before).info.status == "RUNNING"
    tracker.close()
    assert client.get_run(before).info.status == "KILLED"


def test_searches_of_one_model_share_an_experiment_and_nothing_else(tmp_path, uri, client):
    other = sample_search(tmp_path / "run", search_id="s2")
    MlflowTracker.sync(other, sample_records(), sample_front(other), "", {}, uri, tmp_path / "run")
    assert len(runs_by_trial(client, "s1")) == len(runs_by_trial(client, "s2")) == 9


def test_nothing_is_picked_until_a_person_picks(tracked):
    assert tracked.picked() == tracked.picked("s1") == []


def test_a_pick_in_the_ui_is_seen_in_its_search_and_in_all(client, tracked):
    run = only(runs_by_trial(client), "t0006")
    client.set_tag(run.info.run_id, "autotune.picked", "Yes, please")
    (picked,) = tracked.picked("s1")
    assert (picked.run_id, picked.search, picked.point) == (run.info.run_id, "s1", "t0001")
    assert picked.experiment == "autotune/digits"
    assert tracked.picked() == [picked]
    assert tracked.picked("s2") == []


def test_picking_another_point_unpicks_the_first(tracked):
    tracked.pick("s1", "t0001")
    tracked.pick("s1", "t0002")
    assert [run.point for run in tracked.picked()] == ["t0002"]


def test_a_point_that_is_not_there_is_refused_with_those_that_are(tracked):
    with pytest.raises(UserError, match="no point 't0009' of search s1") as caught:
        tracked.pick("s1", "t0009")
    assert "baseline, t0001, t0002" in caught.value.remedy


def test_an_alias_gives_back_the_exported_folder_byte_for_byte(tmp_path, tracked, exported):
    tracked.pick("s1", "t0002", alias="production")
    got = tracked.download_model("models:/digits@production", tmp_path / "got")
    assert content(got) == content(exported)
    assert not list(tmp_path.glob(".got-*"))


def test_an_alias_moves_and_a_model_is_registered_once(tmp_path, tracked, client):
    for point in ("t0002", "t0001", "t0002"):
        tracked.pick("s1", point, alias="production")
    assert len(client.search_model_versions("name = 'digits'")) == 2
    assert client.get_model_version_by_alias("digits", "production").version == 1


def test_a_version_can_be_named_by_its_number(tmp_path, tracked, exported):
    tracked.pick("s1", "t0002", alias="production")
    assert content(tracked.download_model("models:/digits/1", tmp_path / "got")) == content(exported)


def test_a_run_gives_back_its_exported_folder(tmp_path, tracked, exported, client):
    run = only(runs_by_trial(client), "t0006")
    assert content(tracked.download(run.info.run_id, tmp_path / "got")) == content(exported)


def test_mlflow_itself_loads_the_registered_model(tracked, uri):
    tracked.pick("s1", "t0002", alias="production")
    script = (
        f"import mlflow, numpy; mlflow.set_tracking_uri({uri!r});"
        "model = mlflow.pyfunc.load_model('models:/digits@production');"
        "print(model.predict({'x': numpy.array([21.0])})['y'].tolist())"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "[42.0]", done.stderr


@pytest.mark.parametrize(
    ("reference", "problem"),
    [
        ("digits@production", "is not a model of MLflow's registry"),
        ("models:/", "is not a model of MLflow's registry"),
        ("models:/digits@nowhere", "not found"),
        ("models:/nothing@production", "not found"),
        ("models:/digits/77", "not found"),
    ],
)
def test_a_model_that_is_not_there_is_a_persons_mistake(tmp_path, tracked, reference, problem):
    with pytest.raises(UserError, match=problem) as caught:
        tracked.download_model(reference, tmp_path / "got")
    assert caught.value.remedy
    assert not (tmp_path / "got").exists()


def test_a_run_off_the_front_has_no_folder(tmp_path, tracked, client):
    run = only(runs_by_trial(client), "t0004")
    with pytest.raises(UserError, match="has no exported folder"):
        tracked.download(run.info.run_id, tmp_path / "got")


def test_a_run_that_is_not_there_is_a_persons_mistake(tmp_path, tracked):
    with pytest.raises(UserError, match="not found"):
        tracked.download("0" * 32, tmp_path / "got")


def test_nothing_is_downloaded_over_a_folder_that_holds_something(tmp_path, tracked, exported, client):
    run = only(runs_by_trial(client), "t0006")
    before = content(exported)
    with pytest.raises(UserError, match="already exists"):
        tracked.download(run.info.run_id, exported)
    assert content(exported) == before


def test_an_alias_that_mlflow_refuses_is_a_persons_mistake(tracked):
    with pytest.raises(UserError):
        tracked.pick("s1", "t0002", alias="v1")
    assert tracked.picked() == []


def test_the_link_opens_the_saved_view(tracked, client):
    experiment = client.get_experiment_by_name("autotune/digits")
    assert "mlflow.sharedViewState.autotune-s1" in experiment.tags
    link = tracked.ui_link("http://127.0.0.1:5000", "s1")
    assert f"/#/experiments/{experiment.experiment_id}/runs?" in link
    assert "workflowType=machine_learning" in link
    assert "viewStateShareKey=autotune-s1" in link


def test_a_link_to_a_search_that_is_not_there_is_refused(tracked):
    with pytest.raises(UserError, match="does not have search s9"):
        tracked.ui_link("http://127.0.0.1:5000", "s9")


def test_the_ui_is_started_on_the_right_store(tracked, uri):
    command = tracked.ui_command(5001)
    assert command[command.index("--backend-store-uri") + 1] == uri
    assert command[command.index("--host") + 1] == "127.0.0.1"


def test_without_an_address_the_store_is_mlflows_default_in_the_current_folder(tmp_path, search, monkeypatch):
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.chdir(tmp_path)
    MlflowTracker.sync(search, [sample_record(0)], None, "", {}, None, tmp_path / "run")
    assert (tmp_path / "mlflow.db").is_file()
    assert (tmp_path / "mlruns").is_dir()


def test_the_environment_names_the_store(tmp_path, search, monkeypatch):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/named.db")
    MlflowTracker.sync(search, [sample_record(0)], None, "", {}, None, tmp_path / "run")
    assert (tmp_path / "named.db").is_file()
    assert MlflowTracker.reader().address() == f"sqlite:///{tmp_path}/named.db"


def test_the_clients_telemetry_is_off(tracked):
    from mlflow.telemetry.utils import is_telemetry_disabled

    assert is_telemetry_disabled()


@pytest.mark.parametrize("uri", ["nothing://x", "postgresql+nothing://127.0.0.1/x"])
def test_an_address_that_is_no_store_is_a_persons_mistake(uri):
    with pytest.raises(UserError, match=re.escape(uri)) as caught:
        MlflowTracker.reader(uri).picked()
    assert all(len(line) < 300 for line in str(caught.value).splitlines())


def test_a_file_that_is_no_database_is_a_persons_mistake(tmp_path):
    (tmp_path / "notes.db").write_text("not a database" * 1000)
    with pytest.raises(UserError, match="file is not a database"):
        MlflowTracker.reader(f"sqlite:///{tmp_path}/notes.db").picked()
