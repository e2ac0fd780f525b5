"""Assembles the page. Jinja escapes everything that goes into it; its one script runs by its hash, and no other can."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from importlib import resources
from typing import TYPE_CHECKING, Any

from autotune.core.figures import certainty, format_ratio, format_value
from autotune.core.front import Front, Point
from autotune.core.metrics import find_metric
from autotune.core.units import format_duration
from autotune.core.version import __version__
from autotune.report.answer import answer_sentence, describe, recommended
from autotune.report.front_text import dropped_lines, miss_lines
from autotune.report.going_on import going_on, search_again
from autotune.report.html.charted import charted, known_metric
from autotune.report.html.content import ReportContent
from autotune.report.html.machine import machine_rows
from autotune.report.html.summaries import budget_shares, failure_groups, outcome_counts
from autotune.report.shown_points import shown_points
from autotune.report.trial_line import trial_line

if TYPE_CHECKING:
    from jinja2 import Template

__all__ = ["report_html"]

_SCRIPTS = ("svg.js", "scales.js", "chosen.js", "scatter.js", "parallel.js", "start.js")


def report_html(content: ReportContent) -> str:
    """The whole page: style, script and data inlined, nothing fetched. Reads without scripts too, but for the charts."""
    front, search = content.front, content.search
    script = "\n".join(_file(name) for name in _SCRIPTS)
    by_purpose, by_stage = budget_shares(content.records, content.spent_s)
    chosen = recommended(front) or front.baseline
    return _template().render(
        style=_file("page.css"),
        script=script,
        script_hash=_csp_hash(script),
        data=charted(content) | {"recommended": chosen.id},
        title=search.model.path.name,
        content=content,
        front=front,
        search=search,
        answer=answer_sentence(front),
        rows=_rows(front),
        labels=[find_metric(objective.metric).label for objective in front.objectives],
        importances=_importances(content.importances),
        by_purpose=by_purpose,
        by_stage=by_stage,
        outcomes=outcome_counts(content.records),
        failures=failure_groups(content.records),
        left_out=[*dropped_lines(front), *miss_lines(front)],
        machine=machine_rows(content),
        commands=[*going_on(front, search, content.run), search_again(content.run)],
        trials=[
            trial_line(record, search.space.baseline, front.objectives, several_devices=len(search.devices) > 1)
            for record in content.records
        ],
        duration=format_duration,
        version=__version__,
    )


def _rows(front: Front) -> list[dict[str, Any]]:
    return [
        {
            "id": shown.point.id,
            "names": shown.names,
            "what": describe(front, shown.point),
            "cells": [_cell(shown.point, objective.metric) for objective in front.objectives],
        }
        for shown in shown_points(front, limit=len(front.points) + 1)
    ]


def _cell(point: Point, name: str) -> dict[str, str]:
    value, ratio = point.metrics.get(name), point.ratios.get(name)
    if value is None or not value.known:
        return {"value": "unknown", "ratio": "", "verdict": "undecided"}
    if ratio is None or not ratio.known or not find_metric(name).relative:
        return {"value": format_value(name, value, interval=True), "ratio": "", "verdict": "undecided"}
    return {
        "value": format_value(name, value),
        "ratio": format_ratio(name, ratio),
        "verdict": certainty(name, ratio),
    }


def _importances(found: Mapping[str, Mapping[str, float]]) -> list[tuple[str, list[tuple[str, float]]]]:
    """Label of each metric with its parameters, those under a hundredth left out."""
    return [
        (metric.label, [(parameter, share) for parameter, share in shares.items() if share >= 0.01])
        for name, shares in found.items()
        if (metric := known_metric(name)) is not None
    ]


def _template() -> Template:
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(_file("page.html.jinja"))


def _file(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _csp_hash(script: str) -> str:
    """What a content security policy calls this script (W3C, CSP Level 3, section 2.3.1)."""
    return f"sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}"
