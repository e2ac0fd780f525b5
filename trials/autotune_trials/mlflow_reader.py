"""What people did in MLflow, read back: picks, registered models, exported folders, and the way to the UI."""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from autotune.core.errors import UserError
from autotune.core.picked import PickedRun
from autotune_trials.mlflow_names import (
    EXPERIMENT_PREFIX,
    FRONT,
    PICKED,
    POINT,
    RUN_NAME,
    SEARCH,
    SHOWN,
    TRIAL,
    is_picked,
    is_starred,
    without_stars,
)
from autotune_trials.mlflow_view import experiment_link, share_key, views_work

if TYPE_CHECKING:
    from autotune_trials.mlflow_store import Store

__all__ = ["MlflowReader"]

R = TypeVar("R")

_REFERENCE = re.compile(r"models:/(?P<name>[^/@]+)(?:@(?P<alias>[^/@]+)|/(?P<version>\d+))")


@dataclass(frozen=True)
class MlflowReader:
    """Implements ``core.ports.TrackerReader``. ``uri`` None: where a tracker made without one writes.

    Every method raises ``UserError`` when the store cannot be reached.
    """

    uri: str | None = None

    def picked(self, search_id: str | None = None) -> list[PickedRun]:
        """Runs that a person picked: in one search, or in every experiment of autotune's."""
        return self._ask(lambda store: _picked(store, search_id))

    def pick(self, search_id: str, point: str, alias: str | None = None) -> PickedRun:
        """Pick a point of a search, and nothing else of it; with ``alias``, register its model under that alias."""
        return self._ask(lambda store: _pick(store, search_id, point, alias))

    def download(self, run_id: str, to: Path) -> Path:
        """Write the exported folder of a run to the new folder ``to``."""
        return self._ask(lambda store: _download_run(store, run_id, to))

    def download_model(self, reference: str, to: Path) -> Path:
        """Write the exported folder of ``models:/NAME@ALIAS`` (or ``models:/NAME/VERSION``) to the new folder ``to``."""
        return self._ask(lambda store: _download_model(store, reference, to))

    def address(self) -> str:
        """The store's absolute address: a server's is also its UI's."""
        return self._ask(lambda store: store.uri)

    def ui_command(self, port: int = 5000) -> list[str]:
        """The command that shows the store in a browser at 127.0.0.1; empty when the store is a server: it has a UI."""
        return self._ask(lambda store: _ui_command(store, port))

    def ui_link(self, host: str, search_id: str) -> str:
        """The page in the UI at ``host`` (``http://127.0.0.1:5000``) that shows the search, its view where there is one."""
        return self._ask(lambda store: _link(store, host, search_id))

    def _ask(self, question: Callable[[Store], R]) -> R:
        from autotune_trials.mlflow_store import Store, StoreError

        try:
            return question(Store(self.uri))
        except StoreError as error:
            where = self.uri or "MLflow's default store"
            raise UserError(f"MLflow at {where}: {error}", "check --tracking-uri or MLFLOW_TRACKING_URI") from error


def _picked(store: Store, search_id: str | None) -> list[PickedRun]:
    experiments = store.experiments()
    where = f"tags.`{PICKED}` IS NOT NULL" + (f" and {_of(search_id)}" if search_id is not None else "")
    runs = store.runs(list(experiments), where)
    return [_as_picked(run, experiments) for run in runs if _chosen(run.data.tags)]


def _chosen(tags: Mapping[str, str]) -> bool:
    return is_picked(tags.get(PICKED)) or is_starred(tags.get(RUN_NAME))


def _as_picked(run: Any, experiments: dict[str, str]) -> PickedRun:
    tags = run.data.tags
    return PickedRun(
        run_id=run.info.run_id,
        search=tags.get(SEARCH, ""),
        point=tags.get(POINT) or tags.get(TRIAL, ""),
        experiment=experiments[run.info.experiment_id],
    )


