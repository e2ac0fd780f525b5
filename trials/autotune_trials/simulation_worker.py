"""``python -m autotune_trials.simulation_worker PARENT``: carries out simulated trials one after another, for who started it.

One assignment a line comes in on stdin, as JSON, and one line goes out on stdout for each: its record, or what was wrong.
A simulation neither crashes nor disturbs another, so a process serves many of them: starting one would take longer than most.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
import traceback
from pathlib import Path
from typing import TextIO

from autotune.core.assignment import Assignment
from autotune.core.errors import UserError
from autotune.measure.lifetime import die_with_parent
from autotune_trials.run_trial import run_trial

__all__ = ["answer", "main"]


def answer(line: str, work: Path) -> tuple[str, ...]:
    """Carry out one assignment: ("record", JSON), ("mistake", problem, remedy) or ("bug", traceback).

    ``work`` is a file name beside which the trial tells its stage.
    """
    try:
        return "record", run_trial(Assignment.model_validate_json(line), work).to_json()
    except UserError as error:
        return "mistake", error.problem, error.remedy
    except Exception:
        return "bug", traceback.format_exc()


def main(arguments: list[str]) -> int:
    """Serve until stdin ends. ``arguments``: the process to die with."""
    die_with_parent(int(arguments[0]))
    with _own_stdout() as out, tempfile.TemporaryDirectory(prefix="autotune-simulating-") as folder:
        for line in sys.stdin:
            print(json.dumps(answer(line, Path(folder) / "trial.json")), file=out, flush=True)
    return 0


@contextlib.contextmanager
def _own_stdout():  # type: ignore[no-untyped-def]
    """Stdout for answers alone: whatever a library prints goes to stderr."""
    out: TextIO = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    with out:
        yield out


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
