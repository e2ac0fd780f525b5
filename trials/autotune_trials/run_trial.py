"""``python -m autotune_trials.run_trial FILE [PARENT]``: carry out one assignment, in a process of its own.

FILE is an ``Assignment`` as JSON. The ``TrialRecord`` is written beside it (``.record.json``), whole or not at all.
Exits 0 also when the trial failed: failure is data. Exits 2 on a person's mistake and 70 on a bug, both told on stderr.
PARENT, a process id, is whom to die with.
"""

from __future__ import annotations

import sys
import time
import traceback
from pathlib import Path

from autotune.core.assignment import Assignment
from autotune.core.errors import ExitCode, MeasureError, TrialError, UserError
from autotune.core.surroundings import DISK_ERRORS, explained
from autotune.core.trial import Failure, Outcome, TrialRecord
from autotune.measure.lifetime import die_with_parent
from autotune.runs.atomic import write_atomic
from autotune.user_code import find_code_in
from autotune_trials.bench import set_up
from autotune_trials.measuring import carry_out
from autotune_trials.simulating import is_simulated, simulated
from autotune_trials.stages import Stages

__all__ = ["main", "record_file", "run_trial"]


def record_file(work: Path) -> Path:
    """Where the record of the assignment file ``work`` is written."""
    return work.with_suffix(".record.json")


def run_trial(assignment: Assignment, work: Path) -> TrialRecord:
    """Carry the trial out; whatever can go wrong with a candidate becomes a ``Failure``. Anything else is raised."""
    started_s = time.time() if assignment.started_s is None else assignment.started_s
    stages = Stages(work, started_s)
    outcome = _outcome(assignment, stages)
    finished_s = time.time()
    return TrialRecord(
        trial=assignment.trial,
        started_s=started_s,
        finished_s=finished_s,
        cost=stages.cost(finished_s),
        outcome=outcome,
        environment=assignment.context.environment.sha256,
    )


def main(arguments: list[str]) -> int:
    """Run the module's command line, without its name; return the exit status."""
    work = Path(arguments[0])
    try:
        if len(arguments) > 1:
            die_with_parent(int(arguments[1]))
        assignment = Assignment.model_validate_json(work.read_bytes())
        find_code_in(assignment.context.code_folder or Path.cwd())
        record = run_trial(assignment, work)
        write_atomic(record_file(work), record.to_json().encode())
    except UserError as error:
        print(error, file=sys.stderr)
        return ExitCode.USAGE
    except Exception as error:
        if isinstance(error, OSError) and error.errno in DISK_ERRORS:  # the record itself cannot be written
            print(explained(error), file=sys.stderr)
            return ExitCode.USAGE
        traceback.print_exc()
        return ExitCode.BUG
    return ExitCode.DONE


def _outcome(assignment: Assignment, stages: Stages) -> Outcome:
    try:
        if is_simulated(assignment):
            with stages.at("measure"):
                return simulated(assignment)
        return carry_out(set_up(assignment, stages))
    except TrialError as error:
        # a run that fails while outputs are checked is the check's failure
        stage = stages.current if isinstance(error, MeasureError) else error.stage
        return Failure(stage=stage, cause=error.cause, message=_one_line(error.message))
    except MemoryError as error:
        return Failure(stage=stages.current, cause="out_of_memory", message=_one_line(str(error) or "out of memory"))
    except OSError as error:
        if error.errno not in DISK_ERRORS:
            raise
        return Failure(stage=stages.current, cause="disk", message=_one_line(str(error)))


def _one_line(text: str) -> str:
    return " ".join(text.split())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
