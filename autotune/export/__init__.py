"""Exported folders: written from a front's point, opened, and checked against what they promise."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autotune.export.composition import choose_point, exported_config
    from autotune.export.deployed import Deployed, load
    from autotune.export.ort import deployed_files
    from autotune.export.samples import ReplaySamples, collect_samples
    from autotune.export.verdict import Compared, VerifyReport
    from autotune.export.verifying import verify
    from autotune.export.write import OriginalFiles, write_export

_MODULES = {
    "Compared": "verdict",
    "Deployed": "deployed",
    "OriginalFiles": "write",
    "ReplaySamples": "samples",
    "VerifyReport": "verdict",
    "choose_point": "composition",
    "collect_samples": "samples",
    "deployed_files": "ort",
    "exported_config": "composition",
    "load": "deployed",
    "verify": "verifying",
    "write_export": "write",
}

__all__ = [
    "Compared",
    "Deployed",
    "OriginalFiles",
    "ReplaySamples",
    "VerifyReport",
    "choose_point",
    "collect_samples",
    "deployed_files",
    "exported_config",
    "load",
    "verify",
    "write_export",
]


def __getattr__(name: str) -> Any:
    """Import when first used: the process that an export is timed in imports this package too."""
    if name in _MODULES:
        return getattr(import_module(f"autotune.export.{_MODULES[name]}"), name)
    raise AttributeError(f"module 'autotune.export' has no attribute {name!r}")
