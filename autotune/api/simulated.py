"""What differs in a simulated search before it starts: the model that is only described, the load, the goals."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from autotune import plugins
from autotune.api.settings import SearchSettings
from autotune.core.dataset import DataFacts, Split
from autotune.core.device import DeviceSpec
from autotune.core.errors import UserError, nearest
from autotune.core.fleet import Fleet
from autotune.core.hashing import hash_json
from autotune.core.limits import Limit, parse_limit
from autotune.core.model import ModelFacts
from autotune.core.objective import Objective, objective
from autotune.core.ports import Backend, Simulating
from autotune.core.space import Offer
from autotune.core.units import counted, parse_rate
from autotune.core.workload import BUILT_IN, Workload

__all__ = [
    "able_devices",
    "calibrated_devices",
    "device_of",
    "is_language_model",
    "no_data",
    "read_fleet",
    "read_language_model",
    "refuse_only_simulated",
    "refuse_tokens",
    "serving_load",
    "simulated_limits",
    "simulated_objectives",
    "simulated_remarks",
]

USERS = 64  # of the closed loop that loads a language model where no rate is given
_FILES = {".onnx", ".pt2", ".pt", ".pth", ".safetensors", ".gguf", ".tflite"}
_FLEET_ONLY = ("cost_per_month",)
_RUN_ONLY = ("accuracy", "accuracy_drop")
_SERVING = ("ttft_p90", "tpot_p50", "output_throughput", "cost_per_million_tokens", "energy_per_token")
_FLEET = ("ttft_p90", "tpot_p50", "cost_per_month", "energy_per_token")
_KNOWN = (
    *("ttft", "tpot", "itl", "latency", "throughput", "output_throughput", "request_rate", "goodput", "energy"),
    *(
        "energy_per_token",
        "power",
        "battery_life",
        "lead_time",
        "memory",
        "cost_per_million_tokens",
        "cost_per_month",
        "device_count",
        "utilisation",
    ),
    *("kv_waste", "fidelity"),  # the second as it is published
)


def is_language_model(model: Path) -> bool:
    """Whether MODEL names a language model: a Hugging Face folder, its ``config.json``, or a name that is no file."""
    if model.is_dir():
        return (model / "config.json").is_file()
    return model.name == "config.json" or (not model.exists() and model.suffix.lower() not in _FILES)


def read_language_model(model: Path) -> ModelFacts:
    """Its facts, from the first backend that simulates language models. Raises ``UserError`` with the nearest names."""
    for name in plugins.names("backends"):
        backend = plugins.backend(name)
        if isinstance(backend, Simulating):
            return backend.language_model(str(model))
    raise UserError(f"there is no model at {model}", "give the path of an .onnx file")


def no_data() -> DataFacts:
    """A simulated search looks at no samples."""
    nothing = Split(calibrate=(), select=(), confirm=(), whole=True)
    return DataFacts(path=None, sha256=hash_json("no data"), count=0, labels=False, split=nothing)


def refuse_only_simulated(settings: SearchSettings) -> None:
    """Raise ``UserError`` for options that mean something on simulated devices only."""
    for option, given in (
        ("--rate", settings.rate is not None),
        ("--spare", settings.spare > 0),
        ("--own", settings.own),
        ("--years", settings.years is not None),
        ("--electricity", settings.electricity is not None),
        ("--pue", settings.pue is not None),
        ("--confidence", settings.confidence != SearchSettings(model=settings.model).confidence),
        ("--calibrate", settings.calibrate is not None),
    ):
        if given:
            raise UserError(
                f"{option} is for language models on simulated devices", "leave it out, or give such a --device"
            )


def refuse_tokens(workload: Workload) -> None:
    """Raise ``UserError`` for a load of tokens: what is measured answers requests that all take the same inputs."""
    if workload.serving is not None:
        raise UserError(
            f"workload {workload.name!r} has tokens: it is for language models on simulated devices",
            "take default, latency, throughput or server",
        )


def read_fleet(settings: SearchSettings, workload: Workload) -> Fleet | None:
    """The load that replicas share; None: no ``--rate`` was given. Raises ``UserError``."""
    if settings.rate is None:
        if settings.spare:
            raise UserError("--spare needs a --rate", "say how many requests a second arrive: --rate 200/s")
        return None
    rate_per_s = parse_rate(settings.rate)
    if workload.serving is None:
        raise UserError(
            f"--rate: workload {workload.name!r} has no requests of tokens", "take --workload chat, code, …"
        )
    if not 0 < rate_per_s <= 1e6:
        raise UserError(f"--rate {settings.rate} is no rate", "give requests a second, greater than 0: --rate 200/s")
    return Fleet(rate_per_s=rate_per_s, spare=settings.spare)


def serving_load(workload: Workload, fleet: Fleet | None) -> Workload:
    """The load as it is searched: the fleet's rate, or the workload's own, or a closed loop of ``USERS``."""
    phase = workload.serving
    if phase is None or phase.tokens is None:
        known = [name for name, one in BUILT_IN.items() if one.serving is not None]
        raise UserError(
            f"workload {workload.name!r} says nothing of tokens, which a language model serves",
            f"take {', '.join(known)}",
        )
    if fleet is not None:
        return workload.at_rate(fleet.rate_per_s)
    told = phase.rate_per_s is not None or phase.tokens.users is not None or phase.tokens.trace is not None
    return workload if told else workload.for_users(USERS)


def simulated_objectives(names: Sequence[str], fleet: Fleet | None) -> tuple[Objective, ...]:
    """The named objectives of a language model, or those by default. Raises ``UserError`` for one that no simulation gives."""
    for name in names:
        family = objective(name).metric.rpartition("_p")[0] or name
        if family not in _KNOWN and name not in _KNOWN:
            raise UserError(
                f"--objective {name} is not simulated{nearest(name, _KNOWN)}", f"simulated: {', '.join(_KNOWN)}"
            )
    default = _SERVING if fleet is None else _FLEET
    return tuple(objective(name) for name in dict.fromkeys(names or default))


def simulated_limits(texts: Sequence[str], fleet: Fleet | None) -> tuple[Limit, ...]:
    """The limits as they are given: there are none by default. Raises ``UserError``."""
    limits = tuple(parse_limit(text) for text in texts)
    for limit in limits:
        if limit.metric in _RUN_ONLY:
            raise UserError(
                f"--limit {limit.text!r}: nothing is run, so that {limit.metric} is unknown",
                "bound what was published of the format: fidelity>=0.98",
            )
        if fleet is None and limit.metric in _FLEET_ONLY:
            raise UserError(f"--limit {limit.text!r} is the cost of a fleet", "say how much it serves: --rate 200/s")
    return limits


def able_devices(devices: Sequence[DeviceSpec], offers: Sequence[Offer]) -> list[DeviceSpec]:
    """The devices that can run the model, first one on which it runs as its runtime would have it: the baseline's.

    All of them when none can: the space then says why.
    """
    willing = {offer.device: bool(offer.usual) for offer in offers if offer.refusal is None}
    able = [device for device in devices if device.name in willing]
    return sorted(able, key=lambda device: not willing[device.name]) or list(devices)


def simulated_remarks(
    devices: Sequence[DeviceSpec], offers: Sequence[Offer], workload: Workload, fleet: Fleet | None, confidence: float
) -> list[str]:
    """What a person should know of where the numbers are from."""
    known = ", ".join(f"{device.name} ({device.confidence or 'unknown'} confidence)" for device in devices)
    remarks = [f"simulated, nothing is measured: {known}; intervals hold {confidence:.0%} of cases"]
    remarks += [
        f"{device.name}: calibrated on {counted(device.calibrated_on, 'point')}"
        for device in devices
        if device.calibrated_on
    ]
    remarks += [f"{offer.device} is left out: {offer.refusal}" for offer in offers if offer.refusal is not None]
    phase = workload.serving
    if fleet is None and phase is not None and phase.tokens is not None and phase.tokens.users == USERS:
        remarks.append(f"no --rate: one replica under {USERS} users in a closed loop (--rate 200/s sizes a fleet)")
    return remarks


def calibrated_devices(backends: Sequence[Backend], devices: Sequence[DeviceSpec], table: Path) -> list[DeviceSpec]:
    """The devices with what was measured on them. Raises ``UserError``, also when the table says nothing of any of them."""
    backend = next(one for one in backends if isinstance(one, Simulating))
    found = [backend.simulated_device(str(device.file or device.name), table) for device in devices]
    if not any(device.calibrated_on for device in found):
        raise UserError(
            f"--calibrate {table.name}: no row is of {', '.join(device.name for device in devices)}",
            "its column 'system' names the device that was measured",
        )
    return found


def device_of(backends: Sequence[Backend], name: str) -> DeviceSpec | None:
    """The simulated device of a file or of another name of it; None when no backend knows it."""
    for backend in backends:
        if isinstance(backend, Simulating):
            try:
                return backend.simulated_device(name)
            except UserError:
                if name.endswith((".yaml", ".yml")):
                    raise
    return None
