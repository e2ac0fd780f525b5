"""The public Python API. ``autotune.search`` and ``autotune.load`` are these."""

from __future__ import annotations

from autotune.api.run import Run
from autotune.api.searching import search
from autotune.export import Deployed, load

__all__ = ["Deployed", "Run", "load", "search"]
