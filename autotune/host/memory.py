"""How much memory may really be used: the smaller of the machine's and the control group's."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from autotune.host.cgroups import levels, read_text

__all__ = ["MemoryLimit", "memory_limit"]


@dataclass(frozen=True)
class MemoryLimit:
    """Bytes by each bound. ``physical`` None: unknown. ``cgroup`` None: no limit below the machine's memory."""

    physical: int | None
    cgroup: int | None = None

    @property
    def bytes(self) -> int | None:
        """The smaller bound; None when neither is known."""
        known = [bound for bound in (self.physical, self.cgroup) if bound is not None]
        return min(known) if known else None


def memory_limit(root: Path = Path("/")) -> MemoryLimit:
    """Read both bounds. ``root`` is the top of the file tree."""
    physical = _physical(root)
    limits = [
        _limit(level.read("memory.max" if level.version == 2 else "memory.limit_in_bytes"))
        for level in levels("memory", root)
    ]
    binding = [limit for limit in limits if limit is not None and (physical is None or limit < physical)]
    return MemoryLimit(physical, min(binding) if binding else None)


def _limit(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdigit() else None


def _physical(root: Path) -> int | None:
    found = re.search(r"^MemTotal:\s+(\d+) kB", read_text(root / "proc/meminfo") or "", re.MULTILINE)
    if found:
        return int(found[1]) * 1024
    if root != Path("/"):
        return None
    import psutil

    return int(psutil.virtual_memory().total)
