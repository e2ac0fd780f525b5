from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import onnx
import pytest

from autotune.core.samples import Tensors
from autotune.testing.onnx_models import node, save, value, weight
from autotune_backends.transform.onnx.int8_dynamic import Int8Dynamic
from autotune_backends.transform.onnx.int8_static import Int8Static
from autotune_backends.transform.onnx.sensitivity import Kept, fake_int8, kept_in_float, layer_sqnr


def _samples() -> Iterable[Tensors]:
    draw = np.random.default_rng(0)
    drawn = [draw.standard_normal((1, 16)).astype(np.float32) for _ in range(4)]
    return [{"x": np.where(np.arange(16) == 0, np.float32(0), row)} for row in drawn]


def _chain(path: Path, spoilt: int = 2) -> Path:
    """Five products; one's weights have an outlier a thousand times the rest, which a single scale cannot hold.

    What it is multiplied by is always zero, so that nothing else feels it.
    """
    weights = {f"w{index}": weight(index, 16, 16) for index in range(4)} | {"b": np.zeros(4, np.float32)}
    weights[f"w{spoilt}"][0, 0] = 300.0
    if spoilt:
        weights[f"w{spoilt - 1}"][:, 0] = 0.0
    nodes = [node("MatMul", [f"h{index}" if index else "x", f"w{index}"], [f"h{index + 1}"]) for index in range(4)]
    nodes.append(node("Gemm", ["h4", "head", "b"], ["y"], transB=1))
    weights["head"] = weight(9, 4, 16)
    return save(path, nodes, [value("x", ["N", 16])], [value("y", ["N", 4])], weights)


def test_the_layer_that_int8_hurts_most_is_found(tmp_path: Path) -> None:
    ratios = layer_sqnr(_chain(tmp_path / "m.onnx"), _samples())
    assert len(ratios) == 5
    assert min(ratios, key=lambda name: ratios[name]) == "MatMul_h3"


def test_scales_per_channel_help_where_one_scale_does_not(tmp_path: Path) -> None:
    model = _chain(tmp_path / "m.onnx")
    whole = layer_sqnr(model, _samples())["MatMul_h3"]
    assert layer_sqnr(model, _samples(), per_channel=True)["MatMul_h3"] > whole


@pytest.mark.parametrize(("share", "kept"), [(1.0, 0), (0.9, 1), (0.75, 1), (0.5, 2), (0.25, 3)])
def test_no_more_than_the_share_is_quantised(share: float, kept: int) -> None:
    ratios = {name: float(position) for position, name in enumerate("abcd")}
    assert list(kept_in_float(ratios, share)) == list("abcd")[:kept]


def test_rounding_keeps_zero_and_is_within_half_a_step() -> None:
    values = np.array([[-1.0, 0.0, 0.3], [100.0, 0.0, -50.0]], np.float32)
    for rounded, step in (
        (fake_int8(values), 100 / 127),
        (fake_int8(values, 0), np.array([[1 / 127], [100 / 127]])),
        (fake_int8(values, signed=False), 150 / 255),
    ):
        assert (rounded[values == 0] == 0).all()
        assert (np.abs(rounded - values) <= step / 2 * 1.02 + 1e-6).all()
    assert not fake_int8(np.zeros(3, np.float32)).any()


def test_without_samples_there_is_no_order(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no calibration data"):
        layer_sqnr(_chain(tmp_path / "m.onnx"), [])


@pytest.mark.parametrize("spoilt", [0, 3])
def test_quantisers_leave_the_sensitive_layer_and_say_so(tmp_path: Path, spoilt: int) -> None:
    model, name = _chain(tmp_path / "m.onnx", spoilt), f"MatMul_h{spoilt + 1}"
    for step in (Int8Static(_samples, share=0.8), Int8Dynamic(mixed=Kept(_samples, 0.8))):
        (folder := tmp_path / type(step).__name__).mkdir()
        change = step(model, folder / "q.onnx")
        assert list(change.facts["kept_in_float_db"]) == [name]
        assert sum(change.facts["quantised"].values()) == 4
        left = next(one for one in onnx.load(folder / "q.onnx").graph.node if one.name == name)
        assert left.op_type == "MatMul"


def test_a_gemm_is_kept_by_the_name_that_its_rewriting_gives_it(tmp_path: Path) -> None:
    change = Int8Dynamic(mixed=Kept(_samples, 0.01))(_chain(tmp_path / "m.onnx"), tmp_path / "q.onnx")
    assert change.unchanged
