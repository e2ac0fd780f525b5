"""Where the numbers were taken."""

from __future__ import annotations

from autotune.core.device import DeviceSpec
from autotune.core.units import format_duration
from autotune.report.html.content import ReportContent

__all__ = ["machine_rows"]

_GIB = 1024.0**3
_HASH = 12  # characters of a hash that people read


def machine_rows(content: ReportContent) -> list[tuple[str, str]]:
    """What was searched and on what: a name and a text each. What is unknown says so."""
    search, host = content.search, content.front.environment
    cpu = f"{host.cpu_model or 'unknown CPU'}, {host.cpus} CPUs usable{', virtual' if host.virtual else ''}"
    versions = ", ".join(f"{name} {version}" for name, version in host.versions.items())
    rows = [
        ("model", f"{search.model.path.name}, {search.model.format}, sha256 {search.model.sha256[:_HASH]}"),
        ("host" if search.kind == "real" else "simulated on", f"{cpu}, memory {_memory(host.memory_bytes)}"),
        ("devices", "; ".join(_device(device) for device in search.devices)),
        ("system", f"{host.os}, Python {host.python}"),
        ("versions", versions or "unknown"),
        ("workload", f"{search.workload.name}: {', '.join(phase.scenario for phase in search.workload.phases)}"),
        ("data", _data(content)),
        ("limits", ", ".join(search.limits) or "none"),
        ("space", f"{search.space.name}, {len(search.space.parameters)} parameters"),
        ("budget", format_duration(search.budget_s) if search.budget_s is not None else "no time limit"),
        ("search", f"{search.id}, begun {search.created}, seed {search.seed}"),
    ]
    return [*rows, *(("note", remark) for remark in search.remarks)]


def _device(device: DeviceSpec) -> str:
    parts = [device.name, device.kind if device.kind == "simulated" else "", device.model]
    return " ".join(part for part in parts if part)


def _memory(size_bytes: int | None) -> str:
    return "unknown" if size_bytes is None else f"{size_bytes / _GIB:.1f} GiB"


def _data(content: ReportContent) -> str:
    data, metric = content.search.data, content.search.metric
    if data.path is None:
        return "none: inputs were generated"
    labels = f", labelled, metric {metric}" if metric else ""
    return f"{data.path.name}, {data.count} samples{labels}, sha256 {data.sha256[:_HASH]}"
