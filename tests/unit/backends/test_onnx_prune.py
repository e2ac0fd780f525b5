from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

from autotune.core.samples import Tensors
from autotune.testing.onnx_models import conv_net, encoder, mlp, node, save, value, weight
from autotune_backends.transform.onnx.prunable import find_chains
from autotune_backends.transform.onnx.prune import Prune

_IMAGE = (1, 3, 8, 8)


def _drawn(shape: Sequence[int], count: int = 16) -> list[Tensors]:
    draw = np.random.default_rng(0)
    return [{"x": draw.standard_normal(shape).astype(np.float32)} for _ in range(count)]


def _run(path: Path, sample: Tensors) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"]).run(None, dict(sample))[
        0
    ]


def _loss(original: Path, pruned: Path, samples: Iterable[Tensors]) -> float:
    pairs = [(_run(original, one), _run(pruned, one)) for one in samples]
    return float(sum(np.sum((a - b) ** 2) for a, b in pairs) / sum(np.sum(a**2) for a, _ in pairs))


def _images(path: Path, nodes: list[Any], weights: dict[str, Any], classes: int | None = 4) -> Path:
    outputs = [value("y", ["N", classes] if classes else None)]
    return save(path, nodes, [value("x", ["N", *_IMAGE[1:]])], outputs, weights)


def _convolutions(path: Path, channels: int = 32, twins: bool = False) -> Path:
    """Conv → BatchNormalization → Relu → depthwise Conv → Relu → Conv → pool → Flatten → Gemm; ``twins``: channels in pairs."""
    first = weight(0, channels, 3, 3, 3)
    if twins:
        first[1::2] = 2 * first[::2]
    norm = {name: np.full(channels, number, np.float32) for name, number in (("g", 1), ("s", 0), ("m", 0), ("v", 1))}
    weights = {"a": first, "d": np.ones((channels, 1, 3, 3), np.float32) / 9, "b": weight(1, 16, channels, 3, 3)}
    nodes = [
        node("Conv", ["x", "a"], ["h0"], pads=[1, 1, 1, 1]),
        node("BatchNormalization", ["h0", "g", "s", "m", "v"], ["h1"]),
        node("Relu", ["h1"], ["h2"]),
        node("Conv", ["h2", "d"], ["h3"], pads=[1, 1, 1, 1], group=channels),
        node("Conv", ["h3", "b"], ["h4"], pads=[1, 1, 1, 1]),
        node("MaxPool", ["h4"], ["h5"], kernel_shape=[2, 2], strides=[2, 2]),
        node("Flatten", ["h5"], ["h6"]),
        node("Gemm", ["h6", "w"], ["y"], transB=1),
    ]
    return _images(path, nodes, weights | norm | {"w": weight(2, 4, 16 * 16)})


def test_a_pruned_network_is_smaller_runs_and_says_what_was_done(tmp_path: Path) -> None:
    change = Prune(0.5, lambda: _drawn(_IMAGE))(_convolutions(tmp_path / "m.onnx"), tmp_path / "p.onnx")
    assert "Conv_h0" in change.facts["channels"]
    assert all(kept < whole and kept % 8 == 0 for whole, kept in change.facts["channels"].values())
    assert change.facts["parameters_after"] < 0.6 * change.facts["parameters_before"]
    onnx.checker.check_model(str(tmp_path / "p.onnx"), full_check=True)
    assert _run(tmp_path / "p.onnx", _drawn(_IMAGE, 1)[0]).shape == (1, 4)


@pytest.mark.parametrize("width", [-1, 256])
def test_a_reshape_that_flattens_follows_the_channels(tmp_path: Path, width: int) -> None:
    weights = {"a": weight(0, 16, 3, 3, 3), "to": np.array([1 if width < 0 else -1, width]), "w": weight(1, 256, 4)}
    nodes = [
        node("Conv", ["x", "a"], ["h0"], pads=[1, 1, 1, 1], strides=[2, 2]),
        node("Relu", ["h0"], ["h1"]),
        node("Reshape", ["h1", "to"], ["h2"]),
        node("MatMul", ["h2", "w"], ["y"]),
    ]
    original = _images(tmp_path / "m.onnx", nodes, weights)
    change = Prune(0.5, lambda: _drawn(_IMAGE))(original, tmp_path / "p.onnx")
    assert list(change.facts["channels"].values()) == [[16, 8]]
    assert _loss(original, tmp_path / "p.onnx", _drawn(_IMAGE, 3)) < 0.6


def test_channels_that_others_can_make_up_for_cost_nothing(tmp_path: Path) -> None:
    original = _convolutions(tmp_path / "m.onnx", twins=True)
    model = onnx.load(original)
    del model.graph.node[5:]  # up to the second Conv, whose own channels are then the output
    model.graph.output[0].CopyFrom(value("h4", None))
    onnx.save(model, original)
    Prune(0.5, lambda: _drawn(_IMAGE))(original, tmp_path / "p.onnx")
    assert _loss(original, tmp_path / "p.onnx", _drawn(_IMAGE, 3)) < 1e-3


def test_weights_make_up_for_what_was_removed(tmp_path: Path) -> None:
    """Against the same channels removed with the weights left as they were."""
    original = mlp(tmp_path / "m.onnx", features=16, hidden=64)
    Prune(0.5, lambda: _drawn((1, 16), 64))(original, tmp_path / "p.onnx")
    plain = onnx.load(tmp_path / "p.onnx")
    before = {one.name: onnx.numpy_helper.to_array(one) for one in onnx.load(original).graph.initializer}
    first, last = (next(one for one in plain.graph.initializer if one.name.startswith(name)) for name in ("w0", "w1"))
    columns = onnx.numpy_helper.to_array(first)
    kept = [int(np.argmin(np.abs(before["w0"] - column[:, None]).sum(0))) for column in columns.T]
    last.CopyFrom(onnx.numpy_helper.from_array(before["w1"][kept], last.name))
    onnx.save(plain, tmp_path / "plain.onnx")
    fresh = _drawn((1, 16), 64)
    assert _loss(original, tmp_path / "p.onnx", fresh) < 0.8 * _loss(original, tmp_path / "plain.onnx", fresh)


