"""The whole path of a user, through the command line, on real parts: search → front → export → verify → MLflow."""

from __future__ import annotations

import filecmp
import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

Command = Callable[..., str]
Journal = Callable[[Path], list[dict]]

EXAMPLE = Path(__file__).parents[2] / "examples" / "digits"
SEARCH = ["search", str(EXAMPLE / "model.onnx"), "--data", str(EXAMPLE / "test.npz"), "--metric", "top1"]


@pytest.fixture(scope="module")
def autotune(environment: Mapping[str, str]) -> Callable[..., str]:
    def run(*arguments: str, cwd: Path, codes: tuple[int, ...] = (0,), timeout_s: float = 150) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "autotune", *arguments],
            cwd=cwd,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            env=environment,
            check=False,
        )
        assert done.returncode in codes, done.stderr[-3000:] + done.stdout[-3000:]
        return done.stdout

    return run


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("user")


@pytest.fixture(scope="module")
def run(place: Path, autotune: Command) -> Path:
    """A search by Ray workers, tracked in a local store."""
    out = autotune(*SEARCH, "--trials", "3", "--budget", "45s", "-o", "run", "--json", cwd=place)
    assert json.loads(out)["schema"] == "autotune/front/1"
    return place / "run"


def test_search_leaves_a_checked_front_with_the_baseline_measured_first(run: Path, journal: Journal) -> None:
    records = journal(run)
    assert records[0]["trial"]["purpose"] == "baseline"
    front = json.loads((run / "front.json").read_text())
    assert front["kind"] == "real"
    assert front["quality"] == "accuracy"
    assert front["points"]
    assert {objective["metric"] for objective in front["objectives"]} >= {"latency_p50", "throughput", "accuracy"}
    provenances = {name: value["provenance"] for name, value in front["baseline"]["metrics"].items()}
    assert provenances["latency_p50"] == "measured"
    assert provenances.get("energy", "estimated") == "estimated"


def test_every_point_called_better_has_a_paired_ratio(run: Path) -> None:
    front = json.loads((run / "front.json").read_text())
    for point in front["points"]:
        if point["id"] != "baseline" and point["trial"].startswith("f"):
            assert point["ratios"]["latency_p50"]["low"] is not None


def test_front_prints_an_answer_and_the_same_json(place: Path, run: Path, autotune: Command) -> None:
    assert "original" in autotune("front", "run", cwd=place)
    assert json.loads(autotune("front", "run", "--json", cwd=place)) == json.loads((run / "front.json").read_text())


def test_a_picked_point_is_exported_runs_alone_and_is_kept(place: Path, run: Path, autotune: Command) -> None:
    autotune("pick", "run", "knee", cwd=place)
    autotune("export", "--picked", "-o", "deploy", cwd=place)
    alone = subprocess.run(
        [sys.executable, "-c", _ALONE, "deploy/run.py"],
        cwd=place,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert alone.returncode == 0, alone.stderr
    # what it says of speed depends on who else uses the machine; what it says of the files and the outputs does not
    report = json.loads(autotune("verify", "deploy", "--json", "--budget", "4s", cwd=place, codes=(0, 1, 4)))
    verdicts = {entry["metric"]: entry["verdict"] for entry in report["compared"]}
    assert {verdicts["outputs"], verdicts["fidelity"], verdicts["size"]} == {"kept"}


_ALONE = """
import runpy, sys
sys.argv = sys.argv[1:]
before = set(sys.modules)
runpy.run_path(sys.argv[0], run_name="__main__")
used = {name.partition(".")[0] for name in set(sys.modules) - before}
sys.exit(",".join(used & {"autotune", "onnx", "pydantic", "ray", "mlflow", "optuna", "scipy"}))
"""


def test_mlflow_holds_one_run_per_trial_and_the_fronts_tags(place: Path, run: Path, journal: Journal) -> None:
    import mlflow

    client = mlflow.MlflowClient(f"sqlite:///{place / 'mlflow.db'}")
    (experiment,) = client.search_experiments(filter_string="name = 'autotune/model'")
    runs = client.search_runs([experiment.experiment_id], max_results=1000)
    trials = [one.data.tags["autotune.trial"] for one in runs if "autotune.trial" in one.data.tags]
    assert sorted(trials) == sorted(record["trial"]["id"] for record in journal(run))
    front = json.loads((run / "front.json").read_text())
    tagged = {one.data.tags["autotune.point"] for one in runs if one.data.tags.get("autotune.front") == "true"}
    assert tagged == {point["id"] for point in front["points"]}


def test_a_registered_alias_exports_the_same_folder_on_a_machine_with_the_store_alone(
    place: Path, run: Path, autotune: Command
) -> None:
    autotune("pick", "run", "knee", "--alias", "champion", cwd=place)
    store = f"sqlite:///{place / 'mlflow.db'}"
    autotune("export", "--picked", "-o", "picked", "--tracking-uri", store, cwd=place)
    autotune("export", "--model", "models:/model@champion", "-o", "champion", "--tracking-uri", store, cwd=place)
    compared = filecmp.dircmp(place / "picked", place / "champion")
    assert not [*compared.left_only, *compared.right_only, *compared.diff_files]
    assert compared.common_files


def test_sync_into_another_store_shows_the_same_search_once(
    place: Path, run: Path, autotune: Command, journal: Journal
) -> None:
    import mlflow

    store = f"sqlite:///{place / 'other.db'}"
    for _ in range(2):
        autotune("sync", "run", "--tracking-uri", store, cwd=place)
    client = mlflow.MlflowClient(store)
    (experiment,) = client.search_experiments(filter_string="name = 'autotune/model'")
    runs = client.search_runs([experiment.experiment_id], max_results=1000)
    assert len([one for one in runs if "autotune.trial" in one.data.tags]) == len(journal(run))


def test_the_same_search_can_be_asked_for_again_from_its_file(place: Path, run: Path, autotune: Command) -> None:
    earlier = json.loads((run / "search.json").read_text())
    again = json.loads(autotune("search", "--from", "run/search.json", "--dry-run", "--json", cwd=place))
    for same in ("space", "objectives", "limits", "budget_s", "max_trials", "seed", "data", "metric", "environment"):
        assert again[same] == earlier[same]
    assert again["id"] != earlier["id"]
    assert again["context"]["folder"] != earlier["context"]["folder"]
