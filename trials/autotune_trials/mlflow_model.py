"""An exported folder as an MLflow model: the few files that lie beside it in the store."""

from __future__ import annotations

import json
import platform
import shutil
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import yaml

from autotune.core.errors import UserError
from autotune_trials.mlflow_names import MODEL_FOLDER

__all__ = ["model_files"]

_LOADER = "autotune_exported"


def model_files(folder: Path, into: Path, model_id: str, run_id: str, location: str) -> None:
    """Write ``MLmodel``, its requirements and its loader into ``into``.

    The model is of the flavour ``python_function`` with a loader module
    (https://mlflow.org/docs/latest/api_reference/python_api/mlflow.pyfunc.html#pyfunc-filesystem-format): the loader
    reads the folder's own ``config.json`` and ``run.py``, so that no setting is lost on the way, as some are in
    mlflow's ONNX flavour. Raises ``UserError`` when the folder is no exported one.
    """
    requirements = _requirements(folder)
    (into / "requirements.txt").write_text("".join(f"{line}\n" for line in requirements))
    python = {"python": platform.python_version(), "dependencies": ["-r requirements.txt"]}
    (into / "python_env.yaml").write_text(yaml.safe_dump(python))
    (into / "MLmodel").write_text(yaml.safe_dump(_description(folder, model_id, run_id, location)))
    (into / "code").mkdir()
    shutil.copyfile(Path(__file__).with_name("mlflow_loader.py"), into / "code" / f"{_LOADER}.py")


def _description(folder: Path, model_id: str, run_id: str, location: str) -> dict[str, Any]:
    return {
        "artifact_path": location,
        "flavors": {
            "python_function": {
                "loader_module": _LOADER,
                "code": "code",
                "data": MODEL_FOLDER,
                "env": {"virtualenv": "python_env.yaml"},
                "python_version": platform.python_version(),
            }
        },
        "mlflow_version": version("mlflow"),
        "model_id": model_id,
        "model_uuid": model_id,
        "model_size_bytes": sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()),
        "run_id": run_id,
        "utc_time_created": datetime.now(UTC).replace(tzinfo=None).isoformat(sep=" "),
    }


def _requirements(folder: Path) -> list[str]:
    """What ``run.py`` needs, in the versions that the promise was measured with, where they are known."""
    try:
        config = json.loads((folder / "config.json").read_text())
        versions, runtime = config["environment"]["versions"], config.get("session", {}).get("runtime", "onnxruntime")
    except (OSError, ValueError, KeyError) as error:
        raise UserError(f"{folder} is no exported folder: {error}", "write one with `autotune export`") from error
    known = {name: versions[name].partition("+")[0] for name in versions}  # 2.13.0+cpu is no version of PyPI's
    return [f"{name}=={known[name]}" if name in known else name for name in (runtime, "numpy")]
