"""The user's own Python: functions that options name as ``module:function``."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from autotune.core.errors import UserError, nearest

__all__ = ["find_code_in", "names_function", "user_function"]

_FUNCTION: Final = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")


def names_function(text: str) -> bool:
    """Whether ``text`` is written as ``module:function``."""
    return _FUNCTION.fullmatch(text) is not None


def find_code_in(folder: Path) -> None:
    """Let modules in ``folder`` be imported. It comes last: a file there never stands for a library's module of that name."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def user_function(spec: str, what: str) -> Callable[..., Any]:
    """Return the function that ``spec``, ``module:function``, names. ``what`` says in messages what it is for.

    Raises ``UserError``: it is written wrongly, the module cannot be imported, or has no such function.
    """
    if not names_function(spec):
        raise UserError(f"{what} {spec!r} names no function", "write module:function")
    module, _, name = spec.partition(":")
    try:
        imported = import_module(module)
    except (Exception, SystemExit) as error:  # whatever the user's module raises is for the user to mend
        remedy = f"{module}.py is looked for among the installed packages, then in {sys.path[-1]}"
        raise UserError(f"{what} {spec!r}: {_words(error)}", remedy) from error
    function = getattr(imported, name, None)
    if function is not None and not callable(function):
        raise UserError(f"{what} {spec!r} is no function: it is {function!r:.60}", "write module:function")
    if function is None:
        close = nearest(name, vars(imported))
        raise UserError(f"{what} {spec!r}: {module} has no function {name!r}{close}", "write module:function")
    found: Callable[..., Any] = function
    return found


def _words(error: BaseException) -> str:
    first = next(iter(str(error).splitlines()), "")
    return first if isinstance(error, ImportError) else f"importing it raises {type(error).__name__}: {first}"
