from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from autotune.core.artifact import Artifact
from autotune.core.candidate import Candidate
from autotune.core.errors import BuildError, MeasureError, OpenError
from autotune.core.samples import Tensors
from autotune.core.workload import BUILT_IN
from autotune.models import read_model
from autotune.testing import onnx_cases, onnx_models
from autotune_backends.onnxruntime import OnnxRuntimeBackend
from autotune_backends.transform.onnx import prepared

DIGITS = Path(__file__).parents[2] / "examples/digits"
FP32 = Candidate(precision="fp32", graph_optimization="disabled", intra_op_threads=1)
INT8 = Candidate(precision="int8_dynamic", int8_per_channel=True, int8_operators="all")
MATMUL = INT8.with_(int8_operators="matmul")

Build = Callable[..., Artifact]


@pytest.fixture
def backend() -> OnnxRuntimeBackend:
    return OnnxRuntimeBackend()


@pytest.fixture
def build(backend: OnnxRuntimeBackend, tmp_path: Path) -> Build:
    def built(path: Path, candidate: Candidate, library: Path | None = None) -> Artifact:
        folder = tmp_path / f"artifact{len(list(tmp_path.glob('artifact*')))}"
        folder.mkdir()
        model = read_model(path, custom_op_library=library)
        return backend.build(model, candidate, backend.devices()[0], folder, lambda: (), library)

    return built


def run(backend: OnnxRuntimeBackend, artifact: Artifact, inputs: Tensors) -> Tensors:
    with backend.open(artifact, backend.devices()[0]) as session:
        return session.outputs(inputs)


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float((a * b).sum() / np.sqrt((a * a).sum() * (b * b).sum()))


@pytest.mark.parametrize("candidate", [FP32, INT8, MATMUL], ids=["fp32", "int8", "int8 matmul"])
def test_digits_keep_their_accuracy(backend: OnnxRuntimeBackend, build: Build, candidate: Candidate) -> None:
    data = np.load(DIGITS / "test.npz")
    found = run(backend, build(DIGITS / "model.onnx", candidate), {"image": data["image"]})["logits"]
    assert (found.argmax(1) == data["labels"]).mean() > 0.98


def test_int8_digits_are_smaller_and_say_what_changed(build: Build) -> None:
    original, matmul, every = (build(DIGITS / "model.onnx", candidate) for candidate in (FP32, MATMUL, INT8))
    assert every.size_bytes < matmul.size_bytes < original.size_bytes / 2
    assert original.changed == {}
    assert matmul.changed["int8_dynamic"]["quantised"] == {"MatMul": 2}
    assert every.changed["int8_dynamic"]["quantised"] == {"Conv": 4, "MatMul": 2}
    assert every.changed["int8_dynamic"]["bytes_after"] == every.size_bytes


def test_digits_space_has_named_candidates_that_are_legal(backend: OnnxRuntimeBackend) -> None:
    from autotune_search_spaces.onnx import onnx_space

    model = read_model(DIGITS / "model.onnx")
    space = onnx_space(model, [backend.offers(model, backend.devices()[0])], BUILT_IN["default"])
    assert space.parameter("batch_size") is not None
    assert [space.fault(c) for c in (space.baseline, space.reference, *space.experts) if space.fault(c)] == []


def test_the_model_as_it_is_is_copied_byte_by_byte(build: Build, tmp_path: Path) -> None:
    path = onnx_models.with_external_data(tmp_path / "m.onnx")
    artifact = build(path, FP32)
    assert artifact.files == ("m.data", "model.onnx")
    assert (artifact.folder / "model.onnx").read_bytes() == path.read_bytes()
    assert (artifact.folder / "m.data").read_bytes() == (tmp_path / "m.data").read_bytes()


