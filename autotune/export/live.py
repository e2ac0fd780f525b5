"""``autotune verify DIR --url``: a running server of the Open Inference Protocol against what an exported folder promises."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol, Self
from urllib.parse import urlsplit

import numpy as np

from autotune.core.deployment import Batching, ExportedConfig
from autotune.core.errors import UserError
from autotune.core.serving import GiveUp, OpenLoop, Served
from autotune.core.values import Value
from autotune.export.grpc_client import GrpcClient
from autotune.export.http_client import HttpClient
from autotune.export.judging import judge_absolute
from autotune.export.quality_check import check_outputs_sane
from autotune.export.triton import model_name
from autotune.export.verdict import Compared, VerifyReport, overall
from autotune.replay.folder import read_exported
from autotune.replay.samples import read_samples

__all__ = ["verify_server"]

_CLIENTS = 32
_WARM = 20
_PATIENCE_S = 5.0
_SEED = 20


class Client(Protocol):
    """Infers with a running server. ``overhead`` says in words what every time includes besides the server's own."""

    @property
    def overhead(self) -> str: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *error: object) -> None: ...
    def infer(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Every output by name. Raises ``UserError`` when the server cannot be reached or refuses."""


def connect(url: str, model: str) -> Client:
    """The client of ``url``: http (port 8000 unless given) or grpc (8001). Raises ``UserError`` for any other address."""
    parts = urlsplit(url if "://" in url else f"http://{url}")
    if parts.hostname and parts.scheme == "http":
        return HttpClient(parts.hostname, parts.port or 8000, parts.path, model)
    if parts.hostname and parts.scheme == "grpc":
        return GrpcClient(parts.hostname, parts.port or 8001, model)
    raise UserError(
        f"--url {url!r} is no HTTP or gRPC address", "give for example http://localhost:8000 or grpc://localhost:8001"
    )


def verify_server(
    folder: str | Path, url: str, *, budget_s: float = 60.0, begin: Callable[[], object] = lambda: None
) -> VerifyReport:
    """Send the folder's samples to the server at ``url``, then its load; compare outputs and response times with the promise.

    The network and the protocol are part of the times. ``begin`` is called when the folder was read, before anything is sent.
    Raises ``UserError`` when the folder has no samples or the server is away.
    """
    path = Path(folder)
    config = read_exported(path)
    if not (path / "samples.npz").is_file():
        raise UserError(f"{path} has no samples.npz to send", "export it without --no-samples")
    samples = read_samples(path / "samples.npz")
    with connect(url, _served_name(config)) as client:
        notes = [f"every time includes {client.overhead}"]
        begin()
        compared = [check_outputs_sane(client.infer, samples.inputs[0], samples.outputs[0])]
        if compared[0].verdict == "kept":
            times, note = _times(config, client, samples.inputs, budget_s)
            compared += times
            notes += note
    return VerifyReport(
        folder=path, verdict=overall(compared), compared=tuple(compared), attempts=1, notes=tuple(notes)
    )


def _served_name(config: ExportedConfig) -> str:
    """A repository's model is named by its folder; ``run.py`` names it by its file."""
    return Path(config.model).parts[1] if config.format == "triton" else model_name(config)


def _times(config: ExportedConfig, client: Client, inputs: Any, budget_s: float) -> tuple[list[Compared], list[str]]:
    from autotune.measure.load_time import load_s
    from autotune.measure.windows import percentile_intervals

    phase = next((one for one in config.promise.workload.phases if one.scenario == "server"), None)
    names = [name for name in config.promise.metrics if name.startswith(("latency_p", "response_p"))]
    rate = phase.rate_per_s if phase is not None else None
    if phase is None or rate is None:
        return [_not_compared(name, config, "the promise knows no rate") for name in names], []
    served = _loaded(client, inputs, rate, min(load_s(phase), budget_s))
    found = {
        f"{level:g}".replace(".", "_"): Value(
            value=one.value, unit="s", low=one.low, high=one.high, n=len(served.latency_s)
        )
        for level, one in percentile_intervals(served).items()
    }
    compared = [
        judge_absolute(name, config.promise.metrics[name], found[level])
        if (level := name.rpartition("_p")[2]) in found
        else _not_compared(name, config, "too few requests fitted into the budget")
        for name in names
    ]
    lag_s = float(np.quantile(served.lag_s, 0.99))
    ended = " The server did not keep up, and the load was ended." if served.stopped else ""
    return compared, [
        f"{len(served.latency_s)} requests at {rate:g}/s; sent late by {lag_s * 1e3:.2g} ms (p99).{ended}"
    ]


def _loaded(client: Client, inputs: Any, rate: float, duration_s: float) -> Served:
    """Poisson arrivals, each sent by the first of a pool of clients that is free."""
    from autotune.measure.load_generator import serve
    from autotune.measure.saturation import poisson

    for index in range(_WARM):
        client.infer(inputs[index % len(inputs)])
    policy = Batching(max_batch=1, delay_s=0.0, instances=_CLIENTS)
    load = OpenLoop(poisson(rate, duration_s, _SEED), policy, GiveUp(longest_wait_s=_PATIENCE_S))
    return serve([client.infer] * _CLIENTS, inputs, load)


def _not_compared(name: str, config: ExportedConfig, reason: str) -> Compared:
    return Compared(metric=name, verdict="not compared", promised=config.promise.metrics[name], reason=reason)
