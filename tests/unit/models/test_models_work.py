from __future__ import annotations

from pathlib import Path

import pytest
from onnx import TensorProto

from autotune.core.graph_work import GraphWork
from autotune.models import read_model
from autotune.models.onnx_file import load_proto
from autotune.models.onnx_work import graph_work
from autotune.testing import onnx_cases, onnx_models
from autotune.testing.onnx_models import node, save, value, weight


def work_of(path: Path, **dims: int) -> GraphWork:
    facts = read_model(path, dims)
    return graph_work(load_proto(path), facts.inputs, facts.dims)


def test_products_and_what_follows_them_are_told_with_their_values(tmp_path: Path) -> None:
    work = work_of(onnx_models.mlp(tmp_path / "m.onnx"), N=3)
    first, add, relu, second = work.nodes
    assert first.product is not None
    assert (first.product.outputs, first.product.inputs, first.product.flops) == (32, 16, 2 * 3 * 32 * 16)
    assert (first.reads, first.weights) == ({"x": 3 * 16}, {"w0": 16 * 32})
    assert [one.kind for one in (add, relu, second)] == ["pointwise", "pointwise", "product"]
    assert work.flops == read_model(tmp_path / "m.onnx", {"N": 3}).flops
    assert work.unpriced == ()


def test_a_table_is_read_row_by_row_and_held_whole(tmp_path: Path) -> None:
    work = work_of(onnx_models.embedding(tmp_path / "m.onnx"), N=2, seq=5)
    gather = work.nodes[0]
    assert gather.weights == {"table": 2 * 5 * 8}
    assert work.weights["table"].values == 32 * 8


def test_what_renames_or_folds_is_no_work(tmp_path: Path) -> None:
    work = work_of(onnx_models.conv_net(tmp_path / "m.onnx"))
    assert "Flatten" not in {one.operator for one in work.nodes}


def test_shapes_that_inference_cannot_follow_are_settled_by_the_runtime(tmp_path: Path) -> None:
    nodes = [
        node("Shape", ["x"], ["size"]),
        node("ConstantOfShape", ["size"], ["zeros"]),
        node("Cast", ["zeros"], ["whole"], to=TensorProto.INT64),
        node("Shape", ["whole"], ["again"]),
        node("Expand", ["row", "again"], ["wide"]),
        node("Add", ["x", "wide"], ["sum"]),
        node("MatMul", ["sum", "w"], ["y"]),
    ]
    weights = {"row": weight(0, 16), "w": weight(1, 16, 4000)}
    path = save(tmp_path / "m.onnx", nodes, [value("x", ["N", 16])], [value("y", ["N", 4000])], weights)
    work = work_of(path, N=2)
    assert work.unpriced == ()
    assert work.flops == 2 * 2 * 16 * 4000
    assert work.weights["w"].values == 16 * 4000


@pytest.mark.parametrize("build", [onnx_cases.nonzero, onnx_cases.matmul_in_branch])
def test_what_depends_on_the_data_is_unpriced_with_its_reason(tmp_path: Path, build: object) -> None:
    work = work_of(build(tmp_path / "m.onnx"))  # type: ignore[operator]
    assert work.unpriced
    assert all("data" in one.reason for one in work.unpriced)
    assert 0 < work.unpriced_share <= 1


def test_depthwise_convolutions_and_recurrent_layers_are_told_apart(tmp_path: Path) -> None:
    nodes = [
        node("Conv", ["x", "k"], ["c"], kernel_shape=[3], pads=[1, 1], group=8),
        node("Transpose", ["c"], ["t"], perm=[2, 0, 1]),
        node("LSTM", ["t", "w", "r"], ["y"], hidden_size=4),
    ]
    weights = {"k": weight(0, 8, 1, 3), "w": weight(1, 1, 16, 8), "r": weight(2, 1, 16, 4)}
    path = save(tmp_path / "m.onnx", nodes, [value("x", ["N", 8, 10])], [value("y", [10, 1, "N", 4])], weights)
    depthwise, lstm = (one.product for one in work_of(path).nodes if one.product is not None)
    assert (depthwise.family, depthwise.outputs, depthwise.inputs) == ("depthwise", 1, 3)
    assert (lstm.family, lstm.steps, lstm.outputs, lstm.inputs) == ("recurrent", 10, 16, 12)


@pytest.mark.parametrize(
    ("equation", "flops"), [("bij,bjk->bik", 2 * 2 * 3 * 4 * 5), ("bij,bjk->b", 2 * 2 * 3 * 4 * 5)]
)
def test_einsum_multiplies_every_combination_of_its_indices_once(tmp_path: Path, equation: str, flops: int) -> None:
    shape = [2, 3, 5] if equation.endswith("bik") else [2]
    nodes = [node("Einsum", ["x", "w"], ["y"], equation=equation)]
    path = save(tmp_path / "m.onnx", nodes, [value("x", [2, 3, 4])], [value("y", shape)], {"w": weight(0, 2, 4, 5)})
    assert read_model(path).flops == flops
