"""What a model's owner measured of its accuracy in other formats: ``accuracy.yaml`` beside its ``config.json``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from autotune.core.errors import UserError, nearest
from autotune.core.strict_yaml import load_yaml

__all__ = ["OWN_ACCURACY", "KeptAccuracy", "read_kept_accuracy"]

OWN_ACCURACY: Final = "accuracy.yaml"
_FIELDS: Final = ("precision", "sparsity", "kept", "low", "high", "source")
_FORM: Final = "write - {precision: int4, kept: 0.985, source: our questions}: the share of the original's accuracy"


@dataclass(frozen=True, slots=True)
class KeptAccuracy:
    """``kept``: the share of the original's accuracy in that ``precision`` or with that ``sparsity``, one of which is empty.

    The true share is within ``low`` and ``high``.
    """

    precision: str
    sparsity: str
    kept: float
    low: float
    high: float
    source: str


def read_kept_accuracy(folder: Path) -> tuple[KeptAccuracy, ...]:
    """Every row of the folder's file, none without one. Raises ``UserError`` with the row that cannot be read."""
    path = folder / OWN_ACCURACY
    if not path.is_file():
        return ()
    import yaml

    try:
        rows = load_yaml(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise UserError(f"{path}: {str(error).splitlines()[0]}", _FORM) from error
    if not isinstance(rows, list):
        raise UserError(f"{path} holds no list", _FORM)
    return tuple(_read(f"{path}, row {number}", row) for number, row in enumerate(rows, start=1))


def _read(where: str, row: Any) -> KeptAccuracy:
    if not isinstance(row, Mapping):
        raise UserError(f"{where} is no mapping", _FORM)
    for key in row:
        if key not in _FIELDS:
            raise UserError(f"{where}: unknown key {key!r}{nearest(str(key), _FIELDS)}", _FORM)
    if ("precision" in row) == ("sparsity" in row):
        raise UserError(f"{where} names neither or both of precision and sparsity", _FORM)
    kept = _share(where, row, "kept", None)
    low, high = _share(where, row, "low", kept), _share(where, row, "high", kept)
    if not low <= kept <= high:
        raise UserError(f"{where}: kept is not between low and high", _FORM)
    precision, sparsity = (str(row.get(name, "")) for name in ("precision", "sparsity"))
    return KeptAccuracy(precision, sparsity, kept, low, high, str(row.get("source", "without a source")))


def _share(where: str, row: Mapping[str, Any], name: str, missing: float | None) -> float:
    value = row.get(name, missing)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 2:
        raise UserError(f"{where}: {name} is {value!r}", _FORM)
    return float(value)
