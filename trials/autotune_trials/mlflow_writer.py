"""Writes one search into an MLflow store: a run of its own, one flat run a trial, and in the end the front."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from autotune.core.front import BASELINE_ID, Front, Point
from autotune.core.trial import TrialRecord
from autotune.runs.search_file import SearchFile
from autotune_trials.mlflow_names import (
    FRONT,
    KIND,
    KNEE,
    PICKED,
    POINT,
    RUN_NAME,
    SEARCH,
    SHOWN,
    TRIAL,
    experiment_name,
    is_starred,
    starred,
)
from autotune_trials.mlflow_note import search_note
from autotune_trials.mlflow_rows import metrics_of, provenance_of, ratios_of, row_of
from autotune_trials.mlflow_store import Store
from autotune_trials.mlflow_view import view_tag, views_work

__all__ = ["SearchWriter"]


class SearchWriter:
    """The only writer of a search's runs. Every method may be called again, and raises ``StoreError``.

    ``run_id`` is the search's own run. What a person tagged is never overwritten.
    """

    def __init__(self, search: SearchFile, uri: str | None, run_folder: Path) -> None:
        self._search, self._folder = search, run_folder
        self._store = Store(uri)
        self.uri = self._store.uri
        self._experiment = self._store.experiment(experiment_name(search.facts.stem))
        self._runs: dict[str, str] = {}
        self._written: set[str] = set()
        self._finished = False
        own = [run for run in self._found() if not self._remember(run)]
        self.run_id = own[0].info.run_id if own else self._begin()
        if own:
            self._store.end(self.run_id, "RUNNING")

    def record(self, record: TrialRecord) -> None:
        """Show a trial. One that was wholly written before is left as it is."""
        trial = record.trial.id
        if trial in self._written:
            return
        row = row_of(record, self._search)
        if trial not in self._runs:
            self._runs[trial] = self._store.begin(self._experiment, row)
        self._store.write(self._runs[trial], row)
        self._written.add(trial)

    def finish(self, front: Front, summary: str, exports: Mapping[str, Path]) -> None:
        """Show the front: tags, its own numbers, its models; the summary and the files on the search's run."""
        tags = {run.info.run_id: run.data.tags for run in self._found()}
        points = {point.id: point for point in (front.baseline, *front.points)}
        shown = {name: run for name, point in points.items() if (run := self._run_of(point)) is not None}
        on_front = {point.id for point in front.points}
        for name, run in shown.items():
            self._show_point(run, points[name], name in on_front, name == front.knee, tags.get(run, {}))
            if name in exports:
                self._store.log_model(run, _model_name(name), exports[name])
        self._clear(tags, set(shown.values()))
        self._show_search(front, summary, shown)

    def close(self) -> None:
        """End the search's run: FINISHED with a front, else KILLED, until it is resumed."""
        self._store.end(self.run_id, "FINISHED" if self._finished else "KILLED")

    def _found(self) -> list[Any]:
        return self._store.runs([self._experiment], f"tags.`{SEARCH}` = '{self._search.id}'")

    def _remember(self, run: Any) -> bool:
        """Whether it is a trial's run; RUNNING ones were not wholly written."""
        trial = run.data.tags.get(TRIAL)
        if trial is None:
            return False
        self._runs[trial] = run.info.run_id
        if run.info.status != "RUNNING":
            self._written.add(trial)
        return True

    def _begin(self) -> str:
        tags = {SEARCH: self._search.id, KIND: self._search.kind}
        run_id = self._store.start(self._experiment, self._search.id, _now_ms(), tags)
        self._store.attach(run_id, self._search.to_json(indent=2), "search.json")
        if views_work(self._store.version):
            self._store.tag_experiment(self._experiment, *view_tag(self._search, _now_ms()))
        return run_id

    def _run_of(self, point: Point) -> str | None:
        return self._runs.get(point.trial) or self._runs.get(point.id)

    def _show_point(self, run: str, point: Point, on_front: bool, knee: bool, before: Mapping[str, str]) -> None:
        label = " · knee" if knee else " · front" if on_front and point.id != BASELINE_ID else ""
        tags = {
            POINT: point.id,
            SHOWN: "true",
            FRONT: str(on_front).lower(),
            KNEE: str(knee).lower(),
            RUN_NAME: _named(f"{point.id}{label}", before),
        }
        if PICKED not in before:
            tags[PICKED] = "no"
        numbers = metrics_of(point.metrics, self._search.objectives) | ratios_of(point.ratios)
        self._store.log(run, _now_ms(), metrics=numbers, tags=tags | provenance_of(point.metrics))

    def _clear(self, before: Mapping[str, Mapping[str, str]], shown: set[str]) -> None:
        """Take the tags off runs that an earlier front of this search showed."""
        for run, tags in before.items():
            if tags.get(SHOWN) == "true" and run not in shown:
                name = tags.get(TRIAL, tags.get(POINT, ""))
                hidden = {SHOWN: "false", FRONT: "false", KNEE: "false", RUN_NAME: _named(name, tags)}
                self._store.log(run, _now_ms(), tags=hidden)

    def _show_search(self, front: Front, summary: str, shown: Mapping[str, str]) -> None:
        note = search_note(summary, self._experiment, shown, front.knee)
        self._store.attach(self.run_id, front.to_json(indent=2), "front.json")
        self._store.attach(self.run_id, summary, "summary.md")
        report = self._folder / "report.html"
        if report.is_file():
            self._store.attach_file(self.run_id, report)
        self._store.log(self.run_id, _now_ms(), tags={"mlflow.note.content": note})
        self._store.end(self.run_id, "FINISHED")
        self._finished = True


def _named(name: str, before: Mapping[str, str]) -> str:
    """The run's name, with the star that a person gave it."""
    return starred(name) if is_starred(before.get(RUN_NAME)) else name


def _model_name(point: str) -> str:
    """MLflow refuses ``/:.%"'`` in a model's name."""
    return "".join(letter if letter.isalnum() or letter in "_-" else "-" for letter in point)


def _now_ms() -> int:
    return round(time.time() * 1000)
