"""Reads a device from YAML: the catalogue's by name, or a user's file. Ten lines make a device."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from autotune.core.errors import UserError, nearest
from autotune.core.strict_yaml import load_yaml
from autotune_backends.simulated.devices.device import Efficiency, Link, Power, SimulatedDevice

__all__ = ["device_named", "device_names", "folded", "read_device"]

_CATALOGUE = Path(__file__).with_name("catalogue")
_CLASSES: Final = ("cpu", "gpu", "asic", "fpga", "pim", "phone")
_NEEDED: Final = ("name", "class", "peak", "memory_bytes", "bandwidth")
_SECTIONS: Final[dict[str, tuple[str, ...]]] = {
    "efficiency": ("gemm", "memory", "attention_prefill", "attention_decode", "conv", "depthwise"),
    "link": ("kind", "bandwidth", "latency_s", "all_reduce"),
    "power": ("idle_w", "peak_w", "compute_gain", "memory_gain", "battery_j"),
}
_FIELDS: Final = (
    *_NEEDED,
    *_SECTIONS,
    *(
        "launch_s",
        "gemm_floor_s",
        "attention_floor_s",
        "attention_prefill_floor_s",
        "price_usd_per_h",
        "price_as_of",
        "purchase_usd",
        "lead_time_days",
        "build_s",
    ),
    *(
        "host_step_s",
        "internal_bandwidth",
        "near_bandwidth",
        "host_bandwidth",
        "supports",
        "sparsity",
        "kv_pages",
        "max_devices",
        "confidence",
        "software",
        "sources",
    ),
    *("notes", "aliases", "calibration"),
)
_LAUNCH_S: Final = {"cpu": 2e-6, "gpu": 4e-6, "asic": 4e-6, "fpga": 2e-6, "pim": 4e-6, "phone": 20e-6}


def device_names() -> tuple[str, ...]:
    """The catalogue's names, in order."""
    return tuple(sorted(path.stem for path in _CATALOGUE.glob("*.yaml")))


@cache
def device_named(name: str) -> SimulatedDevice:
    """Return the catalogue's device, or that of a YAML file when ``name`` is a path. Raises ``UserError``."""
    if name.endswith((".yaml", ".yml")):
        return read_device(Path(name))
    known = _names()
    found = known.get(folded(name))
    if found is None:
        raise UserError(
            f"unknown device {name!r}{nearest(folded(name), known)}",
            f"simulated devices: {', '.join(device_names())}; or name a YAML file",
        )
    return read_device(_CATALOGUE / f"{found}.yaml")


def read_device(path: Path) -> SimulatedDevice:
    """Read one device file. Raises ``UserError`` naming the key that is wrong."""
    data = _load(path)
    _check(path, data)
    sections = {name: data.get(name) or {} for name in _SECTIONS}
    kind = str(data["class"])
    try:
        optional: dict[str, Any] = {name: _number(data.get(name)) for name in _OPTIONAL}
        return SimulatedDevice(
            name=str(data["name"]),
            device_class=kind,  # type: ignore[arg-type]  # checked above
            peak=_numbers(data["peak"]),
            memory_bytes=int(float(data["memory_bytes"])),
            bandwidth=float(data["bandwidth"]),
            launch_s=float(data.get("launch_s", _LAUNCH_S[kind])),
            gemm_floor_s=_numbers(data.get("gemm_floor_s") or {}),
            efficiency=_efficiency(sections["efficiency"]),
            link=_link(sections["link"]),
            power=_power(sections["power"]),
            price_usd_per_h=_range(data.get("price_usd_per_h")),
            purchase_usd=_range(data.get("purchase_usd")),
            price_as_of=_text(data.get("price_as_of")),
            near_bandwidth={
                int(float(moved)): rate for moved, rate in _numbers(data.get("near_bandwidth") or {}).items()
            },
            calibration=str(path.parent / str(data["calibration"])) if data.get("calibration") else None,
            supports=dict(data.get("supports") or {}),
            sparsity=tuple(str(one) for one in data.get("sparsity") or ()),
            kv_pages=tuple(int(one) for one in data.get("kv_pages") or ()),
            max_devices=int(data.get("max_devices", 8)),
            confidence=str(data.get("confidence", "low")),
            software=_text(data.get("software")),
            sources={str(key): str(value) for key, value in (data.get("sources") or {}).items()},
            notes=tuple(str(one) for one in data.get("notes") or ()),
            **optional,
        )
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise UserError(f"{path.name}: {error}", "see the catalogue's files for the form of each field") from error


