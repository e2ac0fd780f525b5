"""A front as a notebook shows it."""

from __future__ import annotations

from autotune.core.front import Front
from autotune.report import FrontPlot, front_markdown, front_plot

__all__ = ["ShownFront"]


class ShownFront(Front):
    """A front that draws itself, and that a notebook renders as the answer with a table."""

    @classmethod
    def of(cls, front: Front) -> ShownFront:
        """The same front."""
        return cls.model_construct(**{name: getattr(front, name) for name in Front.model_fields})

    def plot(self, x: str | None = None, y: str | None = None) -> FrontPlot:
        """Draw two metrics with intervals and the baseline; None: latency, and quality.

        In a notebook the value shows itself; ``.save("front.png")`` writes it.
        """
        return front_plot(self, x, y)

    def _repr_markdown_(self) -> str:
        return front_markdown(self)
