"""The roofline (Williams, Waterman and Patterson, CACM 52(4), 2009), with its corner rounded."""

from __future__ import annotations

__all__ = ["SHARPNESS", "overlapped"]

SHARPNESS = 4.0
"""How well arithmetic and memory traffic overlap: 1 is one after the other, infinity is the plain roofline."""


def overlapped(compute_s: float, memory_s: float) -> float:
    """Seconds of work that computes for ``compute_s`` and moves data for ``memory_s``, mostly at once."""
    if compute_s <= 0.0 or memory_s <= 0.0:
        return compute_s + memory_s
    longer, shorter = (compute_s, memory_s) if compute_s > memory_s else (memory_s, compute_s)
    ratio = shorter / longer
    return float(longer * (1.0 + ratio * ratio * ratio * ratio) ** 0.25)