def _pick(store: Store, search_id: str, point: str, alias: str | None) -> PickedRun:
    experiments = store.experiments()
    runs = store.runs(list(experiments), f"{_of(search_id)} and tags.`{SHOWN}` = 'true'")
    chosen = next((run for run in runs if run.data.tags.get(POINT) == point), None)
    if chosen is None:
        known = _listed(run.data.tags.get(POINT) for run in runs)
        raise UserError(
            f"MLflow has no point {point!r} of search {search_id}", f"points: {known}; or `autotune sync RUN` first"
        )
    if alias is not None:
        _give_alias(store, chosen, experiments[chosen.info.experiment_id].removeprefix(EXPERIMENT_PREFIX), alias)
    for run in runs:
        if run is not chosen and _chosen(run.data.tags):
            name = without_stars(run.data.tags.get(RUN_NAME, "")) or run.data.tags[POINT]
            store.log(run.info.run_id, 0, tags={PICKED: "no", RUN_NAME: name})
    store.log(chosen.info.run_id, 0, tags={PICKED: "yes"})
    return _as_picked(chosen, experiments)


def _give_alias(store: Store, run: Any, name: str, alias: str) -> None:
    model_id = store.model_of(run.info.run_id)
    if model_id is None:
        raise UserError(
            f"point {run.data.tags.get(POINT)!r} has no model in MLflow",
            "`autotune sync RUN` logs the front's exported folders",
        )
    store.register(name, alias, model_id, run.info.run_id)


def _download_run(store: Store, run_id: str, to: Path) -> Path:
    model_id = store.model_of(run_id)
    if model_id is None:
        tags = store.run(run_id).data.tags
        remedy = (
            "choose a run of the front"
            if tags.get(FRONT) != "true"
            else "`autotune sync RUN` logs the exported folders"
        )
        raise UserError(f"MLflow's run {run_id} has no exported folder", remedy)
    return _download(store, store.location(model_id), f"run {run_id}", to)


def _download_model(store: Store, reference: str, to: Path) -> Path:
    named = _REFERENCE.fullmatch(reference)
    if named is None:
        problem = f"--model {reference!r} is not a model of MLflow's registry"
        raise UserError(problem, "write models:/NAME@ALIAS or models:/NAME/VERSION")
    return _download(
        store, store.registered(named["name"], named["alias"] or "", named["version"] or ""), reference, to
    )


def _download(store: Store, location: str, what: str, to: Path) -> Path:
    """Fetched beside ``to`` and renamed: ``to`` is whole or not there."""
    if to.exists() and (not to.is_dir() or any(to.iterdir())):
        raise UserError(f"{to} already exists and is not empty", "choose a new folder with -o")
    to.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{to.name}-", dir=to.parent) as beside:
        fetched = store.download(location, Path(beside))
        if not (fetched / "config.json").is_file():
            raise UserError(
                f"{what} holds no folder exported by autotune",
                "register a point with `autotune pick ID --alias NAME`",
            )
        if to.exists():
            to.rmdir()
        shutil.move(fetched, to)
    return to


def _ui_command(store: Store, port: int) -> list[str]:
    if store.remote:
        return []
    serve = [sys.executable, "-m", "mlflow", "ui", "--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    return [*serve, "--backend-store-uri", store.uri]


def _link(store: Store, host: str, search_id: str) -> str:
    runs = store.runs(list(store.experiments()), _of(search_id))
    if not runs:
        raise UserError(
            f"MLflow at {store.uri} does not have search {search_id}", "`autotune sync RUN` writes it there"
        )
    key = share_key(search_id)
    seen = views_work(store.version) and store.has_view(runs[0].info.experiment_id, key)
    return experiment_link(host, runs[0].info.experiment_id, search_id if seen else None)


def _of(search_id: str) -> str:
    return f"tags.`{SEARCH}` = '{search_id.replace(chr(39), '')}'"


def _listed(names: Iterable[str | None]) -> str:
    return ", ".join(sorted(name for name in names if name)) or "none"
