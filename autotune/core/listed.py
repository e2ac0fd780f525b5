"""A search space as it is listed: without a model at hand."""

from __future__ import annotations

from autotune.core.frozen import Record
from autotune.core.space import Omission, Parameter

__all__ = ["ListedParameter", "ListedSpace"]


class ListedParameter(Record):
    """A parameter as the space has it. ``loads`` names the built-in workloads that alone bring it; empty: every one does."""

    parameter: Parameter
    loads: tuple[str, ...] = ()


class ListedSpace(Record):
    """A space, what it is for, and all that it may hold there. ``omissions`` are what this machine lacks, and why.

    Without ``models`` it is the default of none, and what it holds is seen with a model alone. Without ``parameters`` nothing
    here runs such models, and the omissions say what is missing.
    """

    name: str
    about: str
    models: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    parameters: tuple[ListedParameter, ...] = ()
    omissions: tuple[Omission, ...] = ()
