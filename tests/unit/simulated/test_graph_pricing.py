"""Physics of priced graphs: what must hold whatever the figures are."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.core.graph_work import GraphWork
from autotune.core.model import ModelFacts
from autotune.models import read_model
from autotune.testing import onnx_models
from autotune_backends.simulated.devices import SimulatedDevice, device_named, device_names
from autotune_backends.simulated.graphs.costs import GraphCosts, graph_costs
from autotune_backends.simulated.graphs.formats import formats_on
from autotune_backends.simulated.graphs.kernels import kernels_of, peak_values
from autotune_backends.simulated.graphs.reading import Graph, graph_of
from autotune_backends.simulated.refusals import DoesNotFit, Unsupported

A100 = device_named("a100-sxm")
DEVICES = [device_named(name) for name in device_names()]
batches = st.integers(1, 96)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> list[ModelFacts]:
    folder = tmp_path_factory.mktemp("graphs")
    return [
        read_model(onnx_models.mlp(folder / "mlp.onnx", features=256, hidden=512)),
        read_model(onnx_models.conv_net(folder / "conv.onnx", size=32)),
        read_model(onnx_models.encoder(folder / "encoder.onnx"), {"seq": 16}),
    ]


def priced(model: ModelFacts, device: SimulatedDevice = A100, batch: int = 1, **candidate: str) -> GraphCosts:
    widest = formats_on(device)[0]
    return graph_costs(graph_of(model, batch), device, {"precision": widest, **candidate})


@settings(deadline=None, max_examples=25)
@given(st.sampled_from(DEVICES), st.floats(1.0, 8.0), batches)
def test_more_bandwidth_is_never_slower(models: list[ModelFacts], device: SimulatedDevice, times: float, batch: int):
    wider = replace(device, bandwidth=device.bandwidth * times)
    for model in models:
        assert priced(model, wider, batch).seconds <= priced(model, device, batch).seconds * (1 + 1e-12)


@settings(deadline=None, max_examples=25)
@given(st.sampled_from(DEVICES), st.floats(1.0, 8.0), batches)
def test_more_arithmetic_is_never_slower(models: list[ModelFacts], device: SimulatedDevice, times: float, batch: int):
    faster = replace(device, peak={name: peak * times for name, peak in device.peak.items()})
    for model in models:
        assert priced(model, faster, batch).seconds <= priced(model, device, batch).seconds * (1 + 1e-12)


@pytest.mark.parametrize("device", DEVICES, ids=lambda device: device.name)
def test_fewer_bits_never_need_more_memory(models: list[ModelFacts], device: SimulatedDevice) -> None:
    for model in models:
        sizes = [priced(model, device, precision=name).memory.total_bytes for name in formats_on(device)]
        assert sizes == sorted(sizes, reverse=True)


@pytest.mark.parametrize("device", DEVICES, ids=lambda device: device.name)
def test_batches_raise_throughput_up_to_the_roofline(models: list[ModelFacts], device: SimulatedDevice) -> None:
    for model in models:
        costs = [priced(model, device, batch) for batch in (1, 2, 4, 8, 16, 32, 64, 128)]
        rates = [batch / one.seconds for batch, one in zip((1, 2, 4, 8, 16, 32, 64, 128), costs, strict=True)]
        assert all(after >= before * (1 - 1e-9) for before, after in pairwise(rates))
        assert all(one.compute_utilisation <= 1 and one.memory_utilisation <= 1 for one in costs)
        assert all(one.flops / one.seconds <= one.peak * (1 + 1e-9) for one in costs)


def test_fusion_launches_fewer_kernels_and_moves_fewer_bytes(models: list[ModelFacts]) -> None:
    for model in models:
        fused, plain = priced(model), priced(model, fusion="none")
        assert fused.launches < plain.launches
        assert fused.moved_bytes < plain.moved_bytes
        assert fused.seconds < plain.seconds
        assert fused.flops == plain.flops


def test_a_compiler_folds_more_than_a_runtime_s_patterns(models: list[ModelFacts]) -> None:
    for model in models:
        work = graph_of(model).work
        counts = [len(kernels_of(work, fusion)) for fusion in ("compiler", "runtime", "none")]
        assert counts == sorted(counts)
        assert counts[1] < counts[2]


def test_kernels_run_each_node_once_and_never_wait_for_a_later_one(models: list[ModelFacts]) -> None:
    for model in models:
        work = graph_of(model).work
        for kernels in (kernels_of(work), kernels_of(work, "runtime"), kernels_of(work, "none")):
            assert sorted(node.name for one in kernels for node in one.nodes) == sorted(
                node.name for node in work.nodes
            )
            made = set(work.inputs)
            for one in kernels:
                assert set(one.reads) <= made
                made |= set(one.writes)
            assert set(work.outputs) <= made


def test_a_product_takes_what_follows_it_and_no_second_product(models: list[ModelFacts]) -> None:
    first, second = kernels_of(graph_of(models[0]).work)
    assert [node.operator for node in first.nodes] == ["MatMul", "Add", "Relu"]
    assert [node.operator for node in second.nodes] == ["MatMul"]


def test_memory_is_that_of_what_is_alive_at_once(models: list[ModelFacts]) -> None:
    work = graph_of(models[0]).work
    alive = peak_values(work, kernels_of(work))
    assert sum(alive.values()) == 256 + 512  # the input beside the hidden layer


def test_sparse_arithmetic_exists_only_where_there_is_hardware_for_it(models: list[ModelFacts]) -> None:
    dense, sparse = priced(models[0], batch=96), priced(models[0], batch=96, sparsity="2:4")
    assert sparse.seconds <= dense.seconds
    assert sparse.memory.weight_bytes < dense.memory.weight_bytes
    with pytest.raises(Unsupported, match="no hardware for 2:4"):
        priced(models[0], device_named("snapdragon-8gen3"), sparsity="2:4")


def test_a_format_without_units_is_refused_and_nothing_stands_in_for_it(models: list[ModelFacts]) -> None:
    with pytest.raises(Unsupported, match="has no fp32 arithmetic"):
        priced(models[0], device_named("snapdragon-8gen3"), precision="fp32")
    with pytest.raises(Unsupported, match="has no fp16 arithmetic"):
        priced(models[0], device_named("xeon-8480"), precision="fp16")


def test_what_does_not_fit_says_what_it_needs_and_what_there_is(models: list[ModelFacts]) -> None:
    phone = replace(device_named("snapdragon-8gen3"), memory_bytes=100_000)
    with pytest.raises(DoesNotFit, match=r"needs .* MiB, has .* MiB"):
        priced(models[0], phone)


def test_a_graph_of_which_too_little_is_known_is_refused_with_the_count() -> None:
    with pytest.raises(Unsupported, match="0 of 0 operators"):
        graph_costs(Graph(GraphWork((), {}, (), (), ())), A100, {})


def test_what_caches_hold_moves_faster_and_never_slower_than_memory(models: list[ModelFacts]) -> None:
    near = replace(A100, near_bandwidth={100_000: 20e12, 1_000_000: 8e12})
    assert priced(models[0], near).seconds < priced(models[0], A100).seconds
