"""Devices that are searched without being owned: one YAML file each, in ``catalogue/`` or the user's own."""

from autotune_backends.simulated.devices.device import Efficiency, Link, Power, SimulatedDevice
from autotune_backends.simulated.devices.reading import device_named, device_names, folded, read_device
from autotune_backends.simulated.devices.residual import Residual

__all__ = [
    "Efficiency",
    "Link",
    "Power",
    "Residual",
    "SimulatedDevice",
    "device_named",
    "device_names",
    "folded",
    "read_device",
]
