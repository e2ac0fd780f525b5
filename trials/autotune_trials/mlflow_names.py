"""What things are called in MLflow: the contract with people's scripts, filters and saved views."""

from __future__ import annotations

import re

from autotune.core.metrics import find_metric

__all__ = [
    "ABSENT",
    "EXPERIMENT_PREFIX",
    "FRONT",
    "KIND",
    "KNEE",
    "MODEL_FOLDER",
    "PARAMETER_LENGTH",
    "PICKED",
    "POINT",
    "RUN_NAME",
    "SEARCH",
    "SHOWN",
    "STATUS",
    "TRIAL",
    "experiment_name",
    "is_picked",
    "is_starred",
    "safe_name",
    "shown_name",
    "starred",
    "without_stars",
]

EXPERIMENT_PREFIX = "autotune/"

SEARCH = "autotune.search"
TRIAL = "autotune.trial"
KIND = "autotune.kind"
STATUS = "autotune.status"
POINT = "autotune.point"
FRONT = "autotune.front"
KNEE = "autotune.knee"
SHOWN = "autotune.shown"
PICKED = "autotune.picked"
RUN_NAME = "mlflow.runName"

ABSENT = "–"
"""A conditional parameter that does not apply: a run that lacks a parameter drops out of parallel coordinates."""

PARAMETER_LENGTH = 6000
"""MLflow cuts a longer parameter without a word (``mlflow.utils.validation.MAX_PARAM_VAL_LENGTH``)."""

MODEL_FOLDER = "export"
"""Where the exported folder lies within a logged model."""

_STARS = "*★⭐"
_NOT_PICKED = frozenset({"", "no", "false", "0"})
_ILLEGAL = re.compile(r"[^\w\-. ]")


def experiment_name(stem: str) -> str:
    """The experiment of a model, by the stem of its file."""
    return f"{EXPERIMENT_PREFIX}{stem}"


def is_picked(value: str | None) -> bool:
    """Whether a person picked the run: its tag is there and is anything but no, false or 0, in any case."""
    return value is not None and value.strip().lower() not in _NOT_PICKED


def is_starred(name: str | None) -> bool:
    """Whether a person picked the run by its name: there is a star in it, whatever else it says.

    Renaming is what MLflow's UI does in the fewest clicks; a tag there takes five, and a name that must be spelt right.
    """
    return name is not None and any(star in name for star in _STARS)


def starred(name: str) -> str:
    """The name with a star."""
    return name if is_starred(name) else f"{name} {_STARS[0]}"


def without_stars(name: str) -> str:
    """The name as it was before; empty when it was nothing but a star."""
    return name.translate(str.maketrans("", "", _STARS)).strip()


def shown_name(metric: str) -> str:
    """The name under which people read a metric: ``latency_p50_ms``. Raises ``UserError`` for an unknown metric."""
    return find_metric(metric).shown_name


def safe_name(name: str) -> str:
    """Replace what MLflow refuses in the name of a parameter (it takes letters, digits, ``_-.`` and spaces)."""
    return _ILLEGAL.sub("_", name)
