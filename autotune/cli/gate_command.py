"""What ``autotune gate`` does: reads the options, gates, reports."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, cast

from autotune.cli.gate_options import GateOptions
from autotune.core.errors import UserError, nearest

if TYPE_CHECKING:
    from autotune.gate.verdict import GateReport, Inconclusive

__all__ = ["run_gate"]

DOUBT = ("exit4", "fail", "pass")
FIRST_RUN = ("fail", "pass")


def run_gate(options: GateOptions) -> int:
    """Carry out ``autotune gate``; return its exit code."""
    from autotune.cli.output import print_json
    from autotune.gate.report_text import report_text
    from autotune.gate.reports import require_writable, write_reports

    _require_choice("--inconclusive", options.inconclusive, DOUBT)
    _require_choice("--first-run", options.first_run, FIRST_RUN)
    reports = tuple(options.report or ())
    require_writable(reports)
    doubt = cast("Inconclusive", options.inconclusive)
    report = _gate(options)
    write_reports(report, reports, os.environ, doubt)
    if uri := options.tracking_uri or os.environ.get("MLFLOW_TRACKING_URI"):
        _keep(report, uri)
    if options.as_json:
        print_json(report.to_json())
    else:
        print(report_text(report))
    return int(report.exit_code(doubt))


def _gate(options: GateOptions) -> GateReport:
    from autotune.api.baselines import MissingBaseline
    from autotune.api.gating import GateRequest, gate
    from autotune.cli.output import at_work
    from autotune.core.units import format_duration, parse_budget
    from autotune.gate.accepted import parse_accept
    from autotune.gate.tolerances import parse_tolerances
    from autotune.gate.verdict import GateReport

    budget_s = parse_budget(options.budget)
    asked = GateRequest(
        head=options.head,
        baseline=options.baseline,
        as_is=options.as_is,
        data=options.data,
        tolerances=parse_tolerances(tuple(options.tolerance or ())),
        accepting=parse_accept(tuple(options.accept or ())),
        budget_s=budget_s,
        max_budget_s=max(budget_s, parse_budget(options.max_budget)),
        tracking_uri=options.tracking_uri,
    )
    longest = format_duration(asked.max_budget_s)
    told = f"comparing {options.head} with {options.baseline}: {longest} of measuring at most"
    try:
        with ExitStack() as stack:
            return gate(asked, begin=lambda: stack.enter_context(at_work(told)))
    except MissingBaseline as missing:
        if options.first_run != "pass":
            raise
        note = f"first run: {missing.problem}, so nothing was compared"
        return GateReport(
            verdict="passed", head=options.head, baseline=options.baseline, compared=(), notes=(note, missing.remedy)
        )


def _keep(report: GateReport, uri: str) -> None:
    """A tracker that is away changes no verdict."""
    from autotune.api.gate_history import keep_gate

    if not report.compared:
        return
    try:
        keep_gate(report, uri)
    except UserError as error:
        print(f"autotune: the gate was not logged: {error.problem}", file=sys.stderr)


def _require_choice(option: str, given: str, known: tuple[str, ...]) -> None:
    if given not in known:
        raise UserError(f"{option} {given!r} is not known{nearest(given, known)}", f"give one of {', '.join(known)}")
