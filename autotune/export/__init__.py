"""Exported folders: written from a front's point, opened, and checked against what they promise."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autotune.export.composition import choose_point, exported_config
    from autotune.export.deployed import Deployed, load
    from autotune.export.ort import deployed_files
    from autotune.export.verdict import Compared, VerifyReport
    from autotune.export.verifying import verify
    from autotune.export.write import OriginalFiles, write_export
    from autotune.replay.samples import ReplaySamples, collect_samples

_MODULES = {
    "Compared": "export.verdict",
    "Deployed": "export.deployed",
    "OriginalFiles": "export.write",
    "ReplaySamples": "replay.samples",
    "VerifyReport": "export.verdict",
    "choose_point": "export.composition",
    "collect_samples": "replay.samples",
    "deployed_files": "export.ort",
    "exported_config": "export.composition",
    "load": "export.deployed",
    "verify": "export.verifying",
    "write_export": "export.write",
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
        return getattr(import_module(f"autotune.{_MODULES[name]}"), name)
    raise AttributeError(f"module 'autotune.export' has no attribute {name!r}")
