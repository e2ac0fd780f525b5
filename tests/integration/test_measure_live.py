"""``measure`` on real processes: what comes out and in what form. Never how fast this machine is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from autotune.core.artifact import Artifact
from autotune.core.candidate import Candidate
from autotune.core.clock import SystemClock
from autotune.core.device import DeviceSpec
from autotune.core.plan import Plan
from autotune.core.power import PowerModel, Watts
from autotune.core.samples import Requests
from autotune.core.workload import Phase
from autotune.measure import Against, PhaseLoad, measure
from autotune.measure.session_process import SessionProcess

OPENER = """
import numpy as np

class Adding:
    def outputs(self, inputs):
        return {"y": inputs["x"] + 1}
    def bind(self, inputs):
        x, y = inputs["x"], np.empty_like(inputs["x"])
        return lambda: np.add(x, 1, out=y)

def adding(artifact, device):
    return Adding()
"""
PLAN = Plan(round_s=0.01, min_rounds=4, max_rounds=6, warmup_limit_s=0.3, phase_limit_s=0.5)
POWER = PowerModel(name="p", idle_w=Watts(typical=1, low=1, high=1), busy_w=Watts(typical=4, low=4, high=4), source="t")


@pytest.fixture
def open_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], SessionProcess]:
    (tmp_path / "live_opener.py").write_text(OPENER)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    artifact = Artifact(
        backend="test", folder=tmp_path, model="m", files=(), sha256="0", size_bytes=0, candidate=Candidate()
    )
    return lambda: SessionProcess("live_opener:adding", artifact, DeviceSpec(name="cpu"))


def loads() -> tuple[PhaseLoad, ...]:
    one, many = {"x": np.ones(50_000)}, {"x": np.ones(400_000)}
    return (
        PhaseLoad(Phase(scenario="single_stream"), Requests("one", (one,))),
        PhaseLoad(Phase(scenario="offline"), Requests("many", (many,), items=8)),
    )


def test_a_session_alone_gives_every_metric(open_session: Callable[[], SessionProcess]) -> None:
    with open_session() as session:
        measured = measure(session, loads(), PLAN, clock=SystemClock(), power=POWER, cpus=2)
    assert {"latency_p50", "throughput", "energy", "power", "memory"} <= set(measured.metrics)
    assert all(value.known for value in measured.metrics.values())
    rounds, requests = measured.arrays["single_stream_latency_s"].shape
    assert 1 <= rounds <= 2 * PLAN.max_rounds  # on a busy machine as many again are taken
    assert requests >= 1
    assert measured.metrics["latency_p50"].n == rounds * requests


def test_a_pair_gives_ratios_and_leaves_both_sessions_running(open_session: Callable[[], SessionProcess]) -> None:
    with open_session() as session, open_session() as other:
        measured = measure(
            session, loads(), PLAN, clock=SystemClock(), power=POWER, cpus=2, against=Against(other, loads())
        )
        for side in (session, other):
            assert side.outputs({"x": np.ones(1)})["y"].tolist() == [2]
    assert set(measured.ratios) == {"latency_p50", "throughput", "energy", "memory"}
    mine, theirs = measured.arrays["offline_wall_s"], measured.arrays["against_offline_wall_s"]
    assert mine.shape == theirs.shape
