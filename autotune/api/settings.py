"""What a person asked for, before anything was read or checked."""

from __future__ import annotations

from pathlib import Path

from autotune.core.frozen import Frozen

__all__ = ["SearchSettings", "budget_of"]

DEFAULT_BUDGET_S = 3600.0


class SearchSettings(Frozen):
    """Options of ``autotune search``, as text where the command line gives text.

    ``budget_s`` None with ``trials`` None: the default budget. Empty tuples and None: the documented default.
    ``preprocess``: what is done to images, as the command line writes it. ``code_folder``: where ``module:function`` is found
    besides the installed packages; None: the current folder.
    ``goal``: one word instead of ``objectives``; None: no such word was given.
    ``recover``: how long a pruned model may be trained again, as text; None: it is not.
    ``rate`` None: one replica, no fleet; ``confidence`` is that of simulated intervals; ``calibrate`` a table
    of points measured on simulated devices, None: there is none. ``own``: simulated devices are bought,
    written off over ``years``, at ``electricity`` in USD/kWh and that PUE; None: ``Ownership``'s defaults.
    ``tracking_uri`` None: MLFLOW_TRACKING_URI or MLflow's default; ``tracking`` False: no tracker at all.
    """

    model: Path
    budget_s: float | None = None
    trials: int | None = None
    space: str | None = None
    devices: tuple[str, ...] = ()
    workload: str = "default"
    objectives: tuple[str, ...] = ()
    goal: str | None = None
    limits: tuple[str, ...] = ()
    data: str | None = None
    preprocess: str | None = None
    metric: str | None = None
    dims: tuple[str, ...] = ()
    custom_op_library: Path | None = None
    sampler: str = "auto"
    seed: int = 0
    patience: float = 0.2
    output: Path | None = None
    energy: str = "auto"
    power_model: Path | None = None
    backends: tuple[str, ...] = ()
    executor: str = "ray"
    address: str | None = None
    tracking_uri: str | None = None
    tracking: bool = True
    code_folder: Path | None = None
    recover: str | None = None
    rate: str | None = None
    spare: int = 0
    confidence: float = 0.8
    own: bool = False
    years: float | None = None
    electricity: float | None = None
    pue: float | None = None
    calibrate: Path | None = None


def budget_of(settings: SearchSettings) -> float | None:
    """Seconds that the search may take: as asked, or an hour; None where a number of trials alone bounds it."""
    return settings.budget_s if settings.budget_s or settings.trials else DEFAULT_BUDGET_S
