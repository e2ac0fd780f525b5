"""Gates kept in a real MLflow store."""

from __future__ import annotations

from pathlib import Path

import pytest

from autotune.api.gate_history import keep_gate
from autotune.core.errors import UserError
from autotune.core.values import Value
from autotune.gate.verdict import Compared, GateReport

# mlflow 3.17 under SQLAlchemy 2.1
pytestmark = pytest.mark.filterwarnings("ignore:The ``noload`` loader strategy is deprecated")

REPORT = GateReport(
    verdict="failed",
    model="digits",
    head="digits.onnx",
    baseline="baseline",
    compared=(
        Compared(
            metric="latency_p50",
            standing="worse",
            loss=Value(value=0.2, unit="1", low=0.18, high=0.22),
            head=Value(value=6e-3, unit="s"),
            reason="because " * 1200,
        ),
    ),
)


def test_a_gate_is_a_run_of_its_own_experiment(tmp_path: Path) -> None:
    import mlflow

    uri = f"sqlite:///{tmp_path}/mlflow.db"
    run_id = keep_gate(REPORT, uri)
    client = mlflow.MlflowClient(uri)
    run = client.get_run(run_id)
    assert client.get_experiment(run.info.experiment_id).name == "autotune-gate/digits"
    assert run.data.metrics["latency_p50_loss"] == pytest.approx(0.2)
    assert run.data.metrics["latency_p50_loss_low"] == pytest.approx(0.18)
    assert run.data.metrics["latency_p50_ms"] == pytest.approx(6.0)
    assert run.data.tags["autotune.gate"] == "failed"
    assert [file.path for file in client.list_artifacts(run_id)] == ["gate.md"]
    whole = Path(client.download_artifacts(run_id, "gate.md", str(tmp_path))).read_text()
    assert whole.count("because") == 1200
    assert run.data.tags["mlflow.note.content"].endswith("in gate.md")


def test_a_store_that_is_away_is_the_persons_to_mend(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="MLflow"):
        keep_gate(REPORT, f"sqlite:////proc/none/{tmp_path.name}/mlflow.db")
