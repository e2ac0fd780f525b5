"""What can be measured on this machine, and why the rest cannot: the findings of ``autotune doctor``."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Literal

from autotune.api.backends_here import lacking
from autotune.core.clock import SystemClock
from autotune.core.errors import UserError
from autotune.core.frozen import Record
from autotune.core.ports import Backend

__all__ = ["Finding", "diagnose"]

State = Literal["ok", "note", "missing"]
EXPECTED = {
    "backends": "onnxruntime openvino simulated torch",
    "search_spaces": "graph language onnx torch",
    "executors": "ray process",
    "trackers": "mlflow",
}


class Finding(Record):
    """One thing that was looked at. ``missing`` means that something a search needs is not there; ``note`` is a remark."""

    about: str
    state: State
    text: str
    remedy: str = ""


def diagnose(folder: Path) -> list[Finding]:
    """Look at the machine and the installation. ``folder``: where run folders would be written."""
    findings: list[Finding] = []
    for look in (_cpus, _flags, _memory, _energy, _plugins, _packages, _devices):
        findings.extend(look())
    findings.extend(_disk(folder))
    return findings


def _cpus() -> Iterator[Finding]:
    from autotune.host.cpus import count_cpus

    count = count_cpus()
    bounds = [f"affinity {count.affinity}"]
    bounds += [f"cpuset {count.cpuset}"] if count.cpuset is not None else []
    bounds += [f"quota {count.quota:g}"] if count.quota is not None else []
    yield Finding(about="CPUs", state="ok", text=f"{count.counted} counted ({', '.join(bounds)})")
    if count.quota is not None and count.quota < count.affinity:
        yield Finding(
            about="CPUs",
            state="note",
            text="a control group's quota may throttle what is measured",
            remedy="prefer a cpuset to a quota for measuring",
        )


def _flags() -> Iterator[Finding]:
    from autotune.host.environment import environment

    here = environment({})
    flags = " ".join(here.isa) or "none that matter"
    yield Finding(about="CPU", state="ok", text=f"{here.cpu_model or 'unknown model'}; {flags}")
    if here.virtual:
        yield Finding(about="CPU", state="note", text="a virtual machine: neighbours may disturb what is measured")


def _memory() -> Iterator[Finding]:
    from autotune.host.memory import memory_limit
    from autotune.host.storage import shared_memory_bytes

    limit = memory_limit().bytes
    yield Finding(about="memory", state="ok", text=f"{limit / 2**30:.1f} GiB" if limit else "unknown")
    shared = shared_memory_bytes()
    if shared is not None and shared < 256 * 2**20:
        yield Finding(
            about="memory",
            state="note",
            text=f"/dev/shm holds {shared / 2**20:.0f} MiB: Ray falls back to slower files",
            remedy="docker run --shm-size=1g, or --executor process",
        )


def _energy() -> Iterator[Finding]:
    from autotune.host.environment import environment
    from autotune.host.isa import isa_flags
    from autotune.measure.counters import find_counter, idle_power_w
    from autotune.measure.power_models import find_power_model

    counter = find_counter()
    if not isinstance(counter, str):
        idle_w = idle_power_w(counter, SystemClock())
        idle = "unknown" if idle_w is None else f"{idle_w:.1f} W"
        yield Finding(about="energy", state="ok", text=f"measured by {counter.name}; idle power {idle}")
        return
    model = find_power_model(environment({}).cpu_model, isa_flags())
    if model is None:
        yield Finding(
            about="energy",
            state="note",
            text=f"unknown: no counter ({counter}) and no power model for this CPU",
            remedy="declare one with --power-model FILE",
        )
        return
    yield Finding(
        about="energy", state="note", text=f"estimated with power model {model.name!r}; no counter: {counter}"
    )


def _plugins() -> Iterator[Finding]:
    from autotune import plugins

    groups = {
        "backends": plugins.backend,
        "search_spaces": plugins.space_function,
        "executors": plugins.executor_factory,
        "trackers": plugins.tracker_factory,
    }
    for group, load in groups.items():
        for name in sorted({*plugins.names(group), *EXPECTED[group].split()}):  # type: ignore[arg-type]
            yield _plugin(group, name, load)


def _plugin(group: str, name: str, load: Callable[[str], object]) -> Finding:
    try:
        load(name)
    except UserError as error:
        return Finding(about=group, state="missing", text=error.problem, remedy=error.remedy)
    return Finding(about=group, state="ok", text=name)


def _packages() -> Iterator[Finding]:
    for package in ("onnxruntime", "ray", "mlflow", "optuna"):
        try:
            yield Finding(about="packages", state="ok", text=f"{package} {metadata.version(package)}")
        except metadata.PackageNotFoundError:
            yield Finding(
                about="packages", state="missing", text=f"{package} is not installed", remedy=f"pip install {package}"
            )


def _devices() -> Iterator[Finding]:
    from autotune import plugins

    for name in plugins.names("backends"):
        try:
            backend = plugins.backend(name)
        except UserError:
            continue  # told among the plug-ins
        yield from _devices_of(backend)
    if shutil.which("nvidia-smi"):
        yield Finding(
            about="devices",
            state="note",
            text="an NVIDIA GPU is present, and no backend here can use it",
            remedy="pip install onnxruntime-gpu",
        )


def _devices_of(backend: Backend) -> Iterator[Finding]:
    """What it can run on; where its package is missing that is nothing, whatever devices there are."""
    package = lacking(backend)
    if package is not None:
        told = f"none through {backend.name}: {package.absent}"
        yield Finding(about="devices", state="note", text=told, remedy=package.install)
        return
    devices = backend.devices()
    for device in devices:
        if device.kind == "real":
            yield Finding(about="devices", state="ok", text=f"{device.name} ({device.kind}) through {backend.name}")
    if simulated := [device for device in devices if device.kind == "simulated"]:
        yield Finding(about="devices", state="ok", text=f"{len(simulated)} simulated ones through {backend.name}")


def _disk(folder: Path) -> Iterator[Finding]:
    from autotune.host.storage import disk_free_bytes

    free = disk_free_bytes(folder)
    if free is None:
        yield Finding(about="disk", state="note", text="free space unknown")
    elif free < 2 * 2**30:
        yield Finding(
            about="disk",
            state="note",
            text=f"only {free / 2**30:.1f} GiB free in {folder}",
            remedy="artifacts need room",
        )
    else:
        yield Finding(about="disk", state="ok", text=f"{free / 2**30:.0f} GiB free")
