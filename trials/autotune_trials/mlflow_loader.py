"""Loads an exported folder for MLflow. Copied beside the folder in the store: it needs nothing of autotune."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

__all__ = ["Exported"]


class Exported:
    """What ``mlflow.pyfunc.load_model`` wraps: ``predict({input name: array}) -> {output name: array}``."""

    def __init__(self, folder: Path) -> None:
        spec = importlib.util.spec_from_file_location("autotune_exported_run", folder / "run.py")
        if spec is None or spec.loader is None:
            raise ImportError(f"{folder / 'run.py'} cannot be read")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        self._model = module.load(folder)

    def predict(self, inputs: Any, params: dict[str, Any] | None = None) -> dict[str, Any]:  # noqa: ARG002
        """Run once. ``inputs``: arrays by input name."""
        outputs: dict[str, Any] = self._model.run(dict(inputs))
        return outputs


def _load_pyfunc(path: str) -> Exported:
    return Exported(Path(path))
