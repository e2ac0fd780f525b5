"""Whole trials on real models: built, opened, checked and measured by onnxruntime, in this test's process."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from autotune import plugins
from autotune.core.assignment import Assignment, SearchContext
from autotune.core.candidate import Candidate
from autotune.core.environment import Environment
from autotune.core.keys import trial_key
from autotune.core.limits import parse_limit
from autotune.core.objective import objective
from autotune.core.plan import Plan
from autotune.core.power import PowerModel, Watts
from autotune.core.trial import Failure, Measurement, SameAs, Trial, TrialRecord
from autotune.core.values import Value
from autotune.core.workload import BUILT_IN
from autotune.data import open_data
from autotune.models import read_model
from autotune.testing import onnx_cases, onnx_models
from autotune_trials.run_trial import run_trial

DIGITS = Path(__file__).parents[2] / "examples/digits"
QUICK = Plan(round_s=0.01, min_rounds=3, max_rounds=6, warmup_limit_s=0.2, phase_limit_s=0.3)
PAIRED = QUICK.model_copy(update={"name": "front", "paired": True, "quality": "confirm"})
POWER = PowerModel(
    name="test",
    idle_w=Watts(typical=1, low=0.5, high=2),
    busy_w=Watts(typical=5, low=3, high=8),
    source="made up for a test",
)

RunTrial = Callable[..., TrialRecord]


def context_of(folder: Path, model: Path, data: str | None = None, metric: str | None = None) -> SearchContext:
    facts = read_model(model)
    backend = plugins.backend("onnxruntime")
    device = backend.devices()[0]
    workload = BUILT_IN["default"]
    space = plugins.space_function("onnx")(facts, [backend.offers(facts, device)], workload)
    return SearchContext(
        folder=folder,
        model=facts,
        devices=(device,),
        workload=workload,
        objectives=(objective("latency_p50"), objective("throughput")),
        data=open_data(data, facts, 0),
        metric=metric,
        baseline=space.baseline,
        reference=space.reference,
        build_parameters=tuple(one.name for one in space.parameters if one.affects == "build"),
        power=POWER,
        environment=Environment(cpu_model="", isa=device.isa, cpus=1, memory_bytes=None, os="", python=""),
    )


def run(
    context: SearchContext,
    candidate: Candidate | None = None,
    plan: Plan = QUICK,
    id: str = "t0001",
    bar: tuple[dict[str, Value], ...] = (),
) -> TrialRecord:
    candidate = candidate or context.baseline
    key = trial_key(context, candidate, "cpu", plan, 0)
    trial = Trial(id=id, key=key, parent="t0000", candidate=candidate, device="cpu", plan=plan)
    work = context.folder / "work" / f"{id}.json"
    work.parent.mkdir(parents=True, exist_ok=True)
    return run_trial(Assignment(trial=trial, context=context, bar=bar), work)


def measured(record: TrialRecord) -> Measurement:
    assert isinstance(record.outcome, Measurement), record.outcome
    return record.outcome


@pytest.fixture
def digits(tmp_path: Path) -> SearchContext:
    return context_of(tmp_path, DIGITS / "model.onnx", str(DIGITS / "test.npz"), "top1")


def int8(context: SearchContext) -> Candidate:
    return context.baseline.with_(precision="int8_dynamic", int8_per_channel=True)


def test_the_baseline_has_every_metric(digits: SearchContext) -> None:
    record = run(digits)
    metrics = measured(record).metrics
    wanted = {"latency_p50", "throughput", "energy", "memory", "size", "load_time", "build_time"}
    assert wanted | {"fidelity", "accuracy", "accuracy_drop"} <= metrics.keys()
    assert metrics["accuracy"].value == pytest.approx(0.98, abs=0.03)
    assert metrics["accuracy_drop"].value == 0
    assert metrics["energy"].provenance == "estimated"
    assert metrics["size"].provenance == "measured"
    assert record.cost.total_s <= record.finished_s - record.started_s + 0.1
    with np.load(digits.folder / str(measured(record).samples)) as samples:
        assert samples["single_stream_latency_s"].size > 0


def test_energy_off_leaves_the_axis_out(digits: SearchContext) -> None:
    off = digits.model_copy(update={"energy": "off", "power": None})
    assert not {"energy", "power"} & measured(run(off)).metrics.keys()


@pytest.fixture
def powercap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine with an energy counter: a fake powercap tree, whose package uses 20 W."""
    rapl = pytest.importorskip("zeus.device.cpu.rapl")
    package = tmp_path / "intel-rapl" / "intel-rapl:0"
    package.mkdir(parents=True)
    (package / "name").write_text("package-0")
    (package / "max_energy_range_uj").write_text("262143328850")
    ended = threading.Event()

    def count() -> None:
        while not ended.is_set():
            (package / "fresh").write_text(str(int(time.perf_counter() * 20e6) % 262143328850))
            (package / "fresh").replace(package / "energy_uj")
            ended.wait(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    while not (package / "energy_uj").exists():
        time.sleep(0.001)
    monkeypatch.setattr(rapl, "RAPL_DIR", str(package.parent))
    monkeypatch.delenv("ZEUSD_SOCK_PATH", raising=False)
    rapl.rapl_is_available.cache_clear()
    yield
    ended.set()
    thread.join()
    rapl.rapl_is_available.cache_clear()


@pytest.mark.usefixtures("powercap")
@pytest.mark.parametrize("energy", ["auto", "counter"])
def test_energy_is_measured_where_there_is_a_counter(digits: SearchContext, energy: str) -> None:
    counted = digits.model_copy(update={"energy": energy, "power": None})
    outcome = measured(run(counted, int8(digits).with_(batch_size=8), PAIRED))
    assert outcome.metrics["energy"].known
    assert outcome.metrics["energy"].provenance == "measured"
    assert outcome.metrics["power"].value == pytest.approx(20, rel=0.3)
    assert outcome.ratios["energy"].provenance == "measured"


@pytest.mark.usefixtures("powercap")
def test_energy_off_is_off_beside_a_counter_too(digits: SearchContext) -> None:
    off = digits.model_copy(update={"energy": "off", "power": None})
    assert not {"energy", "power"} & measured(run(off)).metrics.keys()


def test_a_quantised_candidate_is_built_once_and_keeps_what_was_changed(digits: SearchContext) -> None:
    first, second = measured(run(digits, int8(digits))), measured(run(digits, int8(digits).with_(batch_size=4)))
    assert first.artifact == second.artifact
    assert first.changed
    assert first.metrics["build_time"].known
    assert not second.metrics["build_time"].known
    assert first.metrics["accuracy"] == second.metrics["accuracy"]
    assert len(list((digits.folder / "quality").iterdir())) == 1


def test_a_paired_trial_has_ratios_to_the_baseline(digits: SearchContext) -> None:
    outcome = measured(run(digits, int8(digits).with_(batch_size=8), PAIRED))
    assert {"latency_p50", "throughput", "energy", "memory", "size"} <= outcome.ratios.keys()
    assert outcome.ratios["size"].value is not None
    assert outcome.ratios["size"].value < 1
    assert outcome.metrics["accuracy"].n == len(digits.data.split.confirm)


def test_sessions_that_do_not_fit_beside_each_other_are_measured_in_turns(
    digits: SearchContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autotune_trials.in_turns.has_room", lambda size_bytes, limit_bytes: False)
    outcome = measured(run(digits, int8(digits), PAIRED))
    assert {"latency_p50", "throughput", "energy", "memory", "size"} <= outcome.ratios.keys()
    assert str(outcome.ratios["latency_p50"].basis).startswith("bracketed")
    assert outcome.ratios["energy"].provenance == "estimated"
    assert any("did not fit beside it" in note for note in outcome.notes)


def test_a_certainly_broken_quality_limit_saves_the_measuring(digits: SearchContext) -> None:
    limited = digits.model_copy(update={"limits": (parse_limit("accuracy_drop<=-0.5"),)})
    outcome = measured(run(limited))
    assert outcome.stopped == "limit"
    assert "latency_p50" not in outcome.metrics
    assert outcome.metrics["size"].known
    assert outcome.samples is None


def test_a_certainly_dominated_candidate_is_stopped(digits: SearchContext) -> None:
    unbeatable = {
        "latency_p50": Value(value=1e-9, unit="s", low=1e-9, high=1e-9),
        "throughput": Value(value=1e12, unit="1/s", low=1e12, high=1e12),
    }
    outcome = measured(run(digits, bar=(unbeatable,)))
    assert outcome.stopped == "dominated"
    assert outcome.metrics["accuracy"].n == 200
    assert measured(run(digits)).metrics["accuracy"].n == len(digits.data.split.select)


def test_without_data_generated_inputs_give_fidelity(tmp_path: Path) -> None:
    context = context_of(tmp_path / "run", onnx_models.mlp(tmp_path / "m.onnx"))
    metrics = measured(run(context, int8(context))).metrics
    assert "accuracy" not in metrics
    assert metrics["fidelity"].value == pytest.approx(1, abs=0.1)
    assert "generated" in str(metrics["fidelity"].basis)


def test_an_unmodified_model_that_does_not_run_says_so(tmp_path: Path) -> None:
    context = context_of(tmp_path / "run", onnx_models.mlp(tmp_path / "m.onnx"))
    (tmp_path / "m.onnx").write_bytes(b"damaged since")
    outcome = run(context).outcome
    assert isinstance(outcome, Failure)
    assert outcome.stage in {"build", "open"}
    assert "\n" not in outcome.message


def test_a_full_disk_is_a_failure_of_its_stage(digits: SearchContext, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("autotune_trials.measuring.write_arrays", full)
    outcome = run(digits).outcome
    assert isinstance(outcome, Failure)
    assert outcome.cause == "disk"


def journal(context: SearchContext, record: TrialRecord) -> None:
    with (context.folder / "journal.jsonl").open("a") as file:
        file.write(record.to_json() + "\n")


def same_bytes(context: SearchContext) -> Candidate:
    """Another candidate, whose artifact is the baseline's."""
    return context.baseline.with_(int8_per_channel=True)


def test_the_same_bytes_run_alike_are_measured_once(digits: SearchContext) -> None:
    first = run(digits, id="t0001")
    journal(digits, first)
    twin = run(digits, same_bytes(digits), id="t0002").outcome
    assert isinstance(twin, SameAs)
    assert twin.trial == "t0001"
    other = measured(run(digits, same_bytes(digits).with_(batch_size=4), id="t0003"))
    assert other.artifact == measured(first).artifact


def test_what_must_be_fresh_is_measured_although_it_has_a_twin(digits: SearchContext) -> None:
    journal(digits, run(digits, id="t0001"))
    assert measured(run(digits, same_bytes(digits), PAIRED, id="f0001")).ratios


def test_a_twin_that_the_journal_lost_is_none(digits: SearchContext) -> None:
    lost = run(digits, id="t0001")
    assert isinstance(run(digits, same_bytes(digits), id="t0002").outcome, Measurement)
    journal(digits, lost.model_copy(update={"outcome": Failure(stage="timeout", cause="timeout", message="late")}))
    assert isinstance(run(digits, same_bytes(digits), id="t0003").outcome, Measurement)


def test_int8_where_nothing_can_be_quantised_is_the_same_as_the_parent(tmp_path: Path) -> None:
    model = onnx_cases.matmul_in_branch(tmp_path / "m.onnx")
    context = context_of(tmp_path / "run", model)
    outcome = run(context, int8(context)).outcome
    assert isinstance(outcome, SameAs)
    assert outcome.trial == "t0000"
