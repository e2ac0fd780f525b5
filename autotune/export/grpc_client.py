"""Infers over gRPC with a server of the Open Inference Protocol (KServe v2), through NVIDIA's client (extra ``grpc``)."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from autotune.core.errors import UserError
from autotune.serving.endpoint import datatype_of

__all__ = ["GrpcClient"]

_TIMEOUT_S = 30.0
_AWAY = ("StatusCode.UNAVAILABLE", "StatusCode.DEADLINE_EXCEEDED")


class GrpcClient:
    """One channel a thread: the client is not made for sharing. A context manager that closes them.

    Raises ``UserError`` where tritonclient or its gRPC part is missing.
    """

    overhead = "the network"

    def __init__(self, host: str, port: int, model: str) -> None:
        try:
            import tritonclient.grpc as api
        except (ImportError, RuntimeError) as error:  # RuntimeError: tritonclient without its gRPC part
            raise UserError("a grpc:// address needs tritonclient", "pip install 'autotune-inference[grpc]'") from error
        self._api, self._model, self._url = api, model, f"{host}:{port}"
        self._own = threading.local()
        self._channels: list[Any] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for channel in self._channels:
            channel.close()

    def infer(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Every output by name. Raises ``UserError`` when the server cannot be reached or refuses."""
        asked = [self._tensor(name, np.ascontiguousarray(array)) for name, array in inputs.items()]
        try:
            answer = self._channel().infer(self._model, asked, client_timeout=_TIMEOUT_S)
        except self._api.InferenceServerException as error:
            if error.status() in _AWAY:
                raise UserError(
                    f"grpc://{self._url} does not answer: {error.message()}", "is the server running there?"
                ) from error
            raise UserError(f"grpc://{self._url} refuses: {error.message()}", "does it serve this model?") from error
        return {tensor.name: _text_kept(answer.as_numpy(tensor.name)) for tensor in answer.get_response().outputs}

    def _tensor(self, name: str, array: Any) -> Any:
        datatype = datatype_of(array.dtype)
        tensor = self._api.InferInput(name, list(array.shape), datatype)
        tensor.set_data_from_numpy(array.astype(object) if datatype == "BYTES" else array)
        return tensor

    def _channel(self) -> Any:
        channel = getattr(self._own, "channel", None)
        if channel is None:
            channel = self._own.channel = self._api.InferenceServerClient(self._url)
            self._channels.append(channel)
        return channel


def _text_kept(array: Any) -> Any:
    """ONNX's strings are text; the protocol carries them as bytes."""
    if array.dtype != object:
        return array
    return np.array([one.decode(errors="replace") for one in array.ravel()], dtype=object).reshape(array.shape)
