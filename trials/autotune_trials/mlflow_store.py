"""An MLflow store, local or remote: the only module that imports mlflow. It knows runs, tags and files, not searches."""

from __future__ import annotations

import os
import tempfile
import textwrap
from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from pathlib import Path
from typing import ParamSpec, TypeVar
from urllib.parse import urlsplit

# Read by mlflow when it is imported. No telemetry; a server that is away is noticed within seconds. A person's own
# settings win, but for telemetry's. Processes started from here (`mlflow ui`) inherit them, and run no background jobs (of
# evaluation and labelling, none of ours): idle, their ten processes take most of a CPU, which a search beside them measures.
os.environ |= {"MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "true"}
for _name, _setting in {
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "10",
    "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
    "MLFLOW_LOGGING_LEVEL": "WARNING",
    "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
}.items():
    os.environ.setdefault(_name, _setting)

import mlflow  # noqa: E402
from mlflow.artifacts import download_artifacts  # noqa: E402
from mlflow.entities import LoggedModelOutput, Metric, Param, Run, RunTag  # noqa: E402
from mlflow.exceptions import MlflowException  # noqa: E402
from mlflow.utils.validation import MAX_PARAMS_TAGS_PER_BATCH  # noqa: E402
from sqlalchemy.exc import SQLAlchemyError  # noqa: E402

from autotune_trials.mlflow_model import model_files  # noqa: E402
from autotune_trials.mlflow_names import EXPERIMENT_PREFIX, MODEL_FOLDER  # noqa: E402
from autotune_trials.mlflow_rows import Row  # noqa: E402

__all__ = ["Store", "StoreError", "resolved_uri"]

P = ParamSpec("P")
R = TypeVar("R")

_PAGE = 1000
_LINE = 200
_SQLITE = "sqlite:///"


class StoreError(Exception):
    """The store is away, or refused: one line of its own words."""


def _guarded(call: Callable[P, R]) -> Callable[P, R]:
    """Turn what mlflow raises into ``StoreError``. It wraps most errors of connections and databases in its own, and
    imports a database's driver when an address first names one.
    """

    @wraps(call)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return call(*args, **kwargs)
        except (MlflowException, SQLAlchemyError, OSError, ImportError) as error:
            raise StoreError(_first_line(error)) from error

    return guarded


def resolved_uri(uri: str | None) -> str:
    """The store's absolute address: ``uri``, else MLFLOW_TRACKING_URI, else mlflow's default in the current folder."""
    found = uri or mlflow.get_tracking_uri()
    path = found.removeprefix(_SQLITE)
    return f"{_SQLITE}{Path(path).absolute()}" if path not in (found, ":memory:") else str(found)


def _refuse_unreadable(uri: str) -> None:
    try:
        urlsplit(uri)
    except ValueError as error:  # of an address such as http://[::bad
        raise StoreError(f"{uri} is no address: {error}") from error
    folder = Path(uri.removeprefix(_SQLITE)).parent
    if uri.startswith(_SQLITE) and not uri.endswith(":memory:") and not os.access(folder, os.W_OK | os.X_OK):
        raise StoreError(f"{folder} does not exist or cannot be written")  # mlflow would try for a minute


class Store:
    """Runs of one store. Every method raises ``StoreError`` when the store is away or refuses."""

    @_guarded
    def __init__(self, uri: str | None) -> None:
        self.uri = resolved_uri(uri)
        _refuse_unreadable(self.uri)
        self._client = mlflow.MlflowClient(self.uri)

    @property
    def remote(self) -> bool:
        """Whether it is a tracking server."""
        return self.uri.startswith(("http://", "https://"))

    @property
    def version(self) -> str:
        """Of mlflow here; a server's may differ."""
        return str(mlflow.__version__)

    @_guarded
    def experiment(self, name: str) -> str:
        """The experiment's id; it is made when there is none."""
        found = self._client.get_experiment_by_name(name)
        if found is not None and found.lifecycle_stage == "deleted":
            self._client.restore_experiment(found.experiment_id)
        if found is not None:
            return str(found.experiment_id)
        try:
            return str(self._client.create_experiment(name, artifact_location=self._artifact_location()))
        except MlflowException:  # another search of this model, begun at the same time, was first
            found = self._client.get_experiment_by_name(name)
            if found is None:
                raise
            return str(found.experiment_id)

    def _artifact_location(self) -> str | None:
        """Beside a local database: mlflow's own default is the folder that one happens to be in."""
        if not self.uri.startswith(_SQLITE):
            return None
        return str(Path(self.uri.removeprefix(_SQLITE)).parent / "mlruns")

    @_guarded
    def experiments(self) -> dict[str, str]:
        """The experiments of autotune: id → name."""
        found = self._client.search_experiments(filter_string=f"name LIKE '{EXPERIMENT_PREFIX}%'")
        return {str(experiment.experiment_id): str(experiment.name) for experiment in found}

    @_guarded
    def runs(self, experiments: list[str], where: str) -> list[Run]:
        """Active runs that match the filter, newest first."""
        return list(self._pages(experiments, where)) if experiments else []

    def _pages(self, experiments: list[str], where: str) -> Iterator[Run]:
        token: str | None = None
        while True:
            page = self._client.search_runs(experiments, where, max_results=_PAGE, page_token=token)
            yield from page
            token = page.token
            if not token:
                return

    @_guarded
    def run(self, run_id: str) -> Run:
        """One run."""
        return self._client.get_run(run_id)

    @_guarded
    def start(self, experiment: str, name: str, started_ms: int, tags: Mapping[str, str]) -> str:
        """Make a run; return its id."""
        run = self._client.create_run(experiment, start_time=started_ms, tags=dict(tags), run_name=name)
        return str(run.info.run_id)

    @_guarded
    def begin(self, experiment: str, row: Row) -> str:
        """Make the run of a row, with all its tags at once: a tag later is another round trip. Return the run's id."""
        tags = row.tags | ({"mlflow.note.content": row.note} if row.note else {})
        return self.start(experiment, row.name, row.started_ms, tags)

    @_guarded
    def write(self, run_id: str, row: Row) -> None:
        """Write the numbers, parameters and files of a row, and end its run. Writing it again changes nothing."""
        self.log(run_id, row.finished_ms, row.metrics, row.parameters)
        for name, text in row.files.items():
            self._client.log_text(run_id, text, name)
        self._client.set_terminated(run_id, row.ended, row.finished_ms)

    @_guarded
    def log(
        self,
        run_id: str,
        at_ms: int,
        metrics: Mapping[str, float] | None = None,
        parameters: Mapping[str, str] | None = None,
        tags: Mapping[str, str] | None = None,
    ) -> None:
        """Metrics, parameters and tags in as few round trips as the store takes."""
        numbers = [Metric(name, number, at_ms, 0) for name, number in (metrics or {}).items()]
        texts = [Param(name, text) for name, text in (parameters or {}).items()]
        marks = [RunTag(name, text) for name, text in (tags or {}).items()]
        size = MAX_PARAMS_TAGS_PER_BATCH
        for start in range(0, max(len(texts), len(marks), 1), size):
            batch = slice(start, start + size)
            self._client.log_batch(run_id, numbers if start == 0 else (), texts[batch], marks[batch])

    @_guarded
    def end(self, run_id: str, status: str) -> None:
        """Set mlflow's own run status: RUNNING, FINISHED, FAILED or KILLED."""
        if status == "RUNNING":
            self._client.update_run(run_id, status)
        else:
            self._client.set_terminated(run_id, status)

    @_guarded
    def attach(self, run_id: str, text: str, name: str) -> None:
        """Add a small text file to a run."""
        self._client.log_text(run_id, text, name)

    @_guarded
    def attach_file(self, run_id: str, file: Path) -> None:
        """Add a file to a run."""
        self._client.log_artifact(run_id, str(file))

    @_guarded
    def tag_experiment(self, experiment: str, name: str, value: str) -> None:
        """Set a tag of an experiment."""
        self._client.set_experiment_tag(experiment, name, value)

    @_guarded
    def has_view(self, experiment: str, key: str) -> bool:
        """Whether the experiment has a saved view of that key."""
        return f"mlflow.sharedViewState.{key}" in self._client.get_experiment(experiment).tags

    @_guarded
    def log_model(self, run_id: str, name: str, folder: Path) -> str:
        """Log an exported folder, file by file, as the run's model; return its id. Nothing is loaded or copied twice.

        A model that is already there is kept.
        """
        run = self._client.get_run(run_id)
        found = _model_id(run)
        if found is not None and str(self._client.get_logged_model(found).status) == "READY":
            return found
        model = self._client.create_logged_model(run.info.experiment_id, name, run_id, model_type="autotune")
        with tempfile.TemporaryDirectory() as staged:
            model_files(folder, Path(staged), model.model_id, run_id, model.artifact_location)
            self._client.log_model_artifacts(model.model_id, staged)
        self._client.log_model_artifacts(model.model_id, str(folder), MODEL_FOLDER)
        self._client.finalize_logged_model(model.model_id, "READY")
        self._client.log_outputs(run_id, [LoggedModelOutput(model.model_id, 0)])
        return str(model.model_id)

    @_guarded
    def model_of(self, run_id: str) -> str | None:
        """The id of the run's model; None: it has none."""
        return _model_id(self._client.get_run(run_id))

    @_guarded
    def register(self, name: str, alias: str, model_id: str, run_id: str) -> str:
        """Point ``name``'s alias at the model; return the version's number. A version is made once for a model."""
        try:  # not by a filter: a name may hold any quotes
            self._client.get_registered_model(name)
        except MlflowException as error:
            if error.error_code != "RESOURCE_DOES_NOT_EXIST":
                raise
            self._client.create_registered_model(name)
        source = self._model_source(model_id)
        versions = self._client.search_model_versions(f"run_id = '{run_id}'")
        version = next((found for found in versions if (found.name, found.source) == (name, source)), None)
        if version is None:
            version = self._client.create_model_version(name, source, run_id, model_id=model_id)
        self._client.set_registered_model_alias(name, alias, version.version)
        return str(version.version)

    def _model_source(self, model_id: str) -> str:
        """A server looks a model up by its id; a database's registry would ask mlflow's global store, not this one."""
        if self.remote:
            return f"models:/{model_id}"
        return self.location(model_id)

    @_guarded
    def registered(self, name: str, alias: str = "", version: str = "") -> str:
        """Where the model's files lie that ``name``'s alias, or else its version, points at."""
        if alias:
            version = self._client.get_model_version_by_alias(name, alias).version
        return str(self._client.get_model_version_download_uri(name, version))

    @_guarded
    def location(self, model_id: str) -> str:
        """Where a logged model's files lie."""
        return str(self._client.get_logged_model(model_id).artifact_location)

    @_guarded
    def download(self, location: str, to: Path) -> Path:
        """Fetch the exported folder of the model at ``location`` below the folder ``to``; return where it is.

        (``models:/`` references are resolved here: mlflow's download resolves them in its global store.)
        """
        download_artifacts(f"{location.rstrip('/')}/{MODEL_FOLDER}", dst_path=str(to), tracking_uri=self.uri)
        return to / MODEL_FOLDER


def _model_id(run: Run) -> str | None:
    outputs = run.outputs.model_outputs if run.outputs else []
    return str(outputs[-1].model_id) if outputs else None


def _first_line(error: BaseException) -> str:
    line = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
    return textwrap.shorten(line, _LINE, placeholder=" …")
