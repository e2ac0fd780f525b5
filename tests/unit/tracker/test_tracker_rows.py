from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.core.candidate import Candidate
from autotune.core.objective import objective
from autotune.core.trial import Failure, Measurement, SameAs
from autotune.core.values import Value
from autotune.testing.sample_search import sample_record, sample_search
from autotune_trials.mlflow_names import PARAMETER_LENGTH, is_picked, safe_name
from autotune_trials.mlflow_rows import metrics_of, parameters_of, provenance_of, row_of


@pytest.fixture
def search(tmp_path):
    return sample_search(tmp_path / "run")


def test_metrics_are_in_the_units_people_read_and_named_so(search):
    metrics = row_of(sample_record(0), search).metrics
    assert metrics["latency_p50_ms"] == pytest.approx(4.0)
    assert metrics["energy_mj"] == pytest.approx(20.0)
    assert metrics["throughput_per_s"] == 250.0


def test_only_objectives_have_intervals():
    values = {name: Value(value=1e6, unit="bytes", low=1e6, high=2e6) for name in ("memory", "size")}
    assert metrics_of(values, (objective("memory"),)) == {
        "memory_mb": 1.0,
        "interval/memory_mb_low": 1.0,
        "interval/memory_mb_high": 2.0,
        "size_mb": 1.0,
    }


def test_an_unknown_metric_is_a_tag_and_no_number(search):
    row = row_of(sample_record(0), search)
    assert "memory_mb" not in row.metrics
    assert row.tags["autotune.unknown"] == "memory_mb"


@given(st.floats(allow_nan=True, allow_infinity=True))
def test_what_is_logged_is_always_finite(number):
    value = Value(value=number, unit="s", low=number, high=number)
    logged = metrics_of({"latency_p50": value}, (objective("latency_p50"),))
    assert all(math.isfinite(number) for number in logged.values())


def test_provenance_names_each_metric():
    values = {"energy": Value(value=1, unit="J", provenance="estimated"), "latency_p50": Value(value=1, unit="s")}
    assert provenance_of(values) == {"autotune.provenance": "estimated: energy_mj; measured: latency_p50_ms"}


def test_an_absent_conditional_parameter_is_a_dash(search):
    assert parameters_of(Candidate(runtime="onnxruntime", precision="fp32", threads=2, spinning=True), search) == {
        "runtime": "onnxruntime",
        "precision": "fp32",
        "block": "–",
        "threads": "2",
        "spinning": "true",
    }


def test_a_parameter_of_6001_characters_is_whole_in_an_artifact_and_says_so(search):
    record = sample_record(1)
    long = record.trial.candidate.with_(rule="x" * (PARAMETER_LENGTH + 1))
    record = record.model_copy(update={"trial": record.trial.model_copy(update={"candidate": long})})
    row = row_of(record, search)
    assert len(row.parameters["rule"]) == PARAMETER_LENGTH
    assert row.parameters["rule"].endswith("(6,001 characters: whole in candidate.json)")
    assert Candidate.model_validate_json(row.files["candidate.json"]) == long


def test_a_parameter_of_6000_characters_is_no_artifact(search):
    record = sample_record(1)
    fitting = record.trial.candidate.with_(rule="x" * PARAMETER_LENGTH)
    record = record.model_copy(update={"trial": record.trial.model_copy(update={"candidate": fitting})})
    row = row_of(record, search)
    assert row.parameters["rule"] == "x" * PARAMETER_LENGTH
    assert row.files == {}


@pytest.mark.parametrize(
    ("outcome", "status", "ended"),
    [
        (Measurement(metrics={}), "ok", "FINISHED"),
        (Failure(stage="open", cause="unsupported", message="no"), "failed:open/unsupported", "FAILED"),
        (SameAs(trial="t0001", reason="nothing changed"), "same_as", "FINISHED"),
        (Measurement(metrics={"fidelity": Value(value=0.5, unit="1")}), "infeasible", "FINISHED"),
        (Measurement(metrics={"fidelity": Value(value=0.98, unit="1", low=0.97, high=0.99)}), "ok", "FINISHED"),
    ],
)
def test_status_says_how_a_trial_ended(tmp_path, outcome, status, ended):
    row = row_of(sample_record(1, outcome), sample_search(tmp_path, limits=("fidelity>=0.98",)))
    assert (row.tags["autotune.status"], row.ended) == (status, ended)


def test_a_failure_is_told_in_the_runtimes_own_words(search):
    row = row_of(sample_record(1, Failure(stage="build", cause="other", message="a\nb")), search)
    assert row.note == "**build failed (other)**\n\n    a\n    b"


def test_a_very_long_failure_is_cut_and_says_so(search):
    row = row_of(sample_record(1, Failure(stage="build", cause="other", message="x" * 100_000)), search)
    assert len(row.note) < 8000
    assert "the run folder's journal has it all" in row.note


@pytest.mark.parametrize("value", ["no", "No", "FALSE", "0", "", " no "])
def test_no_false_and_0_are_no_pick(value):
    assert not is_picked(value)


@pytest.mark.parametrize("value", ["yes", "true", "1", "prod", "x"])
def test_anything_else_is_a_pick(value):
    assert is_picked(value)


def test_a_run_without_the_tag_is_not_picked():
    assert not is_picked(None)


def test_a_name_that_mlflow_refuses_is_made_safe():
    assert safe_name("acme::block*size") == "acme__block_size"
