"""A package that something optional runs on."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Package"]


@dataclass(frozen=True)
class Package:
    """``name`` is the distribution's, as pip knows it; ``install`` the command that a person types to have it."""

    name: str
    install: str

    @property
    def absent(self) -> str:
        """What to say where it is not installed."""
        return f"{self.name} is not installed"
