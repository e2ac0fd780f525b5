"""The tracker on a real tracking server, and on one that is away."""

from __future__ import annotations

import contextlib
import json
import socket
import threading

import pytest

from autotune.core.errors import UserError
from autotune.testing.sample_search import sample_front, sample_record, sample_records, sample_search
from autotune_trials.mlflow_tracker import MlflowTracker

# mlflow 3.17 under SQLAlchemy 2.1
pytestmark = pytest.mark.filterwarnings("ignore:The ``noload`` loader strategy is deprecated")


def free_port():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


@pytest.fixture
def exported(tmp_path):
    folder = tmp_path / "deploy"
    (folder / "weights").mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps({"environment": {"versions": {}}, "session": {}}))
    (folder / "model.onnx").write_bytes(bytes(range(256)) * 40)
    (folder / "weights" / "model.data").write_bytes(b"\r\n\x00\xff" * 1000)
    (folder / "run.py").write_text("")
    return folder


class Line:
    """A way to the server that can be cut: forwards connections until the context is left."""

    def __init__(self, server, port=0):
        self._server = ("127.0.0.1", int(server.rpartition(":")[2]))
        self._listening = socket.create_server(("127.0.0.1", port))
        self._open = []
        self.port = self._listening.getsockname()[1]
        self.uri = f"http://127.0.0.1:{self.port}"

    def __enter__(self):
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        for connection in [self._listening, *self._open]:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                near, far = self._listening.accept()[0], socket.create_connection(self._server)
                self._open += [near, far]
                for source, target in ((near, far), (far, near)):
                    threading.Thread(target=self._forward, args=(source, target), daemon=True).start()

    def _forward(self, source, target):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)


def runs_of(uri, experiment):
    from mlflow import MlflowClient

    client = MlflowClient(uri)
    return len(client.search_runs([client.get_experiment_by_name(experiment).experiment_id]))


def models_of(uri, experiment):
    from mlflow import MlflowClient

    client = MlflowClient(uri)
    return len(client.search_logged_models([client.get_experiment_by_name(experiment).experiment_id]))


def content(folder):
    return {file.relative_to(folder): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_a_search_is_tracked_picked_and_downloaded_through_a_server(tmp_path, server, exported):
    search = sample_search(tmp_path / "run", stem="served")
    tracker = MlflowTracker(search, server, tmp_path / "run")
    assert tracker.ready()
    for record in sample_records():
        tracker.record(record)
    tracker.finish(sample_front(search), "# Use t0002", {"t0001": exported, "t0002": exported})
    tracker.close()
    assert not tracker.away

    reader = MlflowTracker.reader(server)
    assert reader.picked("s1") == []
    picked = reader.pick("s1", "t0002", alias="production")
    assert reader.picked("s1") == [picked]
    assert picked in reader.picked()
    assert content(reader.download(picked.run_id, tmp_path / "by-run")) == content(exported)
    assert content(reader.download_model("models:/served@production", tmp_path / "by-alias")) == content(exported)
    reader.pick("s1", "t0002", alias="production")
    with pytest.raises(UserError, match="not found"):
        reader.download_model("models:/served/2", tmp_path / "second")
    assert reader.ui_command() == []
    assert reader.ui_link(server, "s1").startswith(f"{server}/#/experiments/")


def test_syncing_twice_to_a_server_doubles_nothing(tmp_path, server, exported):
    search = sample_search(tmp_path / "run", search_id="twice", stem="twice")
    for _ in range(2):
        MlflowTracker.sync(
            search, sample_records(), sample_front(search), "", {"t0001": exported}, server, tmp_path / "run"
        )
    assert runs_of(server, "autotune/twice") == 1 + len(sample_records())
    assert models_of(server, "autotune/twice") == 1


@pytest.fixture
def nowhere():
    return f"http://127.0.0.1:{free_port()}"


def test_with_the_server_away_the_search_goes_on_and_one_line_says_so(tmp_path, nowhere):
    said = []
    search = sample_search(tmp_path / "run")
    tracker = MlflowTracker(search, nowhere, tmp_path / "run", said.append)
    for record in sample_records():
        tracker.record(record)
    tracker.finish(sample_front(search), "", {})
    tracker.close()
    tracker.close()
    assert tracker.away
    assert not tracker.ready()
    assert (tracker.uri, tracker.run_id) == (None, None)
    (line,) = said
    assert line.startswith("MLflow is away (")
    assert "\n" not in line
    assert f"autotune sync {tmp_path / 'run'}" in line


def test_a_server_that_goes_away_in_the_middle_is_filled_again_by_sync(tmp_path, server):
    search, said = sample_search(tmp_path / "run", stem="middle"), []
    with Line(server) as line:
        tracker = MlflowTracker(search, line.uri, tmp_path / "run", said.append)
        tracker.record(sample_record(0))
        assert tracker.ready()
    for record in sample_records()[1:]:
        tracker.record(record)
    tracker.close()
    assert tracker.away
    assert len(said) == 1
    with Line(server, line.port) as again:
        MlflowTracker.sync(search, sample_records(), sample_front(search), "", {}, again.uri, tmp_path / "run")
    assert runs_of(server, "autotune/middle") == 1 + len(sample_records())


def test_a_silent_server_holds_no_record_up(tmp_path, monkeypatch):
    """It takes connections and never answers."""
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", "1")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    said = []
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(64)
        tracker = MlflowTracker(
            sample_search(tmp_path / "run"),
            f"http://127.0.0.1:{silent.getsockname()[1]}",
            tmp_path / "run",
            said.append,
        )
        tracker.record(sample_record(0))
        waited_for = len(said)
        tracker.close()
    assert waited_for == 0
    assert tracker.away
    assert len(said) == 1


def test_syncing_to_a_server_that_is_away_is_a_persons_mistake(tmp_path, nowhere):
    with pytest.raises(UserError, match=nowhere) as caught:
        MlflowTracker.sync(sample_search(tmp_path), sample_records(), None, "", {}, nowhere, tmp_path)
    assert caught.value.remedy


def test_asking_a_server_that_is_away_is_a_persons_mistake(nowhere):
    with pytest.raises(UserError, match=nowhere) as caught:
        MlflowTracker.reader(nowhere).picked()
    assert len(str(caught.value).splitlines()) == 2
