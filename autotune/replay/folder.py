"""An exported folder read back: what ``verify`` and ``load`` start from."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import ValidationError

from autotune.core.deployment import ExportedConfig
from autotune.core.errors import UserError

__all__ = ["is_exported", "read_config", "read_exported"]

_REMEDY = "export it again with `autotune export`"


def read_exported(folder: Path) -> ExportedConfig:
    """Return a folder's ``config.json``. Raises ``UserError`` when it is no exported folder, or a file of it is missing."""
    config = read_config(folder)
    original = (config.original.model,) if config.original and config.original.model else ()
    library = (config.session.custom_op_library,) if config.session.custom_op_library else ()
    for file in (config.model, *config.files, *library, *original):
        if not (folder / file).is_file():
            raise UserError(f"{folder} is damaged: {file} is missing", _REMEDY)
    return config


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
