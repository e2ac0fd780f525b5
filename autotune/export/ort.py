"""The format ``ort``: the text files of a folder that its runtime and numpy alone can run. Pure, but for reading run.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from autotune.core.deployment import ExportedConfig
from autotune.core.workload import Phase, Workload
from autotune.export.readme import readme_text

__all__ = ["deployed_files", "run_text", "serving_text", "workload_text"]


_WITH_OPENER = ("openvino", "torch")  # runtimes that run.py opens by a module of its own


def deployed_files(config: ExportedConfig, *, samples: int) -> dict[str, str]:
    """Every text file of the exported folder by its name. ``samples`` counts the requests in samples.npz, 0: no such file."""
    runtime = config.session.runtime
    opener = {f"{runtime}_session.py": _source(f"{runtime}_session")} if runtime in _WITH_OPENER else {}
    return opener | {
        "config.json": config.to_json(indent=2) + "\n",
        "run.py": run_text(),
        "batcher.py": serving_text("batcher"),
        "endpoint.py": serving_text("endpoint"),
        "workload.yaml": workload_text(config.promise.workload),
        "README.md": readme_text(config, samples=samples),
    }


def run_text() -> str:
    """The source of ``run.py``: the very module that ``load`` and ``verify`` open exported folders with."""
    return _source("standalone")


def _source(module: str) -> str:
    import autotune.replay

    return (Path(autotune.replay.__file__).parent / f"{module}.py").read_text(encoding="utf-8")


def serving_text(module: str) -> str:
    """The source of a module of ``autotune.serving``: what requests met while they were measured."""
    import autotune.serving

    return (Path(autotune.serving.__file__).parent / f"{module}.py").read_text(encoding="utf-8")


def workload_text(workload: Workload) -> str:
    """The workload as people write it."""
    content = {"name": workload.name, "phases": [_phase(phase) for phase in workload.phases]}
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True)


def _phase(phase: Phase) -> dict[str, Any]:
    shapes = [{"dims": dict(shape.dims), "weight": shape.weight} for shape in phase.shapes]
    written: dict[str, Any] = {
        "scenario": phase.scenario,
        "streams": phase.streams,
        "trace": list(phase.arrivals_s),
        "priorities": list(phase.priorities),
        "queue_limit": phase.queue_limit,
        "rate": None if phase.rate_per_s is None else f"{phase.rate_per_s:g}/s",
        "duration": None if phase.duration_s is None else f"{phase.duration_s:g}s",
        "limits": list(phase.limits),
        "shapes": shapes,
    }
    return {name: value for name, value in written.items() if value not in (None, [])}
