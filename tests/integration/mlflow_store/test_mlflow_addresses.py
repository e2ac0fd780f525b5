"""Where the store is, and the way to its pages."""

from __future__ import annotations

import os
import re

import pytest

from autotune.core.errors import UserError
from autotune.testing.sample_search import sample_record
from autotune_trials.mlflow_tracker import MlflowTracker

# mlflow 3.17 under SQLAlchemy 2.1
pytestmark = pytest.mark.filterwarnings("ignore:The ``noload`` loader strategy is deprecated")


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


def test_the_ui_runs_no_background_jobs_beside_what_is_measured(tracked):
    assert tracked.ui_command(5001)
    assert os.environ["MLFLOW_SERVER_ENABLE_JOB_EXECUTION"] == "false"


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


def test_a_database_in_a_folder_that_is_not_there_is_refused_at_once(tmp_path):
    with pytest.raises(UserError, match="does not exist or cannot be written"):
        MlflowTracker.reader(f"sqlite:///{tmp_path}/gone/mlflow.db").picked()
