"""The saved view of a search: a scatter, parallel coordinates and a table of the front, one click away in MLflow's UI.

The view is a tag of the experiment in MLflow's own format (``mlflow.sharedViewState.<key>``, seen in mlflow 3.17's UI).
The format is internal: where the version is not one of those it was seen in, there is no view, and nothing else changes.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from autotune.core.space import Parameter
from autotune.runs.search_file import SearchFile
from autotune_trials.mlflow_names import POINT, SEARCH, SHOWN, safe_name, shown_name

__all__ = ["experiment_link", "share_key", "view_tag", "views_work"]

_TAG = "mlflow.sharedViewState."
_RUN_COLUMNS = ("attributes.`Created`", "attributes.`Duration`")
_COLUMN_LIMIT = 12
_FRONT, _CHOICES = "Front", "Parameters"


def views_work(version: str) -> bool:
    """Whether this version of MLflow is one whose format of views is known: 3.15 and later of 3."""
    found = re.match(r"(\d+)\.(\d+)", version)
    return found is not None and int(found[1]) == 3 and int(found[2]) >= 15


def share_key(search_id: str) -> str:
    """The name of a search's view in links."""
    return "autotune-" + re.sub(r"[^A-Za-z0-9-]", "-", search_id)


def experiment_link(host: str, experiment: str, search_id: str | None) -> str:
    """The page of an experiment in a server's UI, with a search's view (None: without one)."""
    asked = {"workflowType": "machine_learning"}
    if search_id is not None:
        asked |= {"viewStateShareKey": share_key(search_id), "compareRunsMode": "CHART"}
    return f"{host.rstrip('/')}/#/experiments/{experiment}/runs?{urlencode(asked)}"


def view_tag(search: SearchFile, at_ms: int) -> tuple[str, str]:
    """The experiment's tag: its name and its value. ``at_ms``: when it was made, in Unix milliseconds."""
    state = json.dumps(_state(search), separators=(",", ":")).encode()
    packed = "deflate;" + base64.b64encode(zlib.compress(state)).decode()
    view = {"name": f"front of {search.id}", "createdAt": at_ms, "updatedAt": at_ms, "state": packed}
    return _TAG + share_key(search.id), json.dumps(view)


def _state(search: SearchFile) -> dict[str, Any]:
    metrics = [shown_name(objective.metric) for objective in search.objectives]
    parameters = [safe_name(parameter.name) for parameter in search.space.parameters]
    columns = [f"metrics.`{name}`" for name in metrics] + [f"params.`{name}`" for name in parameters[:_COLUMN_LIMIT]]
    return {
        "searchFilter": f"tags.`{SEARCH}` = '{search.id}' and tags.`{SHOWN}` = 'true'",
        "orderByKey": f"metrics.`{metrics[0]}`",
        "orderByAsc": search.objectives[0].goal == "min",
        "startTime": "ALL",
        "lifecycleFilter": "Active",
        "datasetsFilter": [],
        "modelVersionFilter": "All Runs",
        "selectedColumns": [*columns, f"tags.`{POINT}`", *_RUN_COLUMNS],
        "columnOrder": [],
        "columnWidths": {},
        "runsHiddenMode": "SHOW_ALL",
        "viewMaximized": False,
        "runListHidden": False,
        "isAccordionReordered": True,
        "useGroupedValuesInCharts": False,
        "hideEmptyCharts": True,
        "groupBy": None,
        "groupsExpanded": {},
        "compareRunSections": [_section(_FRONT, 2), _section(_CHOICES, 1)],
        "compareRunCharts": [*_scatters(metrics), _parallel(search, metrics)],
    }


def _section(name: str, columns: int) -> dict[str, Any]:
    return {
        "uuid": f"autotune-{name}",
        "name": name,
        "columns": columns,
        "cardHeight": 420,
        "display": True,
        "isReordered": True,
        "deleted": False,
        "isGenerated": False,
    }


def _chart(section: str, uuid: str, kind: str) -> dict[str, Any]:
    return {
        "uuid": f"autotune-{uuid}",
        "type": kind,
        "runsCountToCompare": 100,
        "metricSectionId": f"autotune-{section}",
        "deleted": False,
        "isGenerated": False,
    }


def _scatters(metrics: Sequence[str]) -> list[dict[str, Any]]:
    """The first objective against each of the others."""
    return [
        _chart(_FRONT, f"scatter-{other}", "SCATTER")
        | {"xaxis": {"type": "METRIC", "key": metrics[0]}, "yaxis": {"type": "METRIC", "key": other}}
        for other in metrics[1:]
    ]


def _parallel(search: SearchFile, metrics: Sequence[str]) -> dict[str, Any]:
    charted = [safe_name(parameter.name) for parameter in search.space.parameters if _charts(parameter)]
    return _chart(_CHOICES, "parallel", "PARALLEL") | {"selectedMetrics": list(metrics), "selectedParams": charted}


def _charts(parameter: Parameter) -> bool:
    """Whether an axis can show it: it varies, and is all words or all numbers, "–" (it does not apply) being a word.

    Runs with a word among an axis's numbers are left out of the chart.
    """
    words = {isinstance(choice, str | bool) for choice in parameter.choices} or {False}
    return len(parameter.choices) != 1 and (words == {True} or (words == {False} and not parameter.requires))
