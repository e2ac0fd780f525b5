from __future__ import annotations

from pathlib import Path

import pytest
from onnx import TensorProto

from autotune.api.prepare import prepare
from autotune.api.settings import SearchSettings
from autotune.api.simulating import simulate
from autotune.core.errors import NothingFeasible, UserError
from autotune.searching.scenario_file import parse_scenario
from autotune.testing import onnx_models
from autotune.testing.onnx_models import node, save, value


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return onnx_models.mlp(tmp_path_factory.mktemp("asked") / "mlp.onnx")


def asked(model: Path, **changes: object) -> SearchSettings:
    return SearchSettings(**{"model": model, "devices": ("a100", "snapdragon-8gen3"), "tracking": False, **changes})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"devices": ("a100", "cpu")}, "cannot be searched together"),
        ({"workload": "server"}, "not simulated under a server load"),
        ({"workload": "chat"}, "not simulated under a server load"),
        ({"rate": "5/s"}, "--rate is for language models"),
        ({"objectives": ("accuracy",)}, "nothing is run"),
        ({"objectives": ("throughput",), "workload": "latency"}, "known under this load"),
        ({"limits": ("latency_p99<=1ms",)}, "how their times spread is not"),
        ({"metric": "top1"}, "is for what is measured"),
        ({"dims": ("M=3",)}, "no input has a dimension"),
    ],
)
def test_a_mistake_is_named_before_anything_runs(model: Path, changes: dict[str, object], words: str) -> None:
    with pytest.raises(UserError) as caught:
        prepare(asked(model, **changes))
    assert words in str(caught.value)


def test_a_search_is_simulated_and_says_what_is_unknown(model: Path) -> None:
    search = prepare(asked(model)).search
    assert (search.kind, search.space.name) == ("simulated", "graph")
    assert [one.metric for one in search.objectives] == ["latency_p50", "throughput", "energy"]
    assert any("nothing is measured" in remark for remark in search.remarks)
    assert any("in quality is unknown" in remark for remark in search.remarks)
    assert search.space.screened


@pytest.mark.parametrize(
    ("goal", "first"),
    [
        ("latency", "latency_p50"),
        ("throughput", "throughput"),
        ("energy", "energy"),
        ("cost", "cost_per_million_items"),
    ],
)
def test_a_goal_is_what_graphs_are_priced_by(model: Path, goal: str, first: str) -> None:
    assert prepare(asked(model, goal=goal)).search.objectives[0].metric == first


def test_what_the_price_lacks_is_said_before_the_first_trial(tmp_path: Path) -> None:
    nodes = [
        *(node("Relu", ["x" if index == 0 else f"r{index - 1}"], [f"r{index}"]) for index in range(9)),
        node("NonZero", ["r8"], ["y"]),
    ]
    model = save(tmp_path / "m.onnx", nodes, [value("x", ["N", 16])], [value("y", [2, "k"], TensorProto.INT64)], {})
    search = prepare(asked(model)).search
    assert any("1 of 10 operators cost an unknown time (NonZero)" in remark for remark in search.remarks)
    assert search.space.parameter("batch_size").choices == (1,)


SCENARIO = "{model: %s, device: l4, candidate: {precision: %s, batch_size: 4}}"


def test_a_scenario_of_a_graph_has_every_metric(model: Path) -> None:
    found = simulate(parse_scenario(SCENARIO % (model, "fp16"), "text"))
    assert found.metrics["throughput"].value > 0
    assert found.scenario.workload.name == "default"
    assert found.calibration is None


def test_sizes_of_a_scenario_are_what_it_is_priced_at(tmp_path: Path) -> None:
    model = onnx_models.encoder(tmp_path / "encoder.onnx")
    text = f"{{model: {model}, device: l4, candidate: {{precision: fp16}}, dims: {{seq: SIZE}}}}"
    short, long = (simulate(parse_scenario(text.replace("SIZE", size), "text")).metrics for size in ("8", "512"))
    assert long["latency_p50"].value > short["latency_p50"].value


def test_a_scenario_that_cannot_run_says_why(model: Path) -> None:
    device = SCENARIO.replace("l4", "snapdragon-8gen3") % (model, "fp32")
    with pytest.raises(NothingFeasible, match="has no fp32 arithmetic"):
        simulate(parse_scenario(device, "text"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{model: nowhere.onnx, device: l4}", "there is no model at"),
        ("{model: MODEL, device: l4, workload: server}", "not simulated under a server load"),
        ("{model: MODEL, device: l4, dims: {N: many}}", "is no size"),
        ("{model: MODEL, device: l4, candidate: {precision: fp17}}", "unknown precision 'fp17'"),
        ("{model: llama-3-8b, device: l4, workload: chat, dims: {N: 1}}", "dims are an ONNX graph's"),
    ],
)
def test_a_scenario_s_mistake_is_named(model: Path, text: str, words: str) -> None:
    with pytest.raises(UserError, match=words):
        simulate(parse_scenario(text.replace("MODEL", str(model)), "text"))
