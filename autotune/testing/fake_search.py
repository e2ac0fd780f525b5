"""Small searches whose truth is known: a space, how it responds, and the search's file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from autotune.core.candidate import Candidate, Scalar
from autotune.core.limits import parse_limit
from autotune.core.objective import objective
from autotune.core.space import Parameter, SearchSpace
from autotune.runs.search_file import SearchFile
from autotune.testing.sample_search import sample_search
from autotune.testing.surface import Response

__all__ = ["fake_search", "fake_space", "respond"]

_SPEED: Mapping[Scalar, float] = {"fp32": 1.0, "fp16": 1.3, "int8": 2.4, "int8_channel": 2.2}
_FIDELITY: Mapping[Scalar, float] = {"fp32": 1.0, "fp16": 0.9995, "int8": 0.95, "int8_channel": 0.985}


def fake_space(batches: int = 6, blocks: int = 2) -> SearchSpace:
    """Precision, block (int8 only), threads, spinning and batch: ``32 * (1 + blocks) * batches`` … candidates, 2 of 4
    precisions having blocks.
    """
    baseline = Candidate(runtime="fake", precision="fp32", threads=2, spinning=True, level="all", batch=1)
    return SearchSpace(
        name="fake",
        parameters=(
            Parameter(name="runtime", choices=("fake",), affects="build"),
            Parameter(name="precision", choices=tuple(_SPEED), affects="build"),
            Parameter(
                name="block",
                choices=tuple(16 * 2**i for i in range(blocks)),
                requires={"precision": ("int8", "int8_channel")},
                affects="build",
            ),
            Parameter(name="threads", choices=(1, 2)),
            Parameter(name="spinning", choices=(True, False)),
            Parameter(name="level", choices=("none", "basic", "all")),
            Parameter(name="batch", choices=tuple(2**i for i in range(batches)), affects="run"),
        ),
        baseline=baseline,
        reference=baseline,
        experts=(baseline.with_(precision="int8_channel", block=16, batch=min(8, 2 ** (batches - 1))),),
    )


def respond(candidate: Candidate) -> Response:
    """Latency, throughput, energy and fidelity of a candidate of ``fake_space``: a 1 ms model with a real trade-off."""
    speed = _SPEED[candidate["precision"]] * {"none": 0.7, "basic": 0.9, "all": 1.0}[str(candidate["level"])]
    threads, batch = float(candidate["threads"]), float(candidate["batch"])
    latency_s = 1e-3 / speed / threads**0.7 * (1.0 if candidate["spinning"] else 1.08)
    throughput = threads**0.8 * speed * 1e3 * batch**0.3
    watts = 2.0 + 4.0 * threads + (1.0 if candidate["spinning"] else 0.0)
    fidelity = _FIDELITY[candidate["precision"]] - (0.002 if candidate.get("block") == 32 else 0.0)
    return {"latency_p50": latency_s, "throughput": throughput, "energy": watts / throughput, "fidelity": fidelity}


def fake_search(
    space: SearchSpace | None = None,
    *,
    objectives: Sequence[str] = ("latency_p50", "throughput", "energy", "fidelity"),
    limits: Sequence[str] = (),
    budget_s: float | None = None,
    max_trials: int | None = None,
    patience: float = 0.0,
    seed: int = 0,
) -> SearchFile:
    """The file of a search of ``space``, on one CPU. ``patience`` 0: it never gives up early."""
    space = space or fake_space()
    search = sample_search(Path("run"), limits=tuple(limits))
    wanted = tuple(objective(name) for name in objectives)
    context = search.context.model_copy(
        update={
            "objectives": wanted,
            "limits": tuple(parse_limit(text) for text in limits),
            "baseline": space.baseline,
            "reference": space.reference,
            "seed": seed,
        }
    )
    return search.model_copy(
        update={
            "space": space,
            "objectives": wanted,
            "budget_s": budget_s,
            "max_trials": max_trials,
            "patience": patience,
            "seed": seed,
            "context": context,
        }
    )
