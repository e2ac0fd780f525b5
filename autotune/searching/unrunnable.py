"""The unmodified model does not run: what is told, and what may help."""

from __future__ import annotations

from autotune.core.errors import NOT_RUNNING, AllTrialsFailed
from autotune.core.trial import Failure
from autotune.runs.search_file import SearchFile

__all__ = ["does_not_run"]


def does_not_run(failure: Failure, search: SearchFile) -> AllTrialsFailed:
    """The error with the runtime's own words. Where inputs were made up, their sizes may be what the model does not take."""
    why = failure.message.partition("\n")[0].removeprefix(f"{NOT_RUNNING}: ")
    return AllTrialsFailed(f"{NOT_RUNNING}: it {failure.told}: {why}", _remedy(failure, search))


def _remedy(failure: Failure, search: SearchFile) -> str:
    dims = search.facts.dims
    if failure.stage == "timeout":
        return "give the search more time (--budget): a trial may take a share of it"
    if failure.stage == "check" and search.data.path is None and dims:
        sizes = " ".join(f"--dim {symbol}={size}" for symbol, size in dims.items())
        return f"inputs were made up as with {sizes}: give sizes that the model takes, or samples with --data"
    return "mend the model, or give what it needs (--data, --dim, --custom-op-lib), and search again"
