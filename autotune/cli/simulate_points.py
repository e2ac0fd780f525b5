"""A table of served points, predicted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

__all__ = ["predict"]


def predict(points: Path, output: Path, calibration: Path | None, *, as_json: bool) -> int:
    """Predict a table; exit 3 when no row of it can run."""
    from autotune import plugins
    from autotune.cli.output import console, print_json
    from autotune.core.errors import ExitCode

    rows = plugins.simulator("points")(points, output, calibration)
    summary = _summary(rows)
    if as_json:
        print_json(json.dumps({"schema": "autotune/points/1", "output": str(output), **summary, "points": rows}))
    else:
        console().print("\n".join(_said(summary, output)))
    return int(ExitCode.NOTHING_FEASIBLE if rows and summary["feasible"] == 0 else ExitCode.DONE)


def _summary(rows: list[dict[str, str]]) -> dict[str, Any]:
    from statistics import median

    errors = {
        name: [abs(float(row[f"error_{name}"])) for row in rows if row[f"error_{name}"]] for name in ("tpot", "ttft")
    }
    return {
        "rows": len(rows),
        "feasible": sum(not row["reason"] for row in rows),
        **{f"median_error_{name}": median(found) if found else None for name, found in errors.items()},
    }


def _said(summary: dict[str, Any], output: Path) -> list[str]:
    lines = [f"{summary['feasible']} of {summary['rows']} points predicted (simulated): {output}"]
    for name, label in (("tpot", "time per output token"), ("ttft", "time to first token")):
        error = summary[f"median_error_{name}"]
        if error is not None:
            lines.append(f"{label}: median error {error:.1%} of what was measured")
    return lines
