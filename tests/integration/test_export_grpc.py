"""A server that speaks the Open Inference Protocol over gRPC, as Triton does: the protocol's own service, in this process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from autotune.core.errors import UserError
from autotune.export.grpc_client import GrpcClient

grpc = pytest.importorskip("grpc")
service_pb2 = pytest.importorskip("tritonclient.grpc.service_pb2")
service_pb2_grpc = pytest.importorskip("tritonclient.grpc.service_pb2_grpc")


class Halving(service_pb2_grpc.GRPCInferenceServiceServicer):
    """Serves one model, ``halve``: ``y`` is half of ``x``, and ``names`` come back as they are."""

    def ModelInfer(self, request: Any, context: Any) -> Any:
        if request.model_name != "halve":
            context.abort(grpc.StatusCode.NOT_FOUND, f"unknown model: {request.model_name!r}")
        response = service_pb2.ModelInferResponse(model_name="halve")
        for tensor, raw in zip(request.inputs, request.raw_input_contents, strict=True):
            named = {"x": "y"}.get(tensor.name, tensor.name)
            response.outputs.add(name=named, datatype=tensor.datatype, shape=tensor.shape)
            half = (np.frombuffer(raw, np.float32) / 2).tobytes() if tensor.datatype == "FP32" else raw
            response.raw_output_contents.append(half)
        return response


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    server = grpc.server(ThreadPoolExecutor(4))
    service_pb2_grpc.add_GRPCInferenceServiceServicer_to_server(Halving(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield port
    server.stop(None).wait(5)


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [
        ({"x": np.arange(6, dtype=np.float32).reshape(2, 3)}, {"y": np.arange(6).reshape(2, 3) / 2}),
        ({"x": np.ones((3, 2), np.float32).T}, {"y": np.full((2, 3), 0.5)}),
        ({"names": np.array([["a", "ü"]])}, {"names": np.array([["a", "ü"]])}),
    ],
    ids=["floats", "not contiguous", "text"],
)
def test_tensors_go_there_and_come_back(port: int, inputs: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    with GrpcClient("127.0.0.1", port, "halve") as client:
        outputs = client.infer(inputs)
    assert outputs.keys() == expected.keys()
    assert all(np.array_equal(outputs[name], array) for name, array in expected.items())


def test_many_threads_share_one_client(port: int) -> None:
    with GrpcClient("127.0.0.1", port, "halve") as client, ThreadPoolExecutor(8) as threads:
        asked = [{"x": np.full((1, 4), number, np.float32)} for number in range(64)]
        answers = list(threads.map(client.infer, asked))
    assert [answer["y"][0, 0] for answer in answers] == [number / 2 for number in range(64)]


def test_what_the_server_refuses_is_a_persons_mistake(port: int) -> None:
    with GrpcClient("127.0.0.1", port, "other") as client, pytest.raises(UserError, match="refuses: unknown model"):
        client.infer({"x": np.zeros((1, 1), np.float32)})
