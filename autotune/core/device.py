"""A device: where candidates run, real or simulated."""

from __future__ import annotations

from typing import Literal

from autotune.core.frozen import Record

__all__ = ["DeviceClass", "DeviceSpec", "Kind"]

Kind = Literal["real", "simulated"]
DeviceClass = Literal["cpu", "gpu", "asic", "fpga", "pim", "phone"]


class DeviceSpec(Record):
    """``name`` is what ``--device`` takes. ``cpus`` counts the CPUs that may be used (None: not a CPU device).

    ``memory_bytes`` None: unknown. ``isa`` lists the instruction-set flags that matter to results (``avx512_vnni``).
    """

    name: str
    kind: Kind = "real"
    device_class: DeviceClass = "cpu"
    model: str = ""
    cpus: int | None = None
    memory_bytes: int | None = None
    isa: tuple[str, ...] = ()
