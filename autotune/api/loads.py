"""The load that a search is under."""

from __future__ import annotations

from autotune.api.options import parse_dims, read_workload
from autotune.api.settings import SearchSettings
from autotune.api.shapes import mixing
from autotune.core.workload import Workload

__all__ = ["load_of"]


def load_of(settings: SearchSettings) -> Workload:
    """The workload that was asked for, in the sizes that were asked for. Raises ``UserError``."""
    return mixing(read_workload(settings.workload), parse_dims(settings.dims))
