"""The common form of a transformation: a file in, a file out, and what changed."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

__all__ = ["Change", "Transformation"]


@dataclass(frozen=True)
class Change:
    """What a transformation did. ``facts`` is plain JSON; ``unchanged`` None: something changed, else why nothing did."""

    name: str
    facts: dict[str, Any] = field(default_factory=dict)
    unchanged: str | None = None


class Transformation(Protocol):
    """Rewrites a model by path. The source and its folder are left as they were."""

    def __call__(self, source: Path, target: Path) -> Change:
        """Write the transformed model to ``target``, external data beside it.

        When nothing changed, ``target`` may not exist. Tools raise what they like: the backend makes it a ``BuildError``.
        """
        ...
