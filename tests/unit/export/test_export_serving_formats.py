from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from autotune.core.candidate import Candidate
from autotune.core.device import DeviceSpec
from autotune.core.errors import UserError
from autotune.core.front import Point
from autotune.core.values import Value
from autotune.export.served import served_model
from autotune.export.serving_formats import SERVING_FORMATS, serving_files, write_serving
from autotune.replay.folder import read_exported
from autotune.testing.sample_search import sample_front, sample_search

H100 = DeviceSpec(name="h100-sxm", kind="simulated", device_class="gpu")
CANDIDATE = Candidate(
    runtime="simulated",
    precision="fp8",
    kv_precision="fp8",
    tp=4,
    pp=1,
    batching="continuous",
    max_num_seqs=128,
    max_batched_tokens=8192,
    chunked_prefill=False,
    page_tokens=16,
)


def point(candidate: Candidate = CANDIDATE) -> Point:
    metrics = {
        "device_count": Value(value=12.0, unit="1", provenance="simulated"),
        "ttft_p90": Value(value=0.4, low=0.3, high=0.9, unit="s", provenance="simulated"),
    }
    return Point(id="t0007", trial="t0007", device="h100-sxm", candidate=candidate, metrics=metrics)


def written(format: str) -> dict[str, str]:
    search = sample_search(Path("run"))
    devices = {"devices": (H100,)}
    search = search.model_copy(update={**devices, "context": search.context.model_copy(update=devices)})
    return serving_files(sample_front(search), point(), search, format)


def test_vllm_is_told_every_parameter_by_its_own_names() -> None:
    content = yaml.safe_load(written("vllm")["vllm.yaml"])
    assert content.pop("model")
    assert content == {
        "tensor-parallel-size": 4,
        "pipeline-parallel-size": 1,
        "max-num-seqs": 128,
        "max-num-batched-tokens": 8192,
        "enable-chunked-prefill": False,
        "block-size": 16,
        "quantization": "fp8",
        "kv-cache-dtype": "fp8",
    }


def test_a_deployment_has_the_replicas_and_each_pod_its_devices() -> None:
    deployment, service = yaml.safe_load_all(written("kubernetes")["deployment.yaml"])
    container = deployment["spec"]["template"]["spec"]["containers"][0]
    assert deployment["spec"]["replicas"] == 3
    assert container["resources"] == {"limits": {"nvidia.com/gpu": "4"}}
    assert "--no-enable-chunked-prefill" in container["args"]
    assert service["spec"]["selector"] == deployment["spec"]["selector"]["matchLabels"]
    assert deployment["spec"]["template"]["metadata"]["labels"] == service["spec"]["selector"]


def test_an_inference_service_keeps_the_number_of_replicas() -> None:
    predictor = yaml.safe_load(written("kserve")["inference_service.yaml"])["spec"]["predictor"]
    assert (predictor["minReplicas"], predictor["maxReplicas"]) == (3, 3)
    assert "--tensor-parallel-size=4" in predictor["model"]["args"]


def test_ray_serve_gets_the_engine_s_own_arguments() -> None:
    application = yaml.safe_load(written("ray-serve")["serve.yaml"])["applications"][0]
    model = application["args"]["llm_configs"][0]
    assert model["engine_kwargs"]["max_num_batched_tokens"] == 8192
    assert model["deployment_config"]["autoscaling_config"]["min_replicas"] == 3


@pytest.mark.parametrize("format", SERVING_FORMATS)
def test_whatever_was_simulated_is_only_estimated_of_a_server(format: str) -> None:
    promise = json.loads(written(format)["promise.json"])
    assert {value["provenance"] for value in promise["metrics"].values()} == {"estimated"}
    assert promise["replicas"] == 3


def test_a_format_that_no_loading_gives_says_that_the_checkpoint_must_have_it() -> None:
    served = served_model(point(CANDIDATE.with_(precision="int4")), H100, "m")
    assert served.quantised
    assert "quantization" not in served.arguments


@pytest.mark.parametrize(
    ("candidate", "device"),
    [
        (CANDIDATE.with_(batching="static"), H100),
        (CANDIDATE, DeviceSpec(name="tpu-v5e", kind="simulated", device_class="asic")),
    ],
)
def test_what_no_engine_serves_so_is_refused(candidate: Candidate, device: DeviceSpec) -> None:
    with pytest.raises(UserError):
        served_model(point(candidate), device, "m")


def test_nothing_of_others_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(UserError, match="not empty"):
        write_serving(tmp_path, written("vllm"))
    write_serving(tmp_path / "new", written("vllm"))
    write_serving(tmp_path / "new", written("vllm"))


@pytest.mark.parametrize("name", sorted(SERVING_FORMATS))
def test_a_servers_configuration_is_told_from_a_folder_that_can_be_run(tmp_path: Path, name: str):
    write_serving(tmp_path / "new", written(name))
    with pytest.raises(UserError, match="holds no model to run"):
        read_exported(tmp_path / "new")
