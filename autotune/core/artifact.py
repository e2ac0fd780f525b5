"""An artifact: what building a candidate gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import Field

from autotune.core.candidate import Candidate
from autotune.core.frozen import Record

__all__ = ["Artifact"]


class Artifact(Record):
    """Files in ``folder`` (``files`` relative to it, ``model`` one of them), content-addressed by ``sha256``.

    ``candidate`` holds all parameters, those of load and run included. ``size_bytes`` sums the files.
    ``changed`` tells what each transformation changed, by its name. ``unchanged`` is not None when a transformation that
    was asked for changed nothing: the reason, in words; the artifact then equals the untransformed one.
    ``custom_op_library`` None: none.
    """

    backend: str
    folder: Path
    model: str
    files: tuple[str, ...]
    sha256: str
    size_bytes: int
    candidate: Candidate
    changed: dict[str, Any] = Field(default_factory=dict)
    unchanged: str | None = None
    custom_op_library: Path | None = None

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a person should know before using it: of each transformation that warns, its name and its words."""
        told = ((name, facts.get("warning")) for name, facts in self.changed.items() if isinstance(facts, dict))
        return tuple(f"warning ({name}): {warning}" for name, warning in told if warning)