def test_hidden_units_of_a_transformer_go_through_a_gelu_in_pieces(tmp_path: Path) -> None:
    ids = [{"ids": np.random.default_rng(seed).integers(0, 64, (1, 12))} for seed in range(8)]
    original = encoder(tmp_path / "m.onnx")
    change = Prune(0.3, lambda: ids)(original, tmp_path / "p.onnx")
    assert list(change.facts["channels"].values()) == [[128, 88]]
    assert _loss(original, tmp_path / "p.onnx", ids[:2]) < 0.2


def test_a_shared_weight_is_cut_where_it_is_used_and_stays_whole_elsewhere(tmp_path: Path) -> None:
    weights = {"a": weight(0, 16, 16), "b": weight(1, 16, 16)}
    nodes = [
        node("MatMul", ["x", "a"], ["h0"]),
        node("Relu", ["h0"], ["h1"]),
        node("MatMul", ["h1", "b"], ["h2"]),
        node("Neg", ["x"], ["n"]),
        node("MatMul", ["n", "a"], ["h3"]),
        node("Add", ["h2", "h3"], ["y"]),
    ]
    original = save(tmp_path / "m.onnx", nodes, [value("x", ["N", 16])], [value("y", ["N", 16])], weights)
    change = Prune(0.5, lambda: _drawn((1, 16)))(original, tmp_path / "p.onnx")
    assert list(change.facts["channels"].values()) == [[16, 8]]
    assert _run(tmp_path / "p.onnx", _drawn((1, 16), 1)[0]).shape == (1, 16)


def test_a_skip_that_became_a_products_bias_keeps_its_channels(tmp_path: Path) -> None:
    """onnxruntime folds MatMul and Add to a Gemm, whose bias then is no constant."""
    weights = {"a": weight(0, 16, 16), "b": weight(1, 16, 16)}
    nodes = [
        node("MatMul", ["x", "a"], ["h0"]),
        node("Relu", ["h0"], ["h1"]),
        node("MatMul", ["h1", "b"], ["h2"]),
        node("Add", ["h2", "h0"], ["y"]),
    ]
    original = save(tmp_path / "m.onnx", nodes, [value("x", ["N", 16])], [value("y", ["N", 16])], weights)
    assert Prune(0.5, lambda: _drawn((1, 16)))(original, tmp_path / "p.onnx").unchanged


def _spoiling() -> dict[str, list[Any]]:
    start = node("Conv", ["x", "a"], ["h"], pads=[1, 1, 1, 1])
    end = node("Conv", ["j", "b"], ["y"], pads=[1, 1, 1, 1])
    return {
        "residual": [node("Conv", ["x", "c"], ["k"], pads=[1, 1, 1, 1]), start, node("Add", ["h", "k"], ["j"]), end],
        "concat": [start, node("Concat", ["h", "x"], ["j"], axis=1), node("Conv", ["j", "e"], ["y"])],
        "grouped": [start, node("Conv", ["h", "g"], ["y"], group=2)],
        "shuffled": [start, node("DepthToSpace", ["h"], ["j"], blocksize=2), node("Conv", ["j", "f"], ["y"])],
        "output": [start, node("Relu", ["h"], ["y"])],
    }


@pytest.mark.parametrize("kind", list(_spoiling()))
def test_what_mixes_channels_is_left_alone_with_the_reason(tmp_path: Path, kind: str) -> None:
    shapes = {
        "a": (16, 3, 3, 3),
        "b": (4, 16, 3, 3),
        "c": (16, 3, 3, 3),
        "e": (4, 19, 1, 1),
        "g": (4, 8, 1, 1),
        "f": (4, 4, 1, 1),
    }
    used = {name for one in _spoiling()[kind] for name in one.input}
    weights = {name: weight(0, *shape) for name, shape in shapes.items() if name in used}
    original = _images(tmp_path / "m.onnx", _spoiling()[kind], weights, None)
    change = Prune(0.5, lambda: _drawn(_IMAGE))(original, tmp_path / "p.onnx")
    assert change.unchanged
    assert change.unchanged.startswith("nothing was pruned: ")
    assert not (tmp_path / "p.onnx").exists()


def test_without_samples_nothing_is_pruned_blindly(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no calibration data"):
        Prune(0.5, list)(mlp(tmp_path / "m.onnx"), tmp_path / "p.onnx")


def test_too_few_channels_to_spare_is_said(tmp_path: Path) -> None:
    samples: list[Tensors] = [{"image": np.ones((1, 1, 8, 8), np.float32)}]
    assert Prune(0.5, lambda: samples)(conv_net(tmp_path / "m.onnx"), tmp_path / "p.onnx").unchanged


def test_nodes_without_inputs_and_weights_that_are_inputs_begin_no_chain() -> None:
    constant = helper.make_node("Constant", [], ["c"], value_float=1.0)
    product = helper.make_node("Gemm", ["x", "w"], ["y"])
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 2]) for name in ("x", "w", "y")]
    model = helper.make_model(helper.make_graph([constant, product], "g", ends[:2], ends[2:]))
    assert not list(find_chains(model))
