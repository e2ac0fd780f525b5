"""What is written for others is held against what they really read."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest
import yaml

from autotune.export.ray_serve import ACCELERATORS

Written = Callable[[str], dict[str, str]]


def known(engine: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((Path(__file__).parent / "known" / f"{engine}.yaml").read_text())
    return found


def vllm_arguments(format: str, written: Written) -> dict[str, Any]:
    files = written(format)
    if format == "triton":
        return dict(json.loads(files["models/digits/1/model.json"]))
    if format == "ray-serve":
        [model] = yaml.safe_load(files["serve.yaml"])["applications"][0]["args"]["llm_configs"]
        return dict(model["engine_kwargs"])
    return dict(yaml.safe_load(files["vllm.yaml"]))


@pytest.mark.parametrize("format", ["vllm", "triton", "ray-serve"])
def test_vllm_knows_every_argument_and_takes_every_value(format: str, written: Written) -> None:
    of_vllm = known("vllm")
    for name, value in vllm_arguments(format, written).items():
        argument = name.removeprefix("no-").replace("-", "_")
        assert argument in of_vllm["arguments"]
        assert value in of_vllm["values"].get(argument, [value])


@pytest.mark.parametrize("format", ["kubernetes", "kserve"])
def test_vllm_knows_every_option_of_a_container(format: str, written: Written) -> None:
    [text] = [text for name, text in written(format).items() if name.endswith(".yaml")]
    spec = next(yaml.safe_load_all(text))["spec"]
    args = (
        spec["predictor"]["model"]["args"] if format == "kserve" else spec["template"]["spec"]["containers"][0]["args"]
    )
    names = {word.removeprefix("--").removeprefix("no-").partition("=")[0].replace("-", "_") for word in args}
    assert names - {"model_name"} <= set(known("vllm")["arguments"])  # KServe's own


def test_tensorrt_llm_knows_every_option_and_takes_every_value(written: Written) -> None:
    of_engine = known("tensorrt_llm")
    options = yaml.safe_load(written("tensorrt-llm")["options.yaml"])
    assert set(options) <= set(of_engine["arguments"])
    for section in ("kv_cache_config", "scheduler_config"):
        assert set(options[section]) <= set(of_engine[section])
        for name, value in options[section].items():
            assert value in of_engine["values"].get(name, [value])


def test_ray_serve_has_every_field_and_knows_the_accelerator(written: Written) -> None:
    """Ray's model needs gRPC, transformers and more to be imported: its fields are read from its source."""
    [model] = yaml.safe_load(written("ray-serve")["serve.yaml"])["applications"][0]["args"]["llm_configs"]
    configs = ray_source("llm/_internal/serve/core/configs/llm_config.py")
    assert set(model) <= fields(configs, "LLMConfig")
    assert set(model["model_loading_config"]) <= fields(configs, "ModelLoadingConfig")
    assert set(model["deployment_config"]["autoscaling_config"]) <= fields(
        ray_source("serve/config.py"), "AutoscalingConfig"
    )
    accelerators = ray_source("util/accelerators/accelerators.py")
    known_ones = {ast.literal_eval(one.value) for one in accelerators.body if isinstance(one, ast.Assign)}
    assert model["accelerator_type"] in known_ones
    assert set(ACCELERATORS.values()) <= known_ones


def ray_source(file: str) -> ast.Module:
    return ast.parse(Path(str(distribution("ray").locate_file(f"ray/{file}"))).read_text())


def fields(source: ast.Module, name: str) -> set[str]:
    [found] = [one for one in source.body if isinstance(one, ast.ClassDef) and one.name == name]
    return {one.target.id for one in found.body if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)}


def test_kubernetes_itself_accepts_the_objects(written: Written) -> None:
    validator = pytest.importorskip("kubernetes_validate")
    for content in yaml.safe_load_all(written("kubernetes")["deployment.yaml"]):
        validator.validate(content, validator.latest_version(), strict=True)


def test_kserve_has_every_field_with_its_type(written: Written) -> None:
    """The package itself is too heavy for this: it brings gRPC's compiler, pandas and servers, and older psutil and protobuf."""
    models = known("kserve")
    service = yaml.safe_load(written("kserve")["inference_service.yaml"])
    assert faults(service, "V1beta1InferenceService", models) == []


def faults(content: Any, type_name: str, models: dict[str, Any], where: str = "") -> list[str]:
    """Fields that the model does not have, and values of another type than its."""
    if type_name in models:
        unknown = [f"{where}.{name}" for name in content if name not in models[type_name]]
        known_ones = ((name, models[type_name][name]) for name in content if name in models[type_name])
        return unknown + [
            fault for name, kind in known_ones for fault in faults(content[name], kind, models, f"{where}.{name}")
        ]
    if type_name.startswith("list["):
        return [fault for one in content for fault in faults(one, type_name[5:-1], models, where)]
    if type_name.startswith("dict("):
        return [] if all(isinstance(text, str) for pair in content.items() for text in pair) else [where]
    plain = {"str": str, "int": int, "bool": bool}
    return [] if type_name in plain and type(content) is plain[type_name] else [where]


def test_a_field_that_kserve_does_not_have_or_of_another_type_would_be_seen() -> None:
    models = known("kserve")
    assert faults(
        {"spec": {"predictor": {"minReplica": 1, "maxReplicas": "2"}}}, "V1beta1InferenceService", models
    ) == [
        ".spec.predictor.minReplica",
        ".spec.predictor.maxReplicas",
    ]


def test_triton_reads_the_model_s_configuration(written: Written, parsed: Callable[[str], Any]) -> None:
    read = parsed(written("triton")["models/digits/config.pbtxt"])
    assert (read.name, read.backend, read.max_batch_size) == ("digits", "vllm", 0)
    assert read.model_transaction_policy.decoupled
    assert [tensor.name for tensor in read.output] == ["text_output"]
    assert [(group.count, group.Kind.Name(group.kind)) for group in read.instance_group] == [(1, "KIND_MODEL")]
