"""Why a session failed: pure functions from what is known of its end to a cause and a message."""

from __future__ import annotations

import re
import signal

from autotune.core.errors import Cause, TrialError

__all__ = ["cause_of_error", "cause_of_exit", "cause_of_text"]

_MEMORY = re.compile(
    r"bad_alloc|bad allocation|MemoryError|failed to allocate|cannot allocate memory|out of memory|unable to allocate"
    r"|std::length_error",
    re.IGNORECASE,
)
_CUSTOM_OP = re.compile(
    r"not a registered function/op|no op(?:erator)? registered for|Failed to load library", re.IGNORECASE
)
_UNSUPPORTED = re.compile(r"NOT_IMPLEMENTED|could not find an implementation|not supported|unsupported", re.IGNORECASE)
_SHOWN_CHARACTERS = 500


def cause_of_text(text: str) -> Cause:
    """Return the cause that a runtime's error text names, ``other`` when it names none."""
    if _MEMORY.search(text):
        return "out_of_memory"
    if _CUSTOM_OP.search(text):
        return "custom_op"
    return "unsupported" if _UNSUPPORTED.search(text) else "other"


def cause_of_error(error: BaseException) -> tuple[Cause, str]:
    """Return cause and message of an exception that was caught inside the session's process."""
    if isinstance(error, TrialError):
        return error.cause, error.message
    message = f"{type(error).__name__}: {error}"
    return cause_of_text(message), message[:_SHOWN_CHARACTERS]


def cause_of_exit(status: int | None, stderr_tail: str, oom_kills: int) -> tuple[Cause, str]:
    """Return cause and message of a process that ended on its own.

    ``status`` as ``subprocess`` gives it: negative for a signal, None when it is not known.
    ``oom_kills``: processes that the kernel killed for memory here since this one started.
    """
    last_words = _last_line(stderr_tail)
    if _MEMORY.search(stderr_tail):
        return "out_of_memory", last_words
    if status is not None and status < 0:
        name = _signal_name(-status)
        if -status == signal.SIGKILL and oom_kills > 0:
            return "out_of_memory", f"the session's process was killed by the kernel for memory ({name})"
        return "crash", f"the session's process ended by {name}" + (f": {last_words}" if last_words else "")
    cause = cause_of_text(stderr_tail)
    exited = f"the session's process exited with status {status}"
    return ("crash" if cause == "other" else cause), f"{exited}: {last_words}" if last_words else exited


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:_SHOWN_CHARACTERS] if lines else ""
