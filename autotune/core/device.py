"""A device: where candidates run, real or simulated."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from autotune.core.frozen import Record

__all__ = ["Confidence", "DeviceClass", "DeviceSpec", "Kind"]

Kind = Literal["real", "simulated"]
DeviceClass = Literal["cpu", "gpu", "asic", "fpga", "pim", "phone"]
Confidence = Literal["high", "medium", "low"]


class DeviceSpec(Record):
    """``name`` is what ``--device`` takes. ``cpus`` counts the CPUs that may be used (None: not a CPU device).

    ``memory_bytes`` None: unknown. ``isa`` lists the instruction-set flags that matter to results (``avx512_vnni``).
    A simulated device: ``confidence`` is of its figures, ``figures`` the SHA-256 of its description, ``file`` that description
    when it is the user's own. None: the device is real, or it comes with the backend. ``prices``: what it costs, and who says
    so, for a person to read. ``calibration``: a table of points that a person measured, ``calibrated_on`` how many of them (or
    of the description's own table) are of this device.
    """

    name: str
    kind: Kind = "real"
    device_class: DeviceClass = "cpu"
    model: str = ""
    cpus: int | None = None
    memory_bytes: int | None = None
    isa: tuple[str, ...] = ()
    confidence: Confidence | None = Field(default=None, exclude_if=lambda value: value is None)
    figures: str | None = Field(default=None, exclude_if=lambda value: value is None)
    file: Path | None = Field(default=None, exclude_if=lambda value: value is None)
    prices: str | None = Field(default=None, exclude_if=lambda value: value is None)
    calibration: Path | None = Field(default=None, exclude_if=lambda value: value is None)
    calibrated_on: int | None = Field(default=None, exclude_if=lambda value: value is None)
