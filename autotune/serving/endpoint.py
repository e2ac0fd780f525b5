"""A model over HTTP, in the Open Inference Protocol (KServe v2). Needs fastapi and uvicorn; exported folders hold this very file.

    GET  /v2 · /v2/health/live · /v2/health/ready · /v2/models/NAME · /v2/models/NAME/ready
    POST /v2/models/NAME/infer     {"inputs": [{"name": …, "shape": […], "datatype": "FP32", "data": […]}]}

https://github.com/kserve/open-inference-protocol (specification/protocol/inference_rest.md). Tensors travel as JSON.
Concurrent requests meet in the batcher, and so run together.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

__all__ = ["Endpoint", "Tensor", "application", "from_json", "serve", "to_json"]

DATATYPES = {
    "BOOL": np.bool_,
    "UINT8": np.uint8,
    "UINT16": np.uint16,
    "UINT32": np.uint32,
    "UINT64": np.uint64,
    "INT8": np.int8,
    "INT16": np.int16,
    "INT32": np.int32,
    "INT64": np.int64,
    "FP16": np.float16,
    "FP32": np.float32,
    "FP64": np.float64,
}


class Submits(Protocol):
    """What the endpoint needs of a batcher."""

    def submit(self, inputs: dict[str, Any], priority: int = 0) -> Future[Any]:
        """Queue one request."""
        ...


@dataclass(frozen=True)
class Tensor:
    """An input or output of the model; -1 in ``shape`` for any size."""

    name: str
    datatype: str
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Endpoint:
    """A model as clients see it. ``platform`` is what runs it and in which format, ``openvino_onnx`` say."""

    name: str
    platform: str
    inputs: Sequence[Tensor]
    outputs: Sequence[Tensor]
    batcher: Submits


def datatype_of(dtype: Any) -> str:
    """The protocol's name of a numpy type; text and bytes are ``BYTES``."""
    return next((name for name, kind in DATATYPES.items() if np.dtype(kind) == dtype), "BYTES")


def from_json(tensor: dict[str, Any]) -> Any:
    """The array of a tensor in a request. Raises ``ValueError`` saying what is wrong."""
    name, datatype = tensor.get("name"), tensor.get("datatype")
    dtype = object if datatype == "BYTES" else DATATYPES.get(str(datatype))
    if dtype is None:
        raise ValueError(f"input {name!r}: there is no datatype {datatype!r}")
    try:
        return np.asarray(tensor["data"], dtype=dtype).reshape(tensor["shape"])
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"input {name!r} cannot be read: {error}") from error


def to_json(name: str, array: Any) -> dict[str, Any]:
    """An output as a response holds it: flat, in row-major order."""
    array = np.asarray(array)
    return {
        "name": name,
        "datatype": datatype_of(array.dtype),
        "shape": list(array.shape),
        "data": array.ravel().tolist(),
    }


def read_inputs(endpoint: Endpoint, body: Any) -> dict[str, Any]:
    """A request's arrays by input name. Raises ``ValueError``."""
    tensors = body.get("inputs") if isinstance(body, dict) else None
    if not isinstance(tensors, list) or not all(isinstance(tensor, dict) for tensor in tensors):
        raise ValueError('a request is {"inputs": [{"name": …, "shape": …, "datatype": …, "data": …}]}')
    given, wanted = sorted(str(tensor.get("name")) for tensor in tensors), sorted(one.name for one in endpoint.inputs)
    if given != wanted:
        raise ValueError(f"the inputs given are {', '.join(given) or 'none'}; the model takes {', '.join(wanted)}")
    return {tensor["name"]: from_json(tensor) for tensor in tensors}


def metadata(endpoint: Endpoint) -> dict[str, Any]:
    """What the protocol says of a model."""

    def described(tensors: Sequence[Tensor]) -> list[dict[str, Any]]:
        return [{"name": one.name, "datatype": one.datatype, "shape": list(one.shape)} for one in tensors]

    return {
        "name": endpoint.name,
        "versions": ["1"],
        "platform": endpoint.platform,
        "inputs": described(endpoint.inputs),
        "outputs": described(endpoint.outputs),
    }


async def infer(endpoint: Endpoint, body: Any) -> tuple[int, dict[str, Any]]:
    """Answer one inference request: an HTTP status and what to say."""
    try:
        future = endpoint.batcher.submit(read_inputs(endpoint, body))
    except ValueError as error:
        return 400, {"error": str(error)}
    except RuntimeError as error:  # the queue is full
        return 503, {"error": str(error)}
    try:
        outputs = await asyncio.wrap_future(future)
    except Exception as error:  # the runtime's own: wrong shapes and types mostly
        return 400, {"error": str(error)}
    answer = {"model_name": endpoint.name, "model_version": "1", "id": body.get("id", "")}
    return 200, {**answer, "outputs": [to_json(name, array) for name, array in outputs.items()]}


def application(endpoint: Endpoint) -> Any:
    """The ASGI application."""
    from fastapi import FastAPI
    from fastapi.responses import JSONResponse

    app = FastAPI(title=endpoint.name, openapi_url=None)
    model = f"/v2/models/{endpoint.name}"
    fixed: dict[str, dict[str, Any]] = {
        "/v2": {"name": "autotune", "version": "1", "extensions": []},
        "/v2/health/live": {"live": True},
        "/v2/health/ready": {"ready": True},
        model: metadata(endpoint),
        f"{model}/ready": {"name": endpoint.name, "ready": True},
    }

    def fixed_answer(content: dict[str, Any]) -> Any:
        async def answer(request: Any) -> Any:  # noqa: ARG001 -- every route is handed the request
            return JSONResponse(content)

        return answer

    async def inferred(request: Any) -> Any:
        try:
            body = await request.json()
        except ValueError as error:
            return JSONResponse({"error": f"the request is no JSON: {error}"}, 400)
        status, content = await infer(endpoint, body)
        return JSONResponse(content, status)

    for path, content in fixed.items():
        app.add_route(path, fixed_answer(content), methods=["GET"])
    app.add_route(f"{model}/infer", inferred, methods=["POST"])
    return app


def serve(endpoint: Endpoint, host: str = "127.0.0.1", port: int = 8000) -> None:
    """Serve until interrupted, on loopback unless told otherwise. Raises ``SystemExit`` when fastapi or uvicorn is missing."""
    try:
        import uvicorn

        app = application(endpoint)
    except ImportError as error:
        raise SystemExit(f"{error}: pip install fastapi uvicorn") from error
    print(f"serving {endpoint.name} on http://{host}:{port}/v2/models/{endpoint.name}")
    uvicorn.run(app, host=host, port=port, log_level="warning", access_log=False)
