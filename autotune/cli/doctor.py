"""``autotune doctor``."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["register"]

_MARKS = {"ok": "ok", "note": "note", "missing": "MISSING"}


def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False) -> int:
    """Say what can be measured on this machine and why the rest cannot. Exits with 2 when something needed is missing."""
    import json
    from pathlib import Path

    from autotune.api.diagnosis import diagnose
    from autotune.cli.output import print_json

    findings = diagnose(Path.cwd())
    if as_json:
        print_json(
            json.dumps({"schema": "autotune/doctor/1", "findings": [finding.model_dump() for finding in findings]})
        )
    else:
        for finding in findings:
            print(f"{_MARKS[finding.state]:8}{finding.about:15}{finding.text}")
            if finding.remedy:
                print(f"{'':23}→ {finding.remedy}")
    return 2 if any(finding.state == "missing" for finding in findings) else 0


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(short_help="Say what can be measured here, and why not the rest.")(doctor)
