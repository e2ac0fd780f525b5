"""``--device this-host``: this machine as a simulated device, calibrated once through onnxruntime and then kept."""

from __future__ import annotations

import datetime as dt
import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from autotune import plugins
from autotune.core.artifact import Artifact
from autotune.core.candidate import Candidate
from autotune.core.clock import SystemClock
from autotune.core.device import DeviceSpec
from autotune.core.environment import Environment
from autotune.core.errors import MeasureError, OpenError, UserError
from autotune.core.hashing import hash_json
from autotune.core.plan import Plan
from autotune.core.workload import BUILT_IN
from autotune.measure.host_speed import HostSpeed, host_speed
from autotune.measure.micro_models import MICRO_MODELS, MicroModel

__all__ = ["THIS_HOST", "calibration_of", "kept_file", "located", "this_host_file"]

THIS_HOST = "this-host"

Note = Callable[[str], None]

_FORM = 2  # of the calibration: another one is not comparable
_PLAN = Plan(name="calibrate", round_s=0.05, max_rounds=40, precision=0.02, warmup_limit_s=0.5, phase_limit_s=1.5)


def located(names: Sequence[str], note: Note) -> tuple[str, ...]:
    """The devices' names with ``this-host`` as the file that describes it, calibrated now if it never was."""
    return tuple(str(this_host_file(note)) if name == THIS_HOST else name for name in names)


def this_host_file(note: Note) -> Path:
    """The description of this machine; where there is none, it is measured, for half a minute. Raises ``UserError``."""
    here = _environment()
    file = kept_file(here)
    if not file.is_file():
        note(f"calibrating {THIS_HOST}: {len(MICRO_MODELS)} small models through onnxruntime, about half a minute")
        _write(file, _described(here, _calibrated()))
    return file


def kept_file(here: Environment | None = None) -> Path:
    """Where the calibration of this machine and this onnxruntime is kept: ``$XDG_CACHE_HOME/autotune/devices``."""
    here = here or _environment()
    print_ = hash_json([_FORM, here.host_fingerprint(), here.versions.get("onnxruntime")])[:12]
    cache = os.environ.get("XDG_CACHE_HOME")
    folder = (Path(cache) if cache else Path.home() / ".cache") / "autotune" / "devices"
    return folder / f"{THIS_HOST}-{print_}.yaml"


def calibration_of(device: DeviceSpec) -> str | None:
    """What the calibration found, in one line; None for another device."""
    if device.name != THIS_HOST or device.file is None:
        return None
    import yaml

    told = yaml.safe_load(device.file.read_text(encoding="utf-8"))["notes"]
    return f"{THIS_HOST} {told[0]}; kept in {device.file}, remove it to measure again"


def _environment() -> Environment:
    from autotune.host.environment import environment

    return environment(plugins.backend("onnxruntime").versions())


def _calibrated() -> HostSpeed:
    """Each model in a session of its own, as a trial's is. Raises ``UserError`` when one does not run."""
    with tempfile.TemporaryDirectory(prefix="autotune-calibrating-") as folder:
        try:
            return host_speed({name: _seconds(model, Path(folder)) for name, model in MICRO_MODELS.items()})
        except (OpenError, MeasureError) as error:
            raise UserError(
                f"{THIS_HOST} cannot be calibrated: {error.message}", "see `autotune doctor`, or name another device"
            ) from error


def _seconds(model: MicroModel, folder: Path) -> float:
    """Of a run: the median, as latency is measured."""
    from autotune.measure import measure
    from autotune.replay.loads import phase_loads

    backend = plugins.backend("onnxruntime")
    device = backend.devices()[0]
    path = model.write(folder / f"{model.name}.onnx")
    candidate = Candidate(runtime="onnxruntime", intra_op_threads=device.cpus or 1)
    artifact = Artifact(
        backend="onnxruntime",
        folder=folder,
        model=path.name,
        files=(path.name,),
        sha256=model.name,
        size_bytes=path.stat().st_size,
        candidate=candidate,
    )
    loads = phase_loads(BUILT_IN["latency"], [model.inputs()], 1)
    with backend.open(artifact, device) as session:
        found = measure(session, loads, _PLAN, clock=SystemClock(), cpus=device.cpus or 1)
    seconds = found.metrics["latency_p50"].value
    assert seconds is not None
    return seconds


def _described(here: Environment, speed: HostSpeed) -> dict[str, Any]:
    """The device as its file has it."""
    from autotune.host.memory import memory_limit

    today = dt.date.today().isoformat()
    measured = f"measured {today} with onnxruntime {here.versions.get('onnxruntime')} on {here.cpus} CPUs"
    description = {
        "name": THIS_HOST,
        "class": "cpu",
        "peak": {"fp32": speed.fp32_peak, "int8": speed.int8_peak},
        "memory_bytes": memory_limit().bytes or 0,
        "bandwidth": speed.far_bandwidth,
        "near_bandwidth": {moved: rate for moved, rate in speed.bandwidth.items() if rate > speed.far_bandwidth},
        "launch_s": speed.launch_s,
        "gemm_floor_s": {"bf16": speed.gemm_floor_s},
        "efficiency": {
            "gemm": {"fp32": speed.gemm, "int8": speed.gemm},
            "memory": {"fp32": 1.0, "int8": 1.0},
            "conv": speed.conv,
            "depthwise": speed.depthwise,
        },
        "max_devices": 1,
        "confidence": "medium",
        "sources": {"peak": f"{measured}: {here.cpu_model}"},
        "notes": [f"{measured}: {speed}"],
    }
    return description | _power(here)


def _power(here: Environment) -> dict[str, Any]:
    """By the catalogue of power models that measured searches estimate energy with; nothing for an unknown CPU."""
    from autotune.measure.power_models import find_power_model

    model = find_power_model(here.cpu_model, here.isa)
    if model is None:
        return {}
    return {"power": {"idle_w": model.idle_w.typical * here.cpus, "peak_w": model.busy_w.typical * here.cpus}}


def _write(file: Path, description: dict[str, Any]) -> None:
    import yaml

    from autotune.runs.atomic import write_atomic

    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(file, yaml.safe_dump(description, sort_keys=False, allow_unicode=True).encode())
    except OSError as error:
        raise UserError(f"cannot keep the calibration in {file}: {error.strerror}", "set XDG_CACHE_HOME") from error
