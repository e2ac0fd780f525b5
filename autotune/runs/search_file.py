"""``search.json``: what a search was asked to do, complete enough to do it again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from autotune.core.assignment import SearchContext
from autotune.core.dataset import DataFacts
from autotune.core.device import DeviceSpec, Kind
from autotune.core.environment import Environment
from autotune.core.errors import UserError
from autotune.core.frozen import FileRecord, Record
from autotune.core.model import ModelFacts
from autotune.core.objective import Objective
from autotune.core.space import SearchSpace
from autotune.core.workload import Workload

__all__ = ["SearchFile", "SearchedModel", "Tracking", "read_search_file"]


class SearchedModel(Record):
    """The model as the contract names it. ``path`` is absolute, or relative to the run folder's parent."""

    path: Path
    sha256: str
    format: str
    inputs: tuple[str, ...]


class Tracking(Record):
    """Where the tracker shows the search. ``uri`` None: the tracker's default; ``enabled`` False: nowhere."""

    enabled: bool = True
    uri: str | None = None
    run_id: str | None = None


class SearchFile(FileRecord):
    """The search's own file, written once. ``budget_s`` and ``max_trials`` None: no such bound.

    ``context`` is what trials share; ``facts`` are in it. ``max_trials`` counts trials of all purposes but ``front``.
    ``asked`` holds the options as they were given: ``--from`` prepares the search from them again.
    ``remarks`` are for the person: where energy and quality come from, what is odd about the model.
    """

    schema_: str = Field(default="autotune/search/1", alias="schema")
    id: str
    created: str
    kind: Kind
    model: SearchedModel
    space: SearchSpace
    devices: tuple[DeviceSpec, ...]
    workload: Workload
    objectives: tuple[Objective, ...]
    limits: tuple[str, ...] = ()
    budget_s: float | None = None
    max_trials: int | None = None
    patience: float = 0.2
    sampler: str = "auto"
    seed: int = 0
    executor: str = "ray"
    data: DataFacts
    metric: str | None = None
    tracking: Tracking = Tracking()
    environment: Environment
    context: SearchContext
    asked: dict[str, Any] = Field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    @property
    def facts(self) -> ModelFacts:
        """The model's facts."""
        return self.context.model


def read_search_file(file: Path) -> SearchFile:
    """Read a ``search.json``. Raises ``UserError`` when it cannot be read."""
    try:
        return SearchFile.model_validate_json(file.read_bytes())
    except OSError as error:
        raise UserError(f"{file} cannot be read: {error.strerror}", "give a run folder's search.json") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        problem = f"{file} cannot be read: {where or 'JSON'}: {first['msg']}"
        raise UserError(problem, "restore the file from a copy, or search anew") from error
