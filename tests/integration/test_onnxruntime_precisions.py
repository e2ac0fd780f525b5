"""Number formats on real sessions: each builds, opens and is near the original, or says why not."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from autotune.api.prepare import prepare
from autotune.api.settings import SearchSettings
from autotune.core.artifact import Artifact
from autotune.core.candidate import Candidate
from autotune.core.errors import BuildError, CheckError
from autotune.core.samples import Tensors
from autotune.measure.check import check_outputs
from autotune.models import read_model
from autotune.testing import onnx_cases, onnx_models
from autotune_backends.onnxruntime import OnnxRuntimeBackend
from autotune_backends.transform.onnx import calibration, prepared

DIGITS = Path(__file__).parents[2] / "examples/digits"
FP32 = Candidate(precision="fp32", graph_optimization="disabled", intra_op_threads=1)
STATIC = Candidate(precision="int8_static", int8_per_channel=True)
HALF = Candidate(precision="fp16")
INT4 = Candidate(precision="int4_weights", weight_block=32)
needs_tool = pytest.mark.skipif(find_spec("onnx_ir") is None, reason="onnxruntime's block quantiser needs onnx-ir")

Samples = Iterable[Tensors]
Build = Callable[..., Artifact]


@pytest.fixture
def backend() -> OnnxRuntimeBackend:
    return OnnxRuntimeBackend()


@pytest.fixture
def build(backend: OnnxRuntimeBackend, tmp_path: Path) -> Build:
    def built(path: Path, candidate: Candidate, samples: Samples = (), library: Path | None = None) -> Artifact:
        folder = tmp_path / f"artifact{len(list(tmp_path.glob('artifact*')))}"
        folder.mkdir()
        model = read_model(path, custom_op_library=library)
        artifact = backend.build(model, candidate, backend.devices()[0], folder, lambda: samples, library)
        assert sorted(artifact.files) == sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*"))
        return artifact

    return built


def run(backend: OnnxRuntimeBackend, artifact: Artifact, inputs: Tensors) -> Tensors:
    with backend.open(artifact, backend.devices()[0]) as session:
        return session.outputs(inputs)


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    a, b = a.astype(np.float64), b.astype(np.float64)
    return float((a * b).sum() / np.sqrt((a * a).sum() * (b * b).sum()))


def floats(*shape: int, count: int = 8, name: str = "x") -> list[Tensors]:
    random = np.random.default_rng(0)
    return [{name: random.standard_normal(shape).astype(np.float32)} for _ in range(count)]


def nearness(backend: OnnxRuntimeBackend, build: Build, path: Path, artifact: Artifact, inputs: Tensors) -> float:
    first, second = (run(backend, one, inputs) for one in (artifact, build(path, FP32)))
    return min(cosine(first[name], second[name]) for name in second)


def digits(count: int = 32) -> list[Tensors]:
    return [{"image": image[None]} for image in np.load(DIGITS / "test.npz")["image"][:count]]


# static int8


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"int8_per_channel": False},
        {"int8_static_operators": "products"},
        {"int8_types": "s8s8"},
        {"int8_types": "u8u8"},
        {"int8_calibration": "entropy"},
        {"int8_calibration": "percentile"},
        {"int8_reduce_range": True},
    ],
    ids=str,
)
def test_static_int8_digits_keep_their_accuracy(
    backend: OnnxRuntimeBackend, build: Build, changes: dict[str, bool | str]
) -> None:
    data = np.load(DIGITS / "test.npz")
    artifact = build(DIGITS / "model.onnx", STATIC.with_(**changes), digits())
    found = run(backend, artifact, {"image": data["image"]})["logits"]
    assert (found.argmax(1) == data["labels"]).mean() > 0.98
    told = artifact.changed["int8_static"]
    assert told["quantised"]["Conv"] == 4
    assert told["quantised"]["Gemm"] == 2
    assert told["calibrated_on"] == 32
    assert artifact.size_bytes < (DIGITS / "model.onnx").stat().st_size / 3


def test_static_int8_is_built_alike_whatever_the_groups_of_samples(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = build(DIGITS / "model.onnx", STATIC, digits(12))
    monkeypatch.setattr(calibration, "ACTIVATION_BYTES", 0)
    assert build(DIGITS / "model.onnx", STATIC, digits(12)).sha256 == whole.sha256


def test_calibration_data_are_never_held_all_at_once(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    alive, most = 0, 0

    class Image(dict):  # type: ignore[type-arg]
        def __init__(self, image: np.ndarray) -> None:
            nonlocal alive, most
            super().__init__(image=image)
            alive += 1
            most = max(most, alive)

        def __del__(self) -> None:
            nonlocal alive
            alive -= 1

    monkeypatch.setattr(calibration, "ACTIVATION_BYTES", 0)
    build(DIGITS / "model.onnx", STATIC, (Image(one["image"]) for one in digits(24)))
    assert most <= 5


def test_static_int8_without_samples_is_a_failed_build(build: Build) -> None:
    with pytest.raises(BuildError, match="no calibration data"):
        build(DIGITS / "model.onnx", STATIC)


def test_samples_of_different_lengths_calibrate(backend: OnnxRuntimeBackend, build: Build, tmp_path: Path) -> None:
    path = onnx_models.encoder(tmp_path / "m.onnx")
    random = np.random.default_rng(0)
    samples = [{"ids": random.integers(0, 64, (1, length))} for length in (5, 9, 9, 3)]
    for method in calibration.METHODS:
        artifact = build(path, STATIC.with_(int8_calibration=method, int8_static_operators="products"), samples)
        assert nearness(backend, build, path, artifact, samples[1]) > 0.9


def test_the_operator_set_is_raised_before_scales_for_each_channel(
    backend: OnnxRuntimeBackend, build: Build, tmp_path: Path
) -> None:
    path = onnx_cases.old_opset(tmp_path / "m.onnx")
    samples = floats(1, 16)
    for per_channel, version in ((True, 13), (False, 11)):
        artifact = build(path, STATIC.with_(int8_per_channel=per_channel), samples)
        assert artifact.changed["int8_static"]["prepare"]["opset"] == f"converted 7 → {version}"
        assert nearness(backend, build, path, artifact, samples[0]) > 0.99


@pytest.mark.parametrize("candidate", [STATIC, HALF, pytest.param(INT4, marks=needs_tool)], ids=str)
def test_weights_in_a_file_of_their_own_stay_so(
    backend: OnnxRuntimeBackend, build: Build, tmp_path: Path, candidate: Candidate
) -> None:
    path = onnx_models.with_external_data(tmp_path / "m.onnx", features=64, hidden=128)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir() if file.is_file()}
    artifact = build(path, candidate, floats(1, 64))
    assert artifact.files == ("model.onnx", "model.onnx.data")
    assert nearness(backend, build, path, artifact, floats(2, 64)[0]) > 0.98
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir() if file.is_file()} == before


def test_a_model_with_inline_weights_moves_them_out_when_it_is_large(
    build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prepared, "EXTERNAL_ABOVE_BYTES", 0)
    path = onnx_models.mlp(tmp_path / "m.onnx", features=64, hidden=128)
    assert build(path, STATIC, floats(1, 64)).files == ("model.onnx", "model.onnx.data")


def test_static_int8_inside_a_branch_only_is_said_to_be_unchanged(build: Build, tmp_path: Path) -> None:
    path = onnx_cases.matmul_in_branch(tmp_path / "m.onnx")
    artifact = build(path, STATIC.with_(int8_static_operators="products"), floats(1, 4))
    assert "nothing was quantised" in (artifact.unchanged or "")
    assert artifact.sha256 == build(path, FP32).sha256


def test_the_users_operators_reach_calibration(build: Build, tmp_path: Path) -> None:
    library = tmp_path / "libacme.so"
    library.write_bytes(b"\x7fELF but not a library")
    with pytest.raises(BuildError, match=r"libacme\.so"):
        build(onnx_cases.custom_op(tmp_path / "m.onnx"), STATIC, floats(1, 4), library)


@pytest.mark.parametrize(
    ("case", "sample"),
    [
        (onnx_cases.weight_as_input, {"x": (1, 4)}),
        (onnx_cases.twin_names, {"x": (1, 8)}),
        (onnx_cases.nonzero, {"x": (2, 4)}),
        (onnx_cases.saturating, {"x": (1, 256)}),
    ],
    ids=["weight as input", "twin names", "nonzero", "saturating"],
)
def test_static_int8_of_models_that_broke_quantisers(
    backend: OnnxRuntimeBackend,
    build: Build,
    tmp_path: Path,
    case: Callable[[Path], Path],
    sample: dict[str, tuple[int, ...]],
) -> None:
    path = case(tmp_path / "m.onnx")
    samples = [{name: np.abs(array) for name, array in one.items()} for one in floats(*sample["x"])]
    artifact = build(path, STATIC, samples)
    assert artifact.changed["int8_static"]["quantised"]["MatMul"] >= 1
    assert nearness(backend, build, path, artifact, samples[0]) > 0.98


def test_a_bias_that_is_a_row_does_not_stop_the_quantiser(
    backend: OnnxRuntimeBackend, build: Build, tmp_path: Path
) -> None:
    node, value, weight = onnx_models.node, onnx_models.value, onnx_models.weight
    weights = {"w": weight(0, 16, 8), "row": weight(1, 1, 8)}
    path = tmp_path / "m.onnx"
    gemm = node("Gemm", ["x", "w", "row"], ["y"])
    onnx_models.save(path, [gemm], [value("x", ["N", 16])], [value("y", ["N", 8])], weights)
    artifact = build(path, STATIC, floats(1, 16))
    assert artifact.changed["int8_static"]["quantised"] == {"Gemm": 1}
    assert nearness(backend, build, path, artifact, floats(1, 16)[0]) > 0.99


# float16


def test_half_precision_digits_keep_their_accuracy_and_their_interface(
    backend: OnnxRuntimeBackend, build: Build
) -> None:
    data = np.load(DIGITS / "test.npz")
    artifact = build(DIGITS / "model.onnx", HALF, digits())
    found = run(backend, artifact, {"image": data["image"]})["logits"]
    assert found.dtype == np.float32
    assert (found.argmax(1) == data["labels"]).mean() > 0.98
    told = artifact.changed["fp16"]
    assert told["range_checked_on"] == 16
    assert "warning" not in told
    assert artifact.size_bytes < (DIGITS / "model.onnx").stat().st_size * 0.6


def test_an_overflow_that_the_cpu_hides_is_warned_of(backend: OnnxRuntimeBackend, build: Build, tmp_path: Path) -> None:
    path = onnx_cases.overflowing_half(tmp_path / "m.onnx")
    samples = [{"x": np.full((1, 8), 400, np.float32)}]
    artifact = build(path, HALF, samples)
    told = artifact.changed["fp16"]
    assert told["beyond_range"]["s"] == 160_000
    assert "infinite" in told["warning"]
    assert artifact.warnings == (f"warning (fp16): {told['warning']}",)
    calm = build(path, HALF, [{"x": np.full((1, 8), 20, np.float32)}])
    assert calm.warnings == ()


def test_ranges_are_not_claimed_to_be_checked_without_samples(build: Build, tmp_path: Path) -> None:
    told = build(onnx_models.mlp(tmp_path / "m.onnx"), HALF).changed["fp16"]
    assert told["range_checked_on"] == 0


def test_integers_cast_to_float_load_as_half(backend: OnnxRuntimeBackend, build: Build, tmp_path: Path) -> None:
    path = onnx_cases.int_to_float(tmp_path / "m.onnx")
    inputs = {"ids": np.arange(8, dtype=np.int64)[None]}
    assert nearness(backend, build, path, build(path, HALF, [inputs]), inputs) > 0.999


def test_a_model_in_half_precision_already_is_copied(build: Build, tmp_path: Path) -> None:
    path = onnx_cases.half_input(tmp_path / "m.onnx")
    artifact = build(path, HALF)
    assert artifact.unchanged is None
    assert (artifact.folder / "model.onnx").read_bytes() == path.read_bytes()


# weights alone


@needs_tool
@pytest.mark.parametrize("block", [32, 64, 128])
@pytest.mark.parametrize("products", ["int8", "fp32"])
@pytest.mark.parametrize(("bits", "near"), [(4, 0.97), (8, 0.9999)])
def test_weights_alone_stay_near_the_original(
    backend: OnnxRuntimeBackend, build: Build, tmp_path: Path, bits: int, near: float, block: int, products: str
) -> None:
    path = onnx_models.mlp(tmp_path / "m.onnx", features=200, hidden=256)
    candidate = Candidate(precision=f"int{bits}_weights", weight_block=block, weight_products=products)
    artifact = build(path, candidate)
    assert artifact.changed[f"int{bits}_weights"]["quantised"] == {"MatMul": 2}
    assert nearness(backend, build, path, artifact, floats(3, 200)[0]) > near


@needs_tool
def test_gemm_is_quantised_as_a_matmul(backend: OnnxRuntimeBackend, build: Build) -> None:
    path = DIGITS / "model.onnx"
    artifact = build(path, INT4)
    assert artifact.changed["int4_weights"]["quantised"] == {"MatMul": 2}
    assert nearness(backend, build, path, artifact, digits(1)[0]) > 0.95


@needs_tool
def test_weights_alone_where_there_are_none_is_said(build: Build, tmp_path: Path) -> None:
    path = onnx_cases.overflowing_half(tmp_path / "m.onnx")
    artifact = build(path, INT4)
    assert "nothing was quantised" in (artifact.unchanged or "")
    assert artifact.sha256 == build(path, FP32).sha256


@needs_tool
def test_a_mishandled_block_is_found_before_timing(backend: OnnxRuntimeBackend, build: Build, tmp_path: Path) -> None:
    path = onnx_models.mlp(tmp_path / "m.onnx", features=64, hidden=64)
    artifact = build(path, INT4)
    file = artifact.folder / artifact.model
    model = onnx.load(file)
    for weight in model.graph.initializer:
        if "scale" in weight.name:
            weight.CopyFrom(numpy_helper.from_array(np.zeros_like(numpy_helper.to_array(weight)), weight.name))
    onnx.save(model, file)
    inputs = floats(1, 64)[0]
    reference, zeros = run(backend, build(path, FP32), inputs), run(backend, artifact, inputs)
    with pytest.raises(CheckError):
        check_outputs(zeros, zeros, reference, exact=False)


@needs_tool
def test_the_block_tool_leaves_logging_as_it_was(
    build: Build, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    handlers, level = list(logging.root.handlers), logging.root.level
    build(onnx_models.mlp(tmp_path / "m.onnx"), INT4)
    assert (logging.root.handlers, logging.root.level) == (handlers, level)
    assert capfd.readouterr() == ("", "")


# fusion

FUSED = Candidate(precision="fp32", fusion="transformer")


def test_a_transformers_parts_are_fused_and_counted(backend: OnnxRuntimeBackend, build: Build, tmp_path: Path) -> None:
    path = onnx_models.encoder(tmp_path / "m.onnx")
    artifact = build(path, FUSED)
    told = artifact.changed["fusion"]
    assert told["fused"]["com.microsoft::Attention"] == 1
    assert told["nodes_after"] < told["nodes_before"] / 3
    inputs = {"ids": np.arange(14).reshape(2, 7)}
    expected = run(backend, build(path, FP32), inputs)["y"]
    np.testing.assert_allclose(run(backend, artifact, inputs)["y"], expected, rtol=1e-4, atol=1e-4)


def test_what_was_fused_is_quantised_as_one(backend: OnnxRuntimeBackend, build: Build, tmp_path: Path) -> None:
    path = onnx_models.encoder(tmp_path / "m.onnx")
    artifact = build(path, FUSED.with_(precision="int8_dynamic", int8_per_channel=True, int8_operators="matmul"))
    assert artifact.changed["int8_dynamic"]["quantised"] == {"Attention": 1, "MatMul": 3}
    assert nearness(backend, build, path, artifact, {"ids": np.arange(14).reshape(2, 7)}) > 0.99


def test_fusion_that_finds_nothing_is_said_and_the_model_is_as_it_was(build: Build, tmp_path: Path) -> None:
    path = onnx_models.mlp(tmp_path / "m.onnx")
    artifact = build(path, FUSED)
    assert "found no attention" in (artifact.unchanged or "")
    assert artifact.sha256 == build(path, FP32).sha256


def test_fusion_that_finds_nothing_beside_a_quantiser_is_no_repeat(build: Build, tmp_path: Path) -> None:
    artifact = build(onnx_models.mlp(tmp_path / "m.onnx"), FUSED.with_(precision="int8_dynamic"))
    assert artifact.unchanged is None
    assert "found no attention" in artifact.changed["fusion"]["unchanged"]
    assert artifact.changed["int8_dynamic"]["quantised"] == {"MatMul": 2}


def test_a_tool_that_changes_the_interface_is_a_failed_build(
    build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def renamed(path: str, **_: object):  # type: ignore[no-untyped-def]
        from onnxruntime.transformers.onnx_model import OnnxModel

        model = onnx.load(onnx_models.encoder(Path(path)))
        model.graph.output[0].name = model.graph.node[-1].output[0] = "z"
        model.graph.node.append(onnx.helper.make_node("Gelu", ["z"], ["unused"], domain="com.microsoft"))
        return OnnxModel(model)

    monkeypatch.setattr("onnxruntime.transformers.optimizer.optimize_model", renamed)
    with pytest.raises(BuildError, match="inputs or outputs"):
        build(onnx_models.encoder(tmp_path / "m.onnx"), FUSED)


@pytest.mark.parametrize("memory", ["pattern", "arena", "system"])
def test_where_activations_lie_changes_no_output(
    backend: OnnxRuntimeBackend, build: Build, tmp_path: Path, memory: str
) -> None:
    path = onnx_models.mlp(tmp_path / "m.onnx")
    inputs = floats(2, 16)[0]
    found = run(backend, build(path, FP32.with_(memory=memory)), inputs)
    np.testing.assert_array_equal(found["y"], run(backend, build(path, FP32), inputs)["y"])


@pytest.mark.parametrize("data", [None, str(DIGITS / "test.npz")], ids=["generated", "given"])
def test_a_search_calibrates_on_the_users_data_only(tmp_path: Path, data: str | None) -> None:
    settings = SearchSettings(model=DIGITS / "model.onnx", data=data, output=tmp_path / "run", tracking=False)
    space = prepare(settings).search.space
    precision = space.parameter("precision")
    assert precision is not None
    assert ("int8_static" in precision.choices) is (data is not None)
    assert (space.experts[0]["precision"] == "int8_static") is (data is not None)
    assert all(space.fault(one) is None for one in (space.baseline, space.reference, *space.experts))
    told = [one.reason for one in space.omissions if "int8_static" in one.values]
    assert bool(told) is (data is None)
