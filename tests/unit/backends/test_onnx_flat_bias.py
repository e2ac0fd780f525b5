from __future__ import annotations

from pathlib import Path

from autotune.testing.onnx_models import node, save, value, weight
from autotune_backends.transform.onnx.flat_bias import flatten_biases
from autotune_backends.transform.onnx.graph import load_graph


def test_rows_that_only_gemms_add_are_flattened(tmp_path: Path) -> None:
    nodes = [
        node("Gemm", ["x", "w", "row"], ["a"]),
        node("Gemm", ["a", "w", "shared"], ["b"]),
        node("Gemm", ["b", "w", "flat"], ["c"]),
        node("Add", ["c", "shared"], ["y"]),
    ]
    weights = {"w": weight(0, 4, 4), "row": weight(1, 1, 4), "shared": weight(2, 1, 4), "flat": weight(3, 4)}
    path = save(tmp_path / "m.onnx", nodes, [value("x", ["N", 4])], [value("y", ["N", 4])], weights)
    model = load_graph(path)
    assert flatten_biases(model) == ["row"]
    assert {one.name: list(one.dims) for one in model.graph.initializer} == {
        "w": [4, 4],
        "row": [4],
        "shared": [1, 4],
        "flat": [4],
    }