_OPTIONAL: Final = (
    "attention_floor_s",
    "attention_prefill_floor_s",
    "lead_time_days",
    "build_s",
    "host_step_s",
    "internal_bandwidth",
    "host_bandwidth",
)


def folded(name: str) -> str:
    """A name in the spelling by which devices are found."""
    return name.lower().replace("_", "-").replace(" ", "-")


@cache
def _names() -> dict[str, str]:
    """Each name and alias, folded → the file's stem."""
    known: dict[str, str] = {}
    for stem in device_names():
        aliases = _load(_CATALOGUE / f"{stem}.yaml").get("aliases") or ()
        known |= {folded(str(one)): stem for one in (stem, *aliases)}
    return known


def _load(path: Path) -> dict[str, Any]:
    import yaml

    try:
        data = load_yaml(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise UserError(f"device file {path}: {str(error).splitlines()[0]}", "name a readable YAML file") from error
    if not isinstance(data, dict):
        raise UserError(f"device file {path}: no mapping", f"it needs {', '.join(_NEEDED)}")
    return data


def _check(path: Path, data: Mapping[str, Any]) -> None:
    _finite(path, "", data)
    _known(path, "", data, _FIELDS)
    for name, fields in _SECTIONS.items():
        if data.get(name) is not None:
            _known(path, f"{name}.", data[name], fields)
    missing = [name for name in _NEEDED if data.get(name) is None]
    if missing:
        raise UserError(f"{path.name}: {', '.join(missing)} is missing", f"a device needs {', '.join(_NEEDED)}")
    if data["class"] not in _CLASSES:
        raise UserError(f"{path.name}: class {data['class']!r} is unknown", f"classes: {', '.join(_CLASSES)}")
    if not isinstance(data["peak"], dict) or not data["peak"]:
        raise UserError(f"{path.name}: peak is no mapping", "write peak: {bf16: 312e12}: operations a second")


def _finite(path: Path, prefix: str, data: Any) -> None:
    if isinstance(data, dict):
        for key, value in data.items():
            _finite(path, f"{prefix}.{key}" if prefix else str(key), value)
    elif isinstance(data, float) and not math.isfinite(data):
        raise UserError(f"{path.name}: {prefix} is {data}, which is no number", "leave out what is unknown")


def _known(path: Path, prefix: str, data: Any, fields: tuple[str, ...]) -> None:
    if not isinstance(data, dict):
        raise UserError(f"{path.name}: {prefix.rstrip('.')} is no mapping", f"its keys: {', '.join(fields)}")
    for key in data:
        if key not in fields:
            raise UserError(f"{path.name}: unknown key {prefix}{key}{nearest(str(key), fields)}", "remove or rename it")


def _efficiency(data: Mapping[str, Any]) -> Efficiency:
    return Efficiency(
        gemm=_numbers(data.get("gemm") or {}),
        memory=_numbers(data.get("memory") or {}),
        attention_prefill=_number(data.get("attention_prefill")),
        attention_decode=_number(data.get("attention_decode")),
        conv=_number(data.get("conv")),
        depthwise=_number(data.get("depthwise")),
    )


def _link(data: Mapping[str, Any]) -> Link | None:
    if not data:
        return None
    measured = {int(count): (float(pair[0]), float(pair[1])) for count, pair in (data.get("all_reduce") or {}).items()}
    return Link(str(data.get("kind", "")), float(data["bandwidth"]), float(data.get("latency_s", 5e-6)), measured)


def _power(data: Mapping[str, Any]) -> Power | None:
    if not data:
        return None
    return Power(
        float(data["idle_w"]),
        float(data["peak_w"]),
        _number(data.get("compute_gain")),
        _number(data.get("memory_gain")),
        _number(data.get("battery_j")),
    )


def _numbers(data: Mapping[str, Any]) -> dict[str, float]:
    numbers = {str(key): float(value) for key, value in data.items()}
    bad = [key for key, value in numbers.items() if not 0 < value < float("inf")]
    if bad:
        raise ValueError(f"{', '.join(bad)} must be greater than 0")
    return numbers


def _number(value: Any) -> float | None:
    return None if value is None else float(value)


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _range(value: Any) -> tuple[float, float] | None:
    if value is None:
        return None
    ends = value if isinstance(value, list) else [value]
    return float(min(ends)), float(max(ends))
