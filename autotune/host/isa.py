"""The CPU's name and the instruction-set flags that change results or speed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

__all__ = ["FLAGS", "CpuInfo", "isa_flags", "read_cpu"]

FLAGS: Final = (
    "avx2",
    "avx_vnni",
    "avx512f",
    "avx512_vnni",
    "avx512_bf16",
    "avx512_fp16",
    "amx_tile",
    "amx_int8",
    "amx_bf16",
    "asimd",
    "asimdhp",
    "asimddp",
    "i8mm",
    "bf16",
    "sve",
)
"""As ``/proc/cpuinfo`` spells them: x86 first, then Arm."""


@dataclass(frozen=True)
class CpuInfo:
    """``model`` is empty when unknown; ``flags`` is a subset of ``FLAGS`` in its order; ``virtual`` None: unknown."""

    model: str
    flags: tuple[str, ...]
    virtual: bool | None


def isa_flags() -> tuple[str, ...]:
    """Return those of ``FLAGS`` that this CPU has."""
    return read_cpu().flags


def read_cpu(root: Path = Path("/")) -> CpuInfo:
    """Read ``/proc/cpuinfo`` (under a millisecond); where it is absent, ask py-cpuinfo (about a second)."""
    fields = _first_processor(root / "proc/cpuinfo") or _from_library()
    flags = set(fields.get("flags", fields.get("Features", "")).split())
    model = fields.get("model name") or _arm_name(fields)
    return CpuInfo(model, tuple(flag for flag in FLAGS if flag in flags), _virtual(fields, root))


def _first_processor(path: Path) -> dict[str, str]:
    try:
        block = path.read_text(encoding="utf-8", errors="replace").partition("\n\n")[0]
    except OSError:
        return {}
    pairs = (line.partition(":") for line in block.splitlines())
    return {name.strip(): value.strip() for name, _, value in pairs}


def _from_library() -> dict[str, str]:
    import cpuinfo

    info = cpuinfo.get_cpu_info()
    return {"model name": info.get("brand_raw", ""), "flags": " ".join(info.get("flags", ()))}


def _arm_name(fields: dict[str, str]) -> str:
    """Arm kernels give numbers instead of a name: MIDR_EL1's implementer and part."""
    if "CPU part" not in fields:
        return ""
    return f"Arm implementer {fields.get('CPU implementer', '?')} part {fields['CPU part']}"


def _virtual(fields: dict[str, str], root: Path) -> bool | None:
    """x86 kernels show ``hypervisor`` under one (CPUID leaf 1, ECX bit 31); elsewhere the device tree may tell."""
    if "hypervisor" in fields.get("flags", "").split():
        return True
    if any((root / path).exists() for path in ("sys/hypervisor/type", "proc/device-tree/hypervisor")):
        return True
    return False if fields.get("flags") and "vendor_id" in fields else None
