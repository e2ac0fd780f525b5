from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from autotune.core.candidate import Candidate
from autotune.core.errors import BuildError, MeasureError
from autotune.core.model import ModelFacts
from autotune.core.workload import BUILT_IN, Phase, Shape, Workload
from autotune.models import read_model
from autotune.testing import onnx_cases, onnx_models
from autotune_backends.simulated import SimulatedBackend
from autotune_backends.simulated.devices import device_named
from autotune_backends.simulated.graphs.reading import graph_of
from autotune_backends.simulated.graphs.support import refuse_unsupported
from autotune_backends.simulated.refusals import Unsupported
from autotune_search_spaces.graph import graph_space

BACKEND = SimulatedBackend()
A100, PHONE = BACKEND.simulated_device("a100"), BACKEND.simulated_device("snapdragon-8gen3")
DEFAULT, LATENCY = BUILT_IN["default"], BUILT_IN["latency"]
HALF = Candidate(precision="fp16", batch_size=8)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> ModelFacts:
    return read_model(onnx_models.encoder(tmp_path_factory.mktemp("graph") / "encoder.onnx"), {"seq": 16})


def test_every_value_is_simulated_within_its_interval_and_quality_is_unknown(model: ModelFacts) -> None:
    metrics = BACKEND.simulate(model, HALF, A100, DEFAULT)
    assert {"latency_p50", "throughput", "energy", "power", "memory", "cost_per_month"} <= set(metrics)
    assert {value.provenance for name, value in metrics.items() if name != "lead_time"} == {"simulated"}
    for name in ("latency_p50", "throughput", "energy", "cost_per_million_items"):
        low, high = metrics[name].interval()
        assert low < metrics[name].value < high, name
    assert metrics["fidelity"].value is None
    assert "interpolated on a100-sxm" in metrics["latency_p50"].basis
    assert "roofline" in BACKEND.simulate(model, HALF, PHONE, DEFAULT)["latency_p50"].basis


def test_what_is_not_known_of_a_device_is_unknown_and_says_so(model: ModelFacts) -> None:
    metrics = BACKEND.simulate(model, HALF, PHONE, DEFAULT)
    assert metrics["cost_per_month"].value is None
    assert "price" in metrics["cost_per_month"].basis


def test_latency_is_that_of_one_sample_whatever_the_batch(model: ModelFacts) -> None:
    one, many = (BACKEND.simulate(model, HALF.with_(batch_size=size), A100, DEFAULT) for size in (1, 64))
    assert one["latency_p50"] == many["latency_p50"]
    assert many["throughput"].value > one["throughput"].value
    assert many["memory"].value > one["memory"].value


def test_more_confidence_is_a_wider_interval(model: ModelFacts) -> None:
    narrow, wide = (BACKEND.simulate(model, HALF, A100, LATENCY, confidence=one)["latency_p50"] for one in (0.6, 0.95))
    assert wide.low < narrow.low < narrow.high < wide.high
    assert wide.value == narrow.value


def test_a_mixture_of_sizes_has_each_size_s_own_latency(model: ModelFacts) -> None:
    shapes = (Shape(dims={"seq": 8}, weight=3.0), Shape(dims={"seq": 64}))
    load = Workload(name="mix", phases=(Phase(scenario="single_stream", shapes=shapes),))
    latency = BACKEND.simulate(model, HALF, A100, load)["latency_p50"]
    assert list(latency.parts) == ["seq=8", "seq=64"]
    assert latency.parts["seq=8"].value == latency.value < latency.parts["seq=64"].value


def test_loads_under_which_graphs_are_not_priced_are_refused(model: ModelFacts) -> None:
    with pytest.raises(MeasureError, match="under a server load"):
        BACKEND.simulate(model, HALF, A100, BUILT_IN["server"])


def test_a_format_that_the_device_lacks_fails_as_unsupported(model: ModelFacts) -> None:
    with pytest.raises(BuildError) as caught:
        BACKEND.simulate(model, HALF.with_(precision="fp8"), A100, DEFAULT)
    assert caught.value.cause == "unsupported"


def test_each_device_offers_the_formats_that_it_has_units_for(model: ModelFacts) -> None:
    offer, phone = BACKEND.offers(model, A100), BACKEND.offers(model, PHONE)
    assert offer.parameter("precision").choices == ("fp32", "tf32", "fp16", "bf16", "int8")
    assert phone.parameter("precision").choices == ("fp16", "int8")
    assert any(one.values == ("fp8",) for one in offer.omissions)
    assert any(one.parameter == "sparsity" for one in offer.omissions)
    assert not any(one.parameter == "sparsity" for one in phone.omissions)


def test_the_space_joins_what_devices_offer(model: ModelFacts) -> None:
    space = graph_space(model, [BACKEND.offers(model, PHONE), BACKEND.offers(model, A100)], DEFAULT)
    assert set(space.parameter("precision").choices) == {"fp32", "tf32", "fp16", "bf16", "int8"}
    assert space.baseline["precision"] == "fp16"
    assert all(space.fault(expert) is None for expert in space.experts)
    alone = graph_space(model, [BACKEND.offers(model, A100)], LATENCY)
    assert alone.parameter("batch_size") is None


def test_a_model_of_one_sample_has_no_batches(tmp_path: Path) -> None:
    offer = BACKEND.offers(read_model(onnx_models.conv_net(tmp_path / "m.onnx", batch=1)), A100)
    assert offer.parameter("batch_size").choices == (1,)
    assert any("fixed at 1" in one.reason for one in offer.omissions)


def test_a_quantised_model_is_refused(tmp_path: Path) -> None:
    offer = BACKEND.offers(read_model(onnx_cases.qdq(tmp_path / "m.onnx")), A100)
    assert offer.refusal is not None
    assert "quantised already" in offer.refusal


def test_what_depends_on_the_data_is_refused_with_how_much_it_is(tmp_path: Path) -> None:
    offer = BACKEND.offers(read_model(onnx_cases.matmul_in_branch(tmp_path / "m.onnx")), A100)
    assert offer.refusal is not None
    assert "operators cannot be priced" in offer.refusal


@pytest.mark.parametrize(
    ("supports", "words"),
    [
        ({"operators": ["MatMul", "Add"]}, "its design has no .* (4 h 00 min to build another, 60 days until"),
        ({"models": ["resnet*"]}, "supports resnet\\* only"),
    ],
)
def test_a_device_that_cannot_run_the_graph_says_why_and_what_another_would_take(
    model: ModelFacts, supports: dict[str, list[str]], words: str
) -> None:
    board = replace(device_named("alveo-u280"), supports=supports)
    with pytest.raises(Unsupported, match=words.replace("(", r"\(")):
        refuse_unsupported(model, graph_of(model).work, board)


def test_a_screen_tells_what_the_simulation_tells(model: ModelFacts) -> None:
    candidates = [HALF, HALF.with_(precision="fp8")]
    found, none = BACKEND.screen(model, candidates, A100, DEFAULT)
    assert none is None
    assert found["latency_p50"] == BACKEND.simulate(model, HALF, A100, DEFAULT)["latency_p50"].value
