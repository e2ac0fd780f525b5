"""Infers over HTTP with a server of the Open Inference Protocol (KServe v2)."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Mapping
from typing import Any, Self

from autotune.core.errors import UserError
from autotune.serving.endpoint import from_json, to_json

__all__ = ["HttpClient"]

_TIMEOUT_S = 30.0


class HttpClient:
    """One connection a thread; tensors travel as JSON. A context manager that closes the connections.

    ``path`` leads to the protocol's ``/v2`` where the server is not at the root.
    """

    overhead = "the network and the protocol's JSON"

    def __init__(self, host: str, port: int, path: str, model: str) -> None:
        self._address = (host, port)
        self._path = f"{path.rstrip('/')}/v2/models/{model}/infer"
        self._url = f"http://{host}:{port}{path}"
        self._own = threading.local()
        self._connections: list[http.client.HTTPConnection] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for connection in self._connections:
            connection.close()

    def infer(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Every output by name. Raises ``UserError`` when the server cannot be reached or refuses."""
        body = json.dumps({"inputs": [to_json(name, array) for name, array in inputs.items()]})
        try:
            status, answer = self._post(body)
        except (OSError, http.client.HTTPException, ValueError) as error:
            self._own.connection = None
            raise UserError(f"{self._url} does not answer: {error}", "is the server running there?") from error
        if status != http.client.OK:
            raise UserError(f"{self._url} refuses: {answer.get('error', status)}", "does it serve this model?")
        return {tensor["name"]: from_json(tensor) for tensor in answer["outputs"]}

    def _post(self, body: str) -> tuple[int, dict[str, Any]]:
        connection = getattr(self._own, "connection", None)
        if connection is None:
            connection = self._own.connection = http.client.HTTPConnection(*self._address, timeout=_TIMEOUT_S)
            self._connections.append(connection)
        connection.request("POST", self._path, body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        answer: dict[str, Any] = json.loads(response.read())
        return response.status, answer
