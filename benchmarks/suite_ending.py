"""How a model of the ONNX suite ended, and how exceptions become endings."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from autotune.core.errors import TrialError, UserError
from benchmarks.suite_models import SuiteModel

__all__ = ["Ending", "How", "ended", "grouped"]

How = Literal["equal", "refused", "differs", "wrong", "traceback", "hang"]


@dataclass(frozen=True)
class Ending:
    """``refused``: with a reason for the user. ``differs``: from the suite, as plain onnxruntime does.

    ``points``: the front's, the baseline among them; 0: nothing was searched. ``lossy``: those of them whose weights or products
    were changed. ``failures``: of the search's trials, one line each.
    """

    model: str
    how: How
    reason: str = ""
    points: int = 0
    lossy: int = 0
    failures: tuple[str, ...] = ()

    @property
    def group(self) -> str:
        """The reason without what is the model's own: names, types, numbers."""
        return grouped(self.reason)


def grouped(reason: str) -> str:
    """A reason without what is one model's own: names, types, numbers."""
    return re.sub(r"'[^']*'|\b[\w:]*[\d_][\w:]*\b|\(.*\)", "…", reason)[:90]


def ended(model: SuiteModel, take: Callable[[], Ending]) -> Ending:
    """What ``take`` returns; an exception is an ending as well. ``TimeoutError`` is a hang."""
    try:
        return take()
    except (UserError, TrialError) as error:
        return Ending(model.name, "refused", str(error).replace("\n", "; "))
    except TimeoutError as error:
        return Ending(model.name, "hang", str(error))
    except Exception:
        return Ending(model.name, "traceback", traceback.format_exc().strip())
