"""A real local store with one whole search in it."""

from __future__ import annotations

import json
import shutil

import pytest

from autotune.testing.sample_search import sample_front, sample_records, sample_search
from autotune_trials.mlflow_tracker import MlflowTracker

RUN_PY = """
class Model:
    def run(self, inputs):
        return {"y": inputs["x"] * 2}


def load(folder):
    assert (folder / "model.onnx").is_file()
    return Model()
"""


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tracked")


@pytest.fixture(scope="session")
def exported(folder):
    deploy = folder / "deploy"
    (deploy / "weights").mkdir(parents=True)
    versions = {"onnxruntime": "1.32.0", "numpy": "2.0.0"}
    (deploy / "config.json").write_text(json.dumps({"environment": {"versions": versions}, "session": {}}))
    (deploy / "model.onnx").write_bytes(bytes(range(256)) * 40)
    (deploy / "weights" / "model.data").write_bytes(b"\r\n\x00\xff" * 1000)
    (deploy / "run.py").write_text(RUN_PY)
    return deploy


@pytest.fixture(scope="session")
def search(folder):
    (folder / "run").mkdir()
    return sample_search(folder / "run")


@pytest.fixture(scope="session")
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
def sync_again(folder, search, exported, uri):
    """Show the search once more, as `autotune sync` and a resumed search do."""
    exports = {"t0001": exported, "t0002": exported}
    shown = (search, sample_records(), sample_front(search), "# Use t0002", exports, uri, folder / "run")
    return lambda: MlflowTracker.sync(*shown)


@pytest.fixture
def client(tracked, uri):
    from mlflow import MlflowClient

    return MlflowClient(uri)


def _runs_by_trial(client, search_id="s1"):
    experiment = client.get_experiment_by_name("autotune/digits")
    found = client.search_runs([experiment.experiment_id], f"tags.`autotune.search` = '{search_id}'")
    by_trial = {}
    for run in found:
        by_trial.setdefault(run.data.tags.get("autotune.trial"), []).append(run)
    return by_trial


def _only(runs, trial):
    (run,) = runs[trial]
    return run


def _content(folder):
    return {file.relative_to(folder): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.fixture
def runs_by_trial():
    """A search's runs by their trial's id; None: the search's own."""
    return _runs_by_trial


@pytest.fixture
def only():
    """The one run of a trial."""
    return _only


@pytest.fixture
def content():
    """Every file of a folder, by its path there."""
    return _content
