"""Devices that are searched without being owned: one YAML file each, in ``catalogue/`` or the user's own."""

from autotune_backends.simulated.devices.device import Efficiency, Link, Power, SimulatedDevice
from autotune_backends.simulated.devices.reading import device_named, device_names, read_device

__all__ = ["Efficiency", "Link", "Power", "SimulatedDevice", "device_named", "device_names", "read_device"]
