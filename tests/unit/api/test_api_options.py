"""Options that no search could satisfy are refused before it begins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autotune.api.labels import refuse_unfit_labels
from autotune.api.options import read_limits, refuse_unknown_choices
from autotune.api.settings import SearchSettings
from autotune.core.dataset import DataFacts
from autotune.core.errors import UserError
from autotune.core.workload import BUILT_IN
from autotune.data import open_data
from autotune.models import read_model
from autotune.testing import onnx_models


@pytest.fixture(scope="module")
def unlabelled(tmp_path_factory: pytest.TempPathFactory) -> DataFacts:
    model = read_model(onnx_models.mlp(tmp_path_factory.mktemp("options") / "m.onnx"))
    return open_data(None, model, 0)


@pytest.mark.parametrize(
    "limit",
    ["ttft_p99<=1s", "cost_per_month<=5USD", "perplexity<=9", "max_rate>=5/s", "accuracy>=0.9", "energy<=1mJ"],
)
def test_a_limit_on_what_is_not_measured_is_refused(limit: str, unlabelled: DataFacts) -> None:
    with pytest.raises(UserError, match=limit.partition("<")[0].partition(">")[0]):
        read_limits((limit,), BUILT_IN["default"], unlabelled, energy=False)


@pytest.mark.parametrize("limit", ["fidelity>=98", "fidelity>=1.01"])
def test_a_fidelity_that_none_reaches_is_refused(limit: str, unlabelled: DataFacts) -> None:
    with pytest.raises(UserError, match="at most 1"):
        read_limits((limit,), BUILT_IN["default"], unlabelled, energy=False)


@pytest.mark.parametrize(
    "limit", ["fidelity>=98%", "latency_p99<=1s", "throughput>=5/s", "memory<=1GB", "energy<=1mJ", "fidelity>=0.9"]
)
def test_a_limit_on_what_is_measured_is_taken(limit: str, unlabelled: DataFacts) -> None:
    assert limit in {found.text for found in read_limits((limit,), BUILT_IN["default"], unlabelled, energy=True)}


@pytest.mark.parametrize("address", ["http://[::bad", "http://[1.2.3.4:80"])
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(UserError, match="--tracking-uri"):
        refuse_unknown_choices(SearchSettings(model=Path("m.onnx"), tracking_uri=address))


@pytest.mark.parametrize(
    ("metric", "labels", "said"),
    [
        ("top1", np.zeros((40, 3)), "shape"),
        ("top5", np.asarray(["cat"] * 40), "text"),
        ("f1", np.full(40, 0.5), "0.5"),
        ("mse", np.asarray(["cat"] * 40), "text"),
        ("top1", np.zeros((40, 1)), None),
        ("top1", np.zeros(40, np.int64), None),
        ("mse", np.zeros((40, 3)), None),
        ("mine:metric", np.asarray(["cat"] * 40), None),
    ],
)
def test_labels_that_the_metric_cannot_read_are_refused_with_what_is_expected(
    tmp_path: Path, metric: str, labels: Any, said: str | None
) -> None:
    model = read_model(onnx_models.mlp(tmp_path / "m.onnx", features=8))
    np.savez(tmp_path / "d.npz", x=np.zeros((40, 8), np.float32), labels=labels)
    data = open_data(str(tmp_path / "d.npz"), model, 0)
    if said is None:
        refuse_unfit_labels(metric, data, model)
        return
    with pytest.raises(UserError, match=said) as caught:
        refuse_unfit_labels(metric, data, model)
    assert "expects" in caught.value.remedy
