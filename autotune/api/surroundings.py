"""What every search's context is made of, real or simulated."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from pathlib import Path

from autotune.api.settings import SearchSettings
from autotune.core.environment import Environment
from autotune.core.model import ModelFacts
from autotune.core.ports import Backend
from autotune.core.space import SearchSpace

__all__ = ["build_parameters", "environment_of", "run_folder"]


def build_parameters(space: SearchSpace) -> tuple[str, ...]:
    """Names of the parameters that change the artifact."""
    return "runtime", *(parameter.name for parameter in space.parameters if parameter.affects == "build")


def environment_of(backends: Sequence[Backend]) -> Environment:
    """This host, and the versions of everything that results depend on."""
    from autotune.host.environment import environment

    versions = {name: version for backend in backends for name, version in backend.versions().items()}
    return environment(versions)


def run_folder(settings: SearchSettings, model: ModelFacts) -> Path:
    """Where the run is written: as asked, else named by model and local time."""
    from autotune.runs.folder import default_run_path

    return (settings.output or default_run_path(model.stem, dt.datetime.now())).absolute()
