from __future__ import annotations

import json
from pathlib import Path

import pytest

from autotune.core.errors import UserError
from autotune_backends.simulated.devices import device_named, read_device
from autotune_backends.simulated.step_costs import step_costs
from autotune_backends.simulated.transformers import model_named, transformer_of

TEN_LINES = "name: mine\nclass: gpu\npeak: {bf16: 100e12}\nmemory_bytes: 24e9\nbandwidth: 500e9\n"


def test_a_device_of_five_lines_prices_a_model(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(TEN_LINES)
    device = device_named(str(path))
    costs = step_costs(model_named("llama-3.1-8b"), device, {"precision": "int4"})
    assert costs.basis == "roofline"
    assert costs.power_w(0.5, 0.5) is None


def test_what_runs_other_software_than_any_measured_device_is_believed_less(tmp_path: Path) -> None:
    def interval(text: str) -> float:
        path = tmp_path / "mine.yaml"
        path.write_text(text + "confidence: high\n")
        return step_costs(model_named("llama-3.1-8b"), read_device(path), {}).interval

    assert interval(TEN_LINES) == interval(TEN_LINES + "software: rocm\n") == 0.5
    assert interval(TEN_LINES + "software: cuda\n") < 0.4


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (TEN_LINES + "bandwith: 1\n", "unknown key bandwith.*'bandwidth'"),
        (TEN_LINES + "power: {idle: 1}\n", "unknown key power.idle"),
        (TEN_LINES + "power: {idle_w: 1}\n", "peak_w"),
        ("name: x\n", "class, peak, memory_bytes, bandwidth is missing"),
        (TEN_LINES.replace("gpu", "npu"), "class 'npu' is unknown"),
        (TEN_LINES.replace("100e12", "fast"), "could not convert"),
        (TEN_LINES.replace("100e12", "-1"), "must be greater than 0"),
        (TEN_LINES.replace("500e9", ".nan"), "mine.yaml: bandwidth is nan"),
        (TEN_LINES.replace("100e12", ".inf"), "mine.yaml: peak.bf16 is inf"),
        (TEN_LINES + "name: again\n", "'name' comes twice"),
        ("[1, 2]", "no mapping"),
        ("{", "device file"),
    ],
)
def test_a_wrong_device_file_is_refused_by_its_key(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(UserError, match=problem):
        read_device(path)


def test_names_are_found_by_alias_and_in_any_spelling() -> None:
    assert device_named("H100_SXM") is not None
    assert device_named("h100").name == device_named("h100-sxm").name
    assert model_named("meta-llama/Llama-3.1-70B-Instruct").layers == 80


@pytest.mark.parametrize(
    ("name", "billions"),
    [
        ("llama-3.1-8b", 8.03),
        ("llama-2-70b", 68.98),
        ("mixtral-8x7b", 46.7),
        ("qwen3-30b-a3b", 30.5),
        ("deepseek-v3", 671.0),
        ("qwen3-32b", 32.8),
    ],
)
def test_models_have_as_many_parameters_as_they_are_published_with(name: str, billions: float) -> None:
    assert model_named(name).parameters / 1e9 == pytest.approx(billions, rel=0.005)


def test_a_config_file_is_read_and_one_that_lacks_a_size_is_refused(tmp_path: Path) -> None:
    config = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 100}
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert model_named(str(tmp_path)).kv_heads == 4
    with pytest.raises(UserError, match="lacks 'vocab_size'"):
        transformer_of({key: value for key, value in config.items() if key != "vocab_size"}, "x")


def test_a_latent_cache_is_smaller_than_that_of_the_same_heads() -> None:
    deep = model_named("deepseek-v3")
    assert deep.kv_elements_per_token == 61 * 576
