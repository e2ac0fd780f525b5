"""Reads the options that are text into core's types; each mistake is a ``UserError`` that names the option."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from autotune import plugins
from autotune.api.settings import SearchSettings
from autotune.core.dataset import DataFacts
from autotune.core.errors import UserError, nearest
from autotune.core.limits import Limit, parse_limit
from autotune.core.objective import Objective, objective
from autotune.core.workload import BUILT_IN, Scenario, Workload

__all__ = ["parse_dims", "read_limits", "read_metric", "read_objectives", "read_workload", "refuse_unknown_choices"]

SAMPLERS = ("auto",)

_DIM = re.compile(r"([^=\s]+)=(\d+(?:,\d+)*)")
_NEEDS: dict[str, tuple[Scenario, ...]] = {
    "latency": ("single_stream", "multi_stream", "server"),
    "response": ("server", "multi_stream"),
    "throughput": ("offline",),
    "max_rate": ("server",),
    "goodput": ("server",),
    "utilisation": ("server",),
    "request_rate": ("server", "multi_stream"),
}


def parse_dims(texts: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """Read ``("seq=64,128", "N=4")`` as sizes by symbol. Several sizes of one symbol are a mixture; an empty cache has size 0."""
    dims: dict[str, tuple[int, ...]] = {}
    for text in texts:
        match = _DIM.fullmatch(text.strip())
        sizes = tuple(int(size) for size in match[2].split(",")) if match else ()
        if match is None or max(sizes) >= 2**31:
            raise UserError(
                f"--dim {text!r} cannot be read", "write NAME=SIZE with a size of 0 or more, for example --dim seq=128"
            )
        if match[1] in dims or len(set(sizes)) < len(sizes):
            raise UserError(f"--dim {text}: {match[1]} is given twice", "write it once: --dim seq=64,128 mixes sizes")
        dims[match[1]] = sizes
    return dims


def read_workload(name: str) -> Workload:
    """Return the built-in workload of that name, or the one in that YAML file."""
    if name in BUILT_IN:
        return BUILT_IN[name]
    path = Path(name)
    if not path.suffix:
        known = ", ".join(BUILT_IN)
        raise UserError(
            f"there is no workload {name!r}{nearest(name, BUILT_IN)}", f"built in: {known}; or give a YAML file"
        )
    if not path.is_file():
        raise UserError(f"--workload {name}: no such file", f"built in: {', '.join(BUILT_IN)}")
    from autotune.searching.workload_file import read_workload_file

    return read_workload_file(path)


def read_metric(metric: str | None, data: DataFacts) -> str | None:
    """Return the quality metric to use: ``metric``, or ``top1`` for labels without one, or None without labels."""
    if metric is None:
        return "top1" if data.labels else None
    from autotune.measure.quality import metric_function

    metric_function(metric)
    if not data.labels:
        raise UserError(
            f"--metric {metric} needs labels, and the data have none", "add an array named 'labels' to the data"
        )
    return metric


def read_objectives(names: Sequence[str], workload: Workload, data: DataFacts, energy: bool) -> tuple[Objective, ...]:
    """Return the named objectives, or the default ones of this workload, these data and whether energy is known."""
    if names:
        chosen = tuple(objective(name) for name in dict.fromkeys(names))
        for one in chosen:
            _refuse_unmeasured("--objective", one.metric, workload, data)
        return chosen
    names = ["latency_p50"] if workload.has("single_stream") or workload.has("multi_stream") else []
    names += ["response_p99", "max_rate"] if workload.has("server") else []
    names += ["throughput"] if workload.has("offline") else []
    names += ["energy"] if energy else []
    names += ["accuracy" if data.labels else "fidelity"]
    return tuple(objective(name) for name in names)


def read_limits(texts: Sequence[str], workload: Workload, data: DataFacts, energy: bool) -> tuple[Limit, ...]:
    """Return the limits; without any, and without labels, the default ``fidelity>=0.98``.

    Raises ``UserError`` for a metric that this search does not measure: no point could ever be told to hold it.
    """
    limits = tuple(parse_limit(text) for text in texts)
    for limit in limits:
        _refuse_unmeasured("--limit", limit.metric, workload, data)
        if limit.metric == "fidelity" and limit.sign == ">=" and limit.bound > 1:
            raise UserError(f"--limit {limit.text!r}: a fidelity is at most 1", "for example fidelity>=0.98, or 98%")
        if limit.metric in ("energy", "power") and not energy:
            raise UserError(
                f"--limit {limit.text!r}: energy is unknown here",
                "leave it out, or give --power-model FILE; `autotune doctor` says why",
            )
    if not any(limit.metric in ("fidelity", "accuracy", "accuracy_drop") for limit in limits) and not data.labels:
        limits += (parse_limit("fidelity>=0.98"),)
    return limits


def refuse_unknown_choices(settings: SearchSettings) -> None:
    """Refuse, before anything is read, what no reading could mend."""
    plugins.require("executors", settings.executor)
    if settings.sampler not in SAMPLERS:
        raise UserError(
            f"there is no sampler {settings.sampler!r}{nearest(settings.sampler, SAMPLERS)}", "leave it out for auto"
        )
    _refuse_unreadable_address(settings.tracking_uri)
    if settings.budget_s is not None and not 0 < settings.budget_s < math.inf:
        raise UserError(f"a budget of {settings.budget_s:g} s is no time to search for", "give more than 0 seconds")
    if not 0 < settings.patience <= 1:
        raise UserError(f"--patience {settings.patience:g} is no share of the trials", "give more than 0 and at most 1")


def _refuse_unreadable_address(uri: str | None) -> None:
    try:
        urlsplit(uri or "")
    except ValueError as error:
        raise UserError(
            f"--tracking-uri {uri!r} is no address: {error}", "for example http://127.0.0.1:5000 or sqlite:///mlflow.db"
        ) from error


def _refuse_unmeasured(option: str, metric: str, workload: Workload, data: DataFacts) -> None:
    family = metric.partition("_p")[0]
    scenarios = _NEEDS.get(family, ())
    if scenarios and not any(workload.has(scenario) for scenario in scenarios):
        raise UserError(
            f"{option} {metric} is not measured by workload {workload.name!r}",
            f"use a workload with a {' or '.join(scenarios)} phase",
        )
    if metric in ("accuracy", "accuracy_drop") and not data.labels:
        raise UserError(f"{option} {metric} needs labels, and the data have none", "use fidelity, or give labels")
    if not scenarios and family not in _ALWAYS:
        raise UserError(f"{option} {metric} is not measured yet", f"measured: {', '.join(sorted(_MEASURED))}")


_ALWAYS = {"energy", "power", "memory", "size", "load_time", "build_time", "accuracy", "accuracy_drop", "fidelity"}
_MEASURED = _ALWAYS | {
    "latency_p50",
    "response_p99",
    "throughput",
    "max_rate",
    "goodput",
    "utilisation",
    "request_rate",
}
