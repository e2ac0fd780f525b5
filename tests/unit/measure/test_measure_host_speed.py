from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime as ort
import pytest

from autotune.measure.host_speed import host_speed
from autotune.measure.micro_models import MICRO_MODELS

LAUNCH, PRODUCT, PEAK, SLOW = 2e-6, 3e-6, 100e9, 10e9


def seconds(name: str) -> float:
    """On a machine of those figures."""
    model = MICRO_MODELS[name]
    if model.moved_bytes:
        return model.kernels * LAUNCH + model.moved_bytes / SLOW
    share = {"depthwise": 0.2, "conv_3x3": 0.5, "conv_1x1": 0.5, "int8": 4.0}.get(name, 1.0)
    return model.kernels * PRODUCT + model.flops / (PEAK * share)


def test_a_machine_s_figures_are_found_again() -> None:
    times = {name: seconds(name) for name in MICRO_MODELS}
    found = host_speed(times | {"launches": 64 * LAUNCH})
    assert found.fp32_peak == pytest.approx(PEAK)
    assert found.int8_peak == pytest.approx(4 * PEAK)
    assert (found.gemm, found.conv, found.depthwise) == pytest.approx((1.0, 0.5, 0.2))
    assert (found.launch_s, found.gemm_floor_s) == pytest.approx((LAUNCH, PRODUCT))
    assert list(found.bandwidth.values()) == pytest.approx([SLOW] * 3)
    assert "billion operations a second" in str(found)


@pytest.mark.parametrize("name", [name for name in MICRO_MODELS if name not in ("memory_large", "memory_middle")])
def test_each_small_model_runs(name: str, tmp_path: Path) -> None:
    model = MICRO_MODELS[name]
    session = ort.InferenceSession(model.write(tmp_path / "m.onnx"), providers=["CPUExecutionProvider"])
    (output,) = session.run(None, model.inputs())
    assert np.isfinite(output).all()
