from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import numpy as np
import pytest

from autotune.replay import standalone
from autotune.serving.batcher import Batcher
from autotune.serving.endpoint import DATATYPES, Endpoint, Tensor, application, from_json, to_json

X = Tensor("x", "FP32", (-1, 2))
Y = Tensor("y", "FP32", (-1, 2))


def doubled(inputs: dict[str, Any]) -> dict[str, Any]:
    if inputs["x"].shape[1] != 2:
        raise RuntimeError("Got: 3 Expected: 2")
    return {"y": inputs["x"] * 2}


def ask(requests: list[tuple[str, str, Any]], batcher: Batcher | None = None) -> list[httpx.Response]:
    async def together() -> list[httpx.Response]:
        with batcher or Batcher([doubled], max_batch=4, delay_s=0.02) as serving:
            app = application(Endpoint("m", "openvino_onnx", [X], [Y], serving))
            async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
                return await asyncio.gather(*(client.request(how, url, json=body) for how, url, body in requests))

    with ThreadPoolExecutor(1) as thread:  # where no other test's event loop runs
        return thread.submit(lambda: asyncio.run(together())).result()


def tensor(**changes: Any) -> dict[str, Any]:
    return {"inputs": [{"name": "x", "shape": [1, 2], "datatype": "FP32", "data": [1, 2]} | changes]}


def test_requests_that_come_together_run_together_and_each_gets_its_own_answer() -> None:
    batcher = Batcher([doubled], max_batch=4, delay_s=10)
    answers = ask([("POST", "/v2/models/m/infer", tensor(data=[n, n])) for n in range(4)], batcher)
    assert [answer.json()["outputs"][0]["data"] for answer in answers] == [[2 * n, 2 * n] for n in range(4)]
    assert batcher.batches == [4]
    assert answers[0].json()["outputs"][0] | {"data": 0} == {
        "name": "y",
        "datatype": "FP32",
        "shape": [1, 2],
        "data": 0,
    }


def test_health_and_metadata_follow_the_protocol() -> None:
    paths = ["/v2/health/live", "/v2/health/ready", "/v2/models/m/ready", "/v2", "/v2/models/m"]
    *healthy, model = ask([("GET", path, None) for path in paths])
    assert [answer.status_code for answer in healthy] == [200] * 4
    assert model.json()["inputs"] == [{"name": "x", "datatype": "FP32", "shape": [-1, 2]}]
    assert model.json()["platform"] == "openvino_onnx"


@pytest.mark.parametrize(
    ("session", "file", "platform"),
    [
        ({}, "model.onnx", "onnxruntime_onnx"),
        ({"runtime": "onnxruntime"}, "model.ort", "onnxruntime_ort"),
        ({"runtime": "openvino"}, "model.onnx", "openvino_onnx"),
        ({"runtime": "torch"}, "program.pt2", "torch_pt2"),
    ],
)
def test_the_platform_is_what_opens_the_model_whichever_backend_built_it(
    session: dict[str, Any], file: str, platform: str
) -> None:
    assert standalone.platform({"runtime": "torch", "model": file, "session": session}) == platform


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({}, "a request is"),
        ({"inputs": []}, "the model takes x"),
        (tensor(name="z"), "the inputs given are z"),
        (tensor(datatype="FP31"), "no datatype 'FP31'"),
        (tensor(shape=[5, 5]), "cannot be read"),
        (tensor(data=["a", "b"]), "cannot be read"),
        (tensor(shape=[1, 3], data=[1, 2, 3]), "Expected: 2"),
    ],
)
def test_a_mistake_in_a_request_is_told_and_the_server_goes_on(body: Any, words: str) -> None:
    batcher = Batcher([doubled])
    wrong, right = ask([("POST", "/v2/models/m/infer", body), ("POST", "/v2/models/m/infer", tensor())], batcher)
    assert wrong.status_code == 400
    assert words in wrong.json()["error"]
    assert right.json()["outputs"][0]["data"] == [2, 4]


@pytest.mark.parametrize("datatype", DATATYPES)
def test_every_datatype_survives_the_way_there_and_back(datatype: str) -> None:
    array = np.asarray([[0, 1], [1, 0]], dtype=DATATYPES[datatype])
    sent = to_json("x", array)
    assert sent["datatype"] == datatype
    assert np.array_equal(from_json(sent), array)
    assert from_json(sent).dtype == array.dtype
