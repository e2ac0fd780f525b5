from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from autotune.core.device import DeviceSpec
from autotune.core.errors import UserError
from autotune.core.front import Point
from autotune.export.served import served_model
from autotune.export.serving_formats import SERVING_FORMATS, write_serving
from autotune.export.tensorrt_llm import llm_options
from autotune.export.vllm import command_line, engine_arguments, vllm_files
from autotune.replay.folder import read_exported

Written = Callable[[str], dict[str, str]]
GOLDEN = Path(__file__).parent / "golden"


def changed(point: Point, **parameters: object) -> Point:
    return point.model_copy(update={"candidate": point.candidate.with_(**parameters)})  # type: ignore[arg-type]


@pytest.mark.parametrize("format", SERVING_FORMATS)
def test_every_format_writes_what_was_reviewed(format: str, written: Written) -> None:
    expected = {
        str(path.relative_to(GOLDEN / format)): path.read_text()
        for path in (GOLDEN / format).rglob("*")
        if path.is_file()
    }
    files = {name: text for name, text in written(format).items() if name not in ("promise.json", "README.md")}
    assert files == expected


@pytest.mark.parametrize("format", SERVING_FORMATS)
def test_whatever_was_simulated_is_only_estimated_of_a_server(format: str, written: Written) -> None:
    files = written(format)
    promise = json.loads(files["promise.json"])
    assert {value["provenance"] for value in promise["metrics"].values()} == {"estimated"}
    assert promise["replicas"] == 3
    assert "estimated" in files["README.md"]
    assert all("estimated" in text for name, text in files.items() if name.endswith((".yaml", ".pbtxt")))


def test_a_pattern_of_pruned_weights_says_that_the_checkpoint_must_have_it(
    simulated_point: Point, h100: DeviceSpec
) -> None:
    assert "pruned" not in served_model(simulated_point, h100, "m").checkpoint
    pruned = served_model(changed(simulated_point, sparsity="2:4"), h100, "m")
    assert pruned.checkpoint.startswith("a checkpoint pruned to 2:4")


def test_a_format_of_one_server_says_how_many_are_needed(written: Written) -> None:
    assert "one of 3 equal servers" in written("vllm")["README.md"]
    assert "equal servers" not in written("kubernetes")["README.md"]


def test_a_format_that_no_loading_gives_says_that_the_checkpoint_must_have_it(
    simulated_point: Point, h100: DeviceSpec
) -> None:
    served = served_model(changed(simulated_point, precision="int4"), h100, "m")
    assert served.quantised
    assert served.checkpoint == "a checkpoint quantised to int4"
    assert "quantization" not in engine_arguments(served)


def test_a_switch_that_is_off_is_off_in_every_version_of_vllm(simulated_point: Point, h100: DeviceSpec) -> None:
    served = served_model(simulated_point, h100, "m")
    content = yaml.safe_load(vllm_files(served)["vllm.yaml"])
    assert content["no-enable-chunked-prefill"] is True
    assert not any(value is False for value in content.values())
    assert "--no-enable-chunked-prefill" in command_line(served)


def test_an_engine_is_told_the_memory_that_was_simulated(simulated_point: Point, h100: DeviceSpec) -> None:
    assert engine_arguments(served_model(simulated_point, h100, "m"))["gpu_memory_utilization"] == 0.9
    less = served_model(changed(simulated_point, memory_share=0.7), h100, "m")
    assert engine_arguments(less)["gpu_memory_utilization"] == 0.7


def test_an_int8_cache_has_a_name_in_vllm_and_none_in_tensorrt_llm(simulated_point: Point, h100: DeviceSpec) -> None:
    served = served_model(changed(simulated_point, kv_precision="int8"), h100, "m")
    assert engine_arguments(served)["kv_cache_dtype"] == "int8_per_token_head"
    with pytest.raises(UserError, match="int8"):
        llm_options(served)


def test_a_draft_model_is_told_as_json_on_a_command_line_and_as_a_mapping_in_python(
    simulated_point: Point, h100: DeviceSpec
) -> None:
    point = changed(simulated_point, draft_model="llama-3.2-1b", speculative_tokens=3, acceptance=0.7)
    served = served_model(point, h100, "m")
    expected = {"model": "llama-3.2-1b", "num_speculative_tokens": 3}
    assert engine_arguments(served)["speculative_config"] == expected
    assert json.loads(yaml.safe_load(vllm_files(served)["vllm.yaml"])["speculative-config"]) == expected
    [word] = [word for word in command_line(served) if word.startswith("--speculative-config=")]
    assert json.loads(word.partition("=")[2]) == expected
    with pytest.raises(UserError, match="draft model"):
        llm_options(served)


@pytest.mark.parametrize(
    "change", [{"batching": "static"}, {"device": "tpu"}, {"decode_device": "a100-sxm"}, {"preemption": "swap"}]
)
def test_what_no_engine_serves_so_is_refused(change: dict[str, str], simulated_point: Point, h100: DeviceSpec) -> None:
    device = h100.model_copy(update={"name": "tpu-v5e", "device_class": "asic"}) if "device" in change else h100
    with pytest.raises(UserError, match="t0007"):
        served_model(changed(simulated_point, **change), device, "m")


@pytest.mark.parametrize("format", ["vllm", "triton"])
def test_nothing_of_others_is_written_over(format: str, tmp_path: Path, written: Written) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(UserError, match="not empty"):
        write_serving(tmp_path, written(format))
    write_serving(tmp_path / "new", written(format))
    write_serving(tmp_path / "new", written(format))


@pytest.mark.parametrize("name", sorted(SERVING_FORMATS))
def test_a_servers_configuration_is_told_from_a_folder_that_can_be_run(
    tmp_path: Path, name: str, written: Written
) -> None:
    write_serving(tmp_path / "new", written(name))
    with pytest.raises(UserError, match="holds no model to run"):
        read_exported(tmp_path / "new")
