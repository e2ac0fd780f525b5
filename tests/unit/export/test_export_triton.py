from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autotune.core.deployment import Batching, ExportedConfig, SessionSettings
from autotune.core.errors import UserError
from autotune.core.model import TensorFacts
from autotune.export import ReplaySamples, write_export
from autotune.export.triton import not_carried, triton_config, write_triton
from autotune.replay.folder import read_exported
from autotune.testing.onnx_models import mlp

X = TensorFacts(name="x", dtype="float32", shape=("batch", 64))
Y = TensorFacts(name="y", dtype="float32", shape=("batch", 10))
SESSION = SessionSettings(
    options={
        "graph_optimization_level": "ORT_ENABLE_EXTENDED",
        "execution_mode": "ORT_PARALLEL",
        "intra_op_num_threads": 1,
        "inter_op_num_threads": 2,
        "enable_cpu_mem_arena": True,
        "enable_mem_pattern": False,
    },
    config_entries={"session.intra_op.allow_spinning": "0"},
)
POLICY = Batching(max_batch=8, delay_s=0.0025, instances=2)


def test_the_policy_and_the_session_are_what_triton_reads(config: ExportedConfig, parsed: Callable[[str], Any]) -> None:
    read = parsed(triton_config("m", config.model_copy(update={"batching": POLICY, "session": SESSION}), [X], [Y]))
    assert (read.name, read.backend, read.max_batch_size) == ("m", "onnxruntime", 8)
    assert read.dynamic_batching.max_queue_delay_microseconds == 2500
    assert list(read.dynamic_batching.preferred_batch_size) == [8]
    assert [(group.count, group.Kind.Name(group.kind)) for group in read.instance_group] == [(2, "KIND_CPU")]
    assert [list(tensor.dims) for tensor in (*read.input, *read.output)] == [[64], [10]]
    assert read.optimization.graph.level == 1
    assert {key: value.string_value for key, value in read.parameters.items()} == {
        "intra_op_thread_count": "1",
        "inter_op_thread_count": "2",
        "execution_mode": "1",
        "enable_mem_arena": "1",
        "enable_mem_pattern": "0",
    }
    assert read.version_policy.latest.num_versions == 1


def test_without_a_policy_nothing_is_batched_and_every_axis_is_kept(
    config: ExportedConfig, parsed: Callable[[str], Any]
) -> None:
    read = parsed(triton_config("m", config, [X], [Y]))
    assert read.max_batch_size == 0
    assert list(read.input[0].dims) == [-1, 64]
    assert not read.HasField("dynamic_batching")


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "float16", "float64", "str"])
def test_types_and_names_of_any_kind_are_read(config: ExportedConfig, parsed: Callable[[str], Any], dtype: str) -> None:
    odd = TensorFacts(name='größe "0":\n\\x', dtype=dtype, shape=("batch",))
    read = parsed(triton_config("m", config.model_copy(update={"batching": POLICY}), [odd], [Y]))
    assert read.input[0].name == odd.name
    assert list(read.input[0].dims) == [1]
    assert list(read.input[0].reshape.shape) == []


@pytest.mark.parametrize("tensor", [X.model_copy(update={"dtype": "complex64"}), X.model_copy(update={"shape": None})])
def test_what_triton_cannot_hold_is_refused(config: ExportedConfig, tensor: TensorFacts) -> None:
    with pytest.raises(UserError, match="--format ort"):
        triton_config("m", config, [tensor], [Y])


def test_settings_that_triton_cannot_be_told_are_named() -> None:
    assert not_carried(SESSION) == ("session.intra_op.allow_spinning=0",)


def test_a_repository_holds_the_model_and_promises_nothing_as_measured(
    tmp_path: Path, config: ExportedConfig, samples: ReplaySamples
) -> None:
    (tmp_path / "built").mkdir()
    mlp(tmp_path / "built" / "model.onnx", hidden=16, features=64)
    write_export(tmp_path / "files", config, tmp_path / "built", ["model.onnx"], samples=samples)
    for _ in range(2):  # an earlier repository is replaced
        write_triton(tmp_path / "files", tmp_path / "triton")
    found = sorted(path.relative_to(tmp_path / "triton").as_posix() for path in (tmp_path / "triton").rglob("*.*"))
    assert found == [
        "README.md",
        "config.json",
        "models/model/1/model.onnx",
        "models/model/config.pbtxt",
        "samples.npz",
        "workload.yaml",
    ]
    read = read_exported(tmp_path / "triton")
    assert read.format == "triton"
    assert {value.provenance for value in read.promise.metrics.values()} == {"estimated"}
    assert "tritonserver --model-repository=models" in (tmp_path / "triton" / "README.md").read_text()
