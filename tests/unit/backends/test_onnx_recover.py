from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

from autotune.core.samples import Tensors
from autotune.testing.onnx_models import conv_net, encoder, mlp, node, save, value, weight
from autotune_backends.transform.onnx.change import Change
from autotune_backends.transform.onnx.differentiable import split, without_derivative
from autotune_backends.transform.onnx.graph import load_graph
from autotune_backends.transform.onnx.prune import Prune
from autotune_backends.transform.onnx.recover import Recover

needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="training needs PyTorch, the extra 'torch'")


def _samples(count: int = 256) -> list[Tensors]:
    draw = np.random.default_rng(0)
    return [{"x": draw.standard_normal((1, 16)).astype(np.float32)} for _ in range(count)]


def _loss(original: Path, other: Path) -> float:
    """On inputs that nothing was trained on."""
    draw = np.random.default_rng(1)
    inputs = {"x": draw.standard_normal((64, 16)).astype(np.float32)}
    wanted, found = (
        onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"]).run(None, inputs)[0]
        for path in (original, other)
    )
    return float(np.mean((wanted - found) ** 2) / np.var(wanted))


def _recovered(tmp_path: Path, seconds: float = 60.0, steps: int = 300) -> tuple[Path, Path, Path, Change]:
    original, pruned, target = (tmp_path / name for name in ("m.onnx", "p.onnx", "r.onnx"))
    mlp(original, features=16, hidden=32)
    Prune(0.5, _samples)(original, pruned)
    return original, pruned, target, Recover(original, seconds, _samples, steps=steps)(pruned, target)


@needs_torch
def test_what_was_trained_is_nearer_to_the_original_on_inputs_that_it_never_saw(tmp_path: Path) -> None:
    original, pruned, target, change = _recovered(tmp_path)
    assert change.facts["error_after"] < change.facts["error_before"]
    assert change.facts["steps"] == 300
    assert _loss(original, target) < 0.8 * _loss(original, pruned)
    assert [list(one.dims) for one in onnx.load(target).graph.initializer] == [
        list(one.dims) for one in onnx.load(pruned).graph.initializer
    ]


@needs_torch
def test_without_time_nothing_changes_and_that_is_said(tmp_path: Path) -> None:
    *_, target, change = _recovered(tmp_path, seconds=0.0)
    assert change.unchanged == "training did not bring it nearer to the original"
    assert "0 s were over" in change.facts["ended"]
    assert not target.exists()


@needs_torch
def test_sentences_of_different_lengths_are_learned_one_by_one(tmp_path: Path) -> None:
    draw = np.random.default_rng(0)
    sentences = [{"ids": draw.integers(0, 64, (1, 6 + number % 5))} for number in range(40)]
    original, pruned = encoder(tmp_path / "m.onnx"), tmp_path / "p.onnx"
    Prune(0.7, lambda: sentences)(original, pruned)
    change = Recover(original, 60.0, lambda: sentences, steps=20)(pruned, tmp_path / "r.onnx")
    assert change.facts["error_after"] < change.facts["error_before"]


@needs_torch
def test_without_samples_nothing_is_trained(tmp_path: Path) -> None:
    original = mlp(tmp_path / "m.onnx", features=16, hidden=64)
    with pytest.raises(ValueError, match="no calibration data"):
        Recover(original, 1.0, list)(original, tmp_path / "r.onnx")


def test_a_graph_that_cannot_be_differentiated_is_refused_by_its_operators(tmp_path: Path) -> None:
    nodes = [
        node("MatMul", ["x", "w"], ["h"]),
        node("Det", ["h"], ["d"]),
        node("Identity", ["d"], ["y"]),
    ]
    path = save(tmp_path / "m.onnx", nodes, [value("x", [4, 4])], [value("y", [])], {"w": weight(0, 4, 4)})
    assert list(without_derivative(load_graph(path))) == ["Det"]
    with pytest.raises(ValueError, match="through Det"):
        Recover(path, 1.0, list)(path, tmp_path / "r.onnx")


@pytest.mark.parametrize("make", [mlp, conv_net, encoder])
def test_models_as_they_are_exported_can_be_trained(tmp_path: Path, make) -> None:
    graph = load_graph(make(tmp_path / "m.onnx"))
    assert not without_derivative(graph)
    assert split(graph).trained


def test_what_does_not_depend_on_weights_is_left_to_onnxruntime(tmp_path: Path) -> None:
    nodes = [
        node("Resize", ["x", "", "scales"], ["big"], mode="nearest"),
        node("Conv", ["big", "w"], ["h"]),
        node("Shape", ["x"], ["sizes"]),
        node("Cast", ["sizes"], ["y1"], to=1),
        node("Relu", ["h"], ["y0"]),
    ]
    weights = {"w": weight(0, 4, 3, 3, 3), "scales": np.array([1, 1, 2, 2], np.float32)}
    outputs = [value("y0", ["N", 4, None, None]), value("y1", [4])]
    parts = split(load_graph(save(tmp_path / "m.onnx", nodes, [value("x", ["N", 3, 8, 8])], outputs, weights)))
    assert (parts.trained, parts.given) == (("w",), ("big",))
    assert (parts.moving, parts.fixed) == ((1, 4), (0, 2, 3))
