"""What the reader says of a model and what is generated for it: onnxruntime must agree."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from autotune.data import batches, open_data, open_dataset
from autotune.models import read_model
from autotune.testing import onnx_cases, onnx_models

REFUSED = {"H04", "H04 opset", "H10", "H12"}  # by the reader; H12 by onnxruntime, until it is renamed
BUILDERS: dict[str, Callable[[Path], Path]] = {
    **{name: build for name, build in onnx_cases.CASES.items() if name not in REFUSED},
    "mlp": onnx_models.mlp,
    "conv": onnx_models.conv_net,
    "embedding": onnx_models.embedding,
    "external data": onnx_models.with_external_data,
}


@pytest.mark.parametrize("build", BUILDERS.values(), ids=BUILDERS)
def test_generated_inputs_run(tmp_path: Path, build: Callable[[Path], Path]) -> None:
    path = build(tmp_path / "m.onnx")
    facts = read_model(path)
    dataset = open_dataset(open_data(None, facts, 0), facts)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    for inputs, _ in batches(dataset, [0, 1, 63], facts):
        outputs = session.run(None, inputs)
        assert [output.name for output in facts.outputs] == [output.name for output in session.get_outputs()]
        assert all(np.size(output) for output in outputs)


def test_sizes_asked_for_are_those_of_the_inputs(tmp_path: Path) -> None:
    path = onnx_cases.shared_symbols(tmp_path / "m.onnx")
    facts = read_model(path, dims={"N": 4, "S": 3})
    inputs, _ = next(batches(open_dataset(open_data(None, facts, 0), facts), [0], facts))
    (joined,) = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"]).run(None, inputs)
    assert joined.shape == (4, 3 + facts.dims["P"])


def test_user_s_samples_run_in_batches_as_one_by_one(tmp_path: Path) -> None:
    path = onnx_models.mlp(tmp_path / "m.onnx")
    facts = read_model(path)
    x = np.random.default_rng(0).standard_normal((7, 16))
    np.savez(tmp_path / "d.npz", x=x, labels=np.arange(7))
    dataset = open_dataset(open_data(str(tmp_path / "d.npz"), facts, 0), facts)
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    one, many = (
        np.concatenate([session.run(None, inputs)[0] for inputs, _ in batches(dataset, range(7), facts, batch)])
        for batch in (1, 3)
    )
    assert one.shape == (7, 10)
    np.testing.assert_allclose(one, many, rtol=1e-5)
