from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from autotune.core.candidate import Candidate
from autotune.models import read_model
from autotune_backends.onnxruntime import OnnxRuntimeBackend

WIDTH, LAYERS = 8192, 8
WEIGHT_BYTES = WIDTH * WIDTH * 4


def large(path: Path) -> Path:
    """Eight MatMuls of 268 MB each in one external file: beyond what a protobuf message can hold."""
    nodes, weights = [], []
    random = np.random.default_rng(0)
    with (path.parent / "weights.bin").open("wb") as stream:
        for layer in range(LAYERS):
            array = random.standard_normal((WIDTH, WIDTH), dtype=np.float32) / np.sqrt(WIDTH)
            stream.write(array.astype(np.float32).data)
            tensor = TensorProto(name=f"w{layer}", data_type=TensorProto.FLOAT, dims=[WIDTH, WIDTH])
            tensor.data_location = TensorProto.EXTERNAL
            for key, value in (("location", "weights.bin"), ("offset", layer * WEIGHT_BYTES), ("length", WEIGHT_BYTES)):
                tensor.external_data.add(key=key, value=str(value))
            weights.append(tensor)
            nodes.append(helper.make_node("MatMul", [f"x{layer}", f"w{layer}"], [f"x{layer + 1}"], name=f"m{layer}"))
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", WIDTH]) for name in ("x0", f"x{LAYERS}")]
    graph = helper.make_graph(nodes, "large", ends[:1], ends[1:], initializer=weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_model_beyond_two_gigabytes_is_built_by_path(tmp_path: Path) -> None:
    backend, model = OnnxRuntimeBackend(), read_model(large(tmp_path / "m.onnx"))
    (device,) = backend.devices()
    assert model.size_bytes > 2**31
    inputs = {"x0": np.random.default_rng(1).standard_normal((1, WIDTH)).astype(np.float32)}
    found = []
    for number, candidate in enumerate((Candidate(precision="fp32"), Candidate(precision="int8_dynamic"))):
        folder = tmp_path / str(number)
        folder.mkdir()
        artifact = backend.build(model, candidate, device, folder, lambda: ())
        with backend.open(artifact, device) as session:
            found.append(session.outputs(inputs)[f"x{LAYERS}"].ravel())
    assert artifact.changed["int8_dynamic"]["quantised"] == {"MatMul": LAYERS}
    assert artifact.size_bytes < model.size_bytes / 3.5
    assert float(found[0] @ found[1] / np.linalg.norm(found[0]) / np.linalg.norm(found[1])) > 0.9
