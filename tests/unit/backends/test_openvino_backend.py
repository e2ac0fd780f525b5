from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from autotune.core.candidate import Candidate
from autotune.core.device import DeviceSpec
from autotune.core.model import BatchAxis, ModelFacts
from autotune.models import read_model
from autotune.testing.onnx_cases import strings, twin_names
from autotune.testing.onnx_models import embedding, mlp, node, save, value, with_external_data
from autotune_backends.openvino import OpenVinoBackend
from autotune_backends.openvino.failures import message_of
from autotune_backends.openvino.offers import offer, refusal
from autotune_backends.openvino.settings import session_settings

_CPU = DeviceSpec(name="cpu", cpus=4)
_BATCHED = BatchAxis(works=True, symbol="N")


def _built(model: ModelFacts, folder: Path, **candidate: str | int) -> Path:
    folder.mkdir()
    backend = OpenVinoBackend()
    artifact = backend.build(model, Candidate(runtime="openvino", **candidate), _CPU, folder, list)
    settings = backend.deployment(artifact, artifact.candidate).session.model_dump(mode="json")
    (folder / "config.json").write_text(json.dumps({"model": artifact.model, "session": settings}))
    return folder


@pytest.mark.parametrize(
    ("isa", "choices"),
    [
        (("avx2",), ("fp32",)),
        (("avx512f", "avx512_bf16"), ("fp32", "bf16")),
        (("amx_bf16", "avx512_fp16"), ("fp32", "bf16")),
        (("asimd", "asimdhp"), ("fp32", "fp16")),
        (("asimd", "asimdhp", "bf16"), ("fp32", "bf16")),
    ],
)
def test_lower_precision_is_offered_where_the_cpu_multiplies_in_it(
    isa: tuple[str, ...], choices: tuple[str, ...]
) -> None:
    found = offer(_CPU.model_copy(update={"isa": isa}), _BATCHED).parameter("inference_precision")
    assert found is not None
    assert found.choices == choices


def test_without_the_package_every_model_is_refused_with_the_command_that_mends_it(tmp_path: Path) -> None:
    model = read_model(mlp(tmp_path / "m.onnx"))
    assert "pip install" in (refusal(model, _CPU, OpenVinoBackend.package) or "")
    assert refusal(model, _CPU, None) is None


def test_strings_are_refused_by_name(tmp_path: Path) -> None:
    assert "words" in (refusal(read_model(strings(tmp_path / "s.onnx")), _CPU, None) or "")


def test_every_setting_that_would_follow_the_machine_is_fixed() -> None:
    found = session_settings(Candidate(inference_precision="bf16", intra_op_threads=3), 8)
    assert found.options == {"INFERENCE_PRECISION_HINT": "bf16", "INFERENCE_NUM_THREADS": 3, "NUM_STREAMS": 1}
    assert session_settings(Candidate(), 8).options["INFERENCE_NUM_THREADS"] == 8
    assert session_settings(Candidate(), 8).options["INFERENCE_PRECISION_HINT"] == "f32"


def test_messages_leave_out_where_in_its_source_openvino_stopped() -> None:
    raised = RuntimeError(
        "Exception from src/inference/src/cpp/core.cpp:132:\nCheck 'm->f(x)' failed at src/a.cpp:563:\n"
        "FrontEnd API failed with GeneralFailure:\nModel can't be parsed\n\n"
    )
    assert message_of(raised) == "Model can't be parsed"


def test_precisions_of_one_model_are_artifacts_of_their_own(tmp_path: Path) -> None:
    """Quality is kept by the artifact's hash: two precisions must not share it."""
    model, backend = read_model(mlp(tmp_path / "m.onnx")), OpenVinoBackend()
    hashes = set[str]()
    for precision in ("fp32", "bf16"):
        (folder := tmp_path / precision).mkdir()
        candidate = Candidate(runtime="openvino", inference_precision=precision)
        hashes.add(backend.build(model, candidate, _CPU, folder, list).sha256)
    assert len(hashes) == 2


class TestWithOpenVino:
    @pytest.fixture(autouse=True)
    def _needs_openvino(self) -> None:
        pytest.importorskip("openvino", reason="the extra `openvino` is not installed")

    def test_unknown_operator_is_refused_by_its_name(self, tmp_path: Path) -> None:
        nodes = [node("Foo", ["x"], ["y"], domain="com.microsoft")]
        path = save(tmp_path / "f.onnx", nodes, [value("x", ["N", 4])], [value("y", ["N", 4])])
        model = read_model(mlp(tmp_path / "m.onnx")).model_copy(update={"path": path, "files": (path.name,)})
        assert "Foo" in (OpenVinoBackend().offers(model, _CPU).refusal or "")

    def test_batch_is_offered_after_it_was_tried(self, tmp_path: Path) -> None:
        offered = OpenVinoBackend().offers(read_model(embedding(tmp_path / "e.onnx")), _CPU)
        assert offered.parameter("batch_size") is not None

    @pytest.mark.parametrize("make", [twin_names, with_external_data])
    def test_exported_files_answer_as_onnxruntime_does_without_autotune_or_telemetry(
        self, tmp_path: Path, make: object
    ) -> None:
        import onnxruntime

        import autotune.replay
        from autotune.export.ort import run_text

        assert callable(make)
        model = read_model(make(tmp_path / "m.onnx"))
        folder = _built(model, tmp_path / "out", intra_op_threads=1)
        beside = Path(autotune.replay.__file__).parent / "openvino_session.py"
        (folder / "run.py").write_text(run_text())
        (folder / "openvino_session.py").write_text(beside.read_text())
        sample = np.random.default_rng(0).standard_normal((2, model.inputs[0].shape[1])).astype(np.float32)  # type: ignore[index,arg-type]
        np.savez(folder / "in.npz", x=sample)
        answered = self._run(folder, tmp_path)
        if make is twin_names:  # onnxruntime refuses those; OpenVINO does not mind
            assert answered["y"].shape[0] == 2
            return
        session = onnxruntime.InferenceSession(str(model.path), providers=["CPUExecutionProvider"])
        np.testing.assert_allclose(answered["y"], session.run(["y"], {"x": sample})[0], rtol=1e-4, atol=1e-5)

    def _run(self, folder: Path, home: Path) -> Mapping[str, np.ndarray]:
        code = (
            "import runpy, sys; sys.argv = ['run.py', '--input', 'in.npz', '--output', 'out.npz'];"
            "blocked = {name: None for name in ('autotune', 'onnxruntime')}; sys.modules.update(blocked);"
            "\ntry: runpy.run_path('run.py', run_name='__main__')"
            "\nexcept SystemExit as ended: assert not ended.code"
        )
        environment = {"HOME": str(home), "PATH": "/usr/bin:/bin"}
        subprocess.run([sys.executable, "-c", code], cwd=folder, env=environment, check=True, capture_output=True)
        assert not (home / "intel").exists()
        with np.load(folder / "out.npz") as outputs:
            return dict(outputs)
