"""What people pick, and what comes back of it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from autotune.core.errors import UserError

# mlflow 3.17 under SQLAlchemy 2.1
pytestmark = pytest.mark.filterwarnings("ignore:The ``noload`` loader strategy is deprecated")


def test_nothing_is_picked_until_a_person_picks(tracked):
    assert tracked.picked() == tracked.picked("s1") == []


def test_a_pick_in_the_ui_is_seen_in_its_search_and_in_all(client, tracked, runs_by_trial, only):
    run = only(runs_by_trial(client), "t0006")
    client.set_tag(run.info.run_id, "autotune.picked", "Yes, please")
    (picked,) = tracked.picked("s1")
    assert (picked.run_id, picked.search, picked.point) == (run.info.run_id, "s1", "t0001")
    assert picked.experiment == "autotune/digits"
    assert tracked.picked() == [picked]
    assert tracked.picked("s2") == []


def test_a_star_in_a_runs_name_is_a_pick_and_stays_when_the_front_is_shown_again(
    client, tracked, runs_by_trial, only, sync_again
):
    run = only(runs_by_trial(client), "t0006")
    client.update_run(run.info.run_id, name="*")
    assert [one.point for one in tracked.picked("s1")] == ["t0001"]
    sync_again()
    assert client.get_run(run.info.run_id).info.run_name == "t0001 · front *"
    tracked.pick("s1", "t0002")
    assert client.get_run(run.info.run_id).info.run_name == "t0001 · front"
    assert [one.point for one in tracked.picked("s1")] == ["t0002"]


def test_picking_another_point_unpicks_the_first(tracked):
    tracked.pick("s1", "t0001")
    tracked.pick("s1", "t0002")
    assert [run.point for run in tracked.picked()] == ["t0002"]


def test_a_point_that_is_not_there_is_refused_with_those_that_are(tracked):
    with pytest.raises(UserError, match="no point 't0009' of search s1") as caught:
        tracked.pick("s1", "t0009")
    assert "baseline, t0001, t0002" in caught.value.remedy


def test_an_alias_gives_back_the_exported_folder_byte_for_byte(tmp_path, tracked, exported, content):
    tracked.pick("s1", "t0002", alias="production")
    got = tracked.download_model("models:/digits@production", tmp_path / "got")
    assert content(got) == content(exported)
    assert not list(tmp_path.glob(".got-*"))


def test_an_alias_moves_and_a_model_is_registered_once(tmp_path, tracked, client):
    for point in ("t0002", "t0001", "t0002"):
        tracked.pick("s1", point, alias="production")
    assert len(client.search_model_versions("name = 'digits'")) == 2
    assert client.get_model_version_by_alias("digits", "production").version == 1


def test_a_version_can_be_named_by_its_number(tmp_path, tracked, exported, content):
    tracked.pick("s1", "t0002", alias="production")
    assert content(tracked.download_model("models:/digits/1", tmp_path / "got")) == content(exported)


def test_a_run_gives_back_its_exported_folder(tmp_path, tracked, exported, client, runs_by_trial, only, content):
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


def test_a_run_off_the_front_has_no_folder(tmp_path, tracked, client, runs_by_trial, only):
    run = only(runs_by_trial(client), "t0004")
    with pytest.raises(UserError, match="has no exported folder"):
        tracked.download(run.info.run_id, tmp_path / "got")


def test_a_run_that_is_not_there_is_a_persons_mistake(tmp_path, tracked):
    with pytest.raises(UserError, match="not found"):
        tracked.download("0" * 32, tmp_path / "got")


def test_nothing_is_downloaded_over_a_folder_that_holds_something(
    tmp_path, tracked, exported, client, runs_by_trial, only, content
):
    run = only(runs_by_trial(client), "t0006")
    before = content(exported)
    with pytest.raises(UserError, match="already exists"):
        tracked.download(run.info.run_id, exported)
    assert content(exported) == before


def test_an_alias_that_mlflow_refuses_is_a_persons_mistake(tracked):
    with pytest.raises(UserError):
        tracked.pick("s1", "t0002", alias="v1")
    assert tracked.picked() == []


def test_a_model_whose_name_holds_quotes_is_registered_once(tracked, uri, client, runs_by_trial, only):
    from autotune_trials.mlflow_store import Store

    name, run_id = """it's a "model\"""", only(runs_by_trial(client), "t0006").info.run_id
    store = Store(uri)
    versions = [store.register(name, "production", store.model_of(run_id), run_id) for _ in range(2)]
    assert versions == ["1", "1"]