def test_large_models_keep_their_weights_in_a_file_of_their_own(
    backend: OnnxRuntimeBackend, build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = onnx_models.mlp(tmp_path / "m.onnx", features=64, hidden=128)
    monkeypatch.setattr(prepared, "EXTERNAL_ABOVE_BYTES", 0)
    artifact = build(path, INT8)
    assert artifact.files == ("model.onnx", "model.onnx.data")
    inputs = {"x": np.random.default_rng(0).standard_normal((2, 64)).astype(np.float32)}
    assert cosine(run(backend, artifact, inputs)["y"], run(backend, build(path, FP32), inputs)["y"]) > 0.99


def test_old_opset_is_converted_and_said(backend: OnnxRuntimeBackend, build: Build, tmp_path: Path) -> None:
    path = onnx_cases.old_opset(tmp_path / "m.onnx")
    artifact = build(path, INT8)
    assert artifact.changed["int8_dynamic"]["prepare"]["opset"] == "converted 7 → 11"
    (name, shape) = next((one.name, one.shape) for one in read_model(path).inputs)
    sizes = [size if isinstance(size, int) else 2 for size in shape or ()]
    inputs = {name: np.random.default_rng(0).standard_normal(sizes).astype(np.float32)}
    first, second = (run(backend, one, inputs) for one in (artifact, build(path, FP32)))
    assert [cosine(first[output], second[output]) > 0.99 for output in second] == [True]


def test_matmul_inside_a_branch_is_said_to_be_unchanged(build: Build, tmp_path: Path) -> None:
    path = onnx_cases.matmul_in_branch(tmp_path / "m.onnx")
    artifact = build(path, INT8)
    assert "inside control flow" in (artifact.unchanged or "")
    assert artifact.sha256 == build(path, FP32).sha256
    assert artifact.changed == {}


def test_twin_names_are_repaired_on_a_copy_with_a_map(
    backend: OnnxRuntimeBackend, build: Build, tmp_path: Path
) -> None:
    path = onnx_cases.twin_names(tmp_path / "m.onnx")
    plain, small = build(path, FP32), build(path, INT8)
    assert plain.changed == {"repair": {"renamed": {"twin_2": "twin"}}}
    assert plain.unchanged is None
    assert small.changed["int8_dynamic"]["repair"]["renamed"] == {"twin_2": "twin"}
    assert backend.offers(read_model(path), backend.devices()[0]).parameter("batch_size") is not None


def test_a_weight_listed_as_input_does_not_become_a_required_one(
    backend: OnnxRuntimeBackend, build: Build, tmp_path: Path
) -> None:
    path = onnx_cases.weight_as_input(tmp_path / "m.onnx")
    (true,) = read_model(path).inputs
    sizes = [size if isinstance(size, int) else 2 for size in true.shape or ()]
    inputs = {true.name: np.ones(sizes, np.float32)}
    for candidate in (FP32, INT8):
        assert run(backend, build(path, candidate), inputs)


def test_unknown_shapes_do_not_stop_the_quantiser(build: Build, tmp_path: Path) -> None:
    artifact = build(onnx_cases.nonzero(tmp_path / "m.onnx"), INT8)
    assert artifact.changed["int8_dynamic"]["quantised"] == {"MatMul": 1}


def test_folding_that_fails_is_left_out_and_said(backend: OnnxRuntimeBackend, build: Build, tmp_path: Path) -> None:
    path = onnx_cases.custom_op(tmp_path / "m.onnx")
    library = tmp_path / "libacme.so"
    library.write_bytes(b"\x7fELF, and nothing more")
    prepared = build(path, INT8, library).changed["int8_dynamic"]["prepare"]
    assert prepared["skipped"] == "constant folding"
    assert "libacme.so" in prepared["because"]


def test_fixed_reshape_takes_batch_out_of_the_offer(backend: OnnxRuntimeBackend, tmp_path: Path) -> None:
    offer = backend.offers(read_model(onnx_cases.fixed_reshape(tmp_path / "m.onnx")), backend.devices()[0])
    assert offer.parameter("batch_size") is None
    (reason,) = [omission.reason for omission in offer.omissions if omission.parameter == "batch_size"]
    assert reason.startswith("batch 2 was tried and failed")
    assert "\n" not in reason


@pytest.mark.parametrize("case", [onnx_cases.qdq, onnx_cases.qoperator])
def test_quantised_models_are_not_offered_int8(
    backend: OnnxRuntimeBackend, tmp_path: Path, case: Callable[[Path], Path]
) -> None:
    offer = backend.offers(read_model(case(tmp_path / "m.onnx")), backend.devices()[0])
    assert offer.parameter("precision").choices == ("original",)  # type: ignore[union-attr]


def test_model_before_a_custom_operator_is_quantised_but_needs_its_library(
    backend: OnnxRuntimeBackend, build: Build, tmp_path: Path
) -> None:
    library = tmp_path / "libacme.so"
    library.write_bytes(b"\x7fELF, and nothing more")
    artifact = build(onnx_cases.custom_op(tmp_path / "m.onnx"), INT8, library)
    assert artifact.changed["int8_dynamic"]["quantised"] == {"MatMul": 1}
    assert artifact.custom_op_library == library
    for needed in (library, None):
        with pytest.raises(OpenError) as raised:
            run(backend, artifact.model_copy(update={"custom_op_library": needed}), {})
        assert raised.value.cause == "custom_op"


def test_a_tools_error_is_a_failed_build_with_its_words(
    build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stumble(*_: object, **__: object) -> None:
        raise ValueError("The truth value of an array\nis ambiguous")

    monkeypatch.setattr("onnxruntime.quantization.quantize_dynamic", stumble)
    with pytest.raises(BuildError) as raised:
        build(onnx_models.mlp(tmp_path / "m.onnx"), INT8)
    assert raised.value.message.endswith("ValueError: The truth value of an array is ambiguous")


def test_wrong_inputs_are_a_measure_error_with_the_runtimes_words(
    backend: OnnxRuntimeBackend, build: Build, tmp_path: Path
) -> None:
    with pytest.raises(MeasureError, match="Got invalid dimensions"):
        run(backend, build(onnx_models.mlp(tmp_path / "m.onnx"), FP32), {"x": np.zeros((1, 3), np.float32)})


def test_looking_for_the_backend_loads_no_runtime() -> None:
    code = "import sys, autotune_backends.onnxruntime as o; o.OnnxRuntimeBackend().devices(); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"onnxruntime", "onnx", "psutil"} & set(loaded)


def test_a_sessions_process_loads_little() -> None:
    code = "import sys, autotune_backends.onnxruntime.session; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"onnx", "optuna", "ray", "mlflow", "scipy", "sympy"} & set(loaded)
