"""An exported folder read back: what ``verify`` and ``load`` start from."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import ValidationError

from autotune.core.deployment import ExportedConfig
from autotune.core.errors import UserError

__all__ = ["STANDALONE", "is_exported", "read_config", "read_exported"]

STANDALONE = ("onnxruntime", "openvino", "torch")
"""The runtimes that an exported folder's ``run.py`` opens."""

_REMEDY = "export it again with `autotune export`"


def read_exported(folder: Path) -> ExportedConfig:
    """Return a folder's ``config.json``.

    Raises ``UserError`` when it is no exported folder, a file is missing or outside of it, or its ``run.py`` cannot open it.
    """
    config = read_config(folder)
    original = (config.original.model,) if config.original and config.original.model else ()
    library = (config.session.custom_op_library,) if config.session.custom_op_library else ()
    for file in (config.model, *config.files, *library, *original):
        if Path(file).is_absolute() or ".." in Path(file).parts:
            raise UserError(f"{folder} is damaged: {file} lies outside of it", _REMEDY)
        if not (folder / file).is_file():
            raise UserError(f"{folder} is damaged: {file} is missing", _REMEDY)
    _refuse_foreign(folder, config.session.runtime)
    return config


def _refuse_foreign(folder: Path, runtime: str) -> None:
    """What a package of somebody's own measured, only that package opens: another runtime would not be what was measured."""
    if runtime not in STANDALONE:
        raise UserError(
            f"{folder} is for the runtime {runtime!r}, which exported folders cannot open by themselves",
            f"they open {', '.join(STANDALONE)}; run its model with {runtime} itself",
        )


def is_exported(folder: Path) -> bool:
    """Whether ``folder`` holds an export's ``config.json``, damaged or not."""
    try:
        content = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(content, dict) and str(content.get("schema", "")).startswith("autotune/config/")


def read_config(folder: Path) -> ExportedConfig:
    """Return a folder's ``config.json``, whatever else is missing. Raises ``UserError``."""
    file = folder / "config.json"
    if not file.is_file() and (folder / "promise.json").is_file():
        raise UserError(
            f"{folder} configures a server by simulation: it holds no model to run", "measure the server that it starts"
        )
    if not file.is_file():
        what = "does not exist" if not folder.exists() else "is not an exported folder: it has no config.json"
        raise UserError(f"{folder} {what}", "give a folder that `autotune export` wrote")
    try:
        return ExportedConfig.model_validate_json(file.read_text(encoding="utf-8"))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise UserError(f"{file} cannot be read: {where or 'JSON'}: {first['msg']}", _REMEDY) from error
    except (OSError, ValueError) as error:
        raise UserError(f"{file} cannot be read: {error}", _REMEDY) from error
