"""Quality in stages, with a session that only counts what it is asked."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from autotune.core.artifact import Artifact
from autotune.core.assignment import Assignment, SearchContext
from autotune.core.candidate import Candidate
from autotune.core.device import DeviceSpec
from autotune.core.environment import Environment
from autotune.core.plan import Plan
from autotune.core.samples import Tensors
from autotune.core.trial import Trial
from autotune.core.workload import BUILT_IN
from autotune.data import open_data
from autotune.models import read_model
from autotune.testing import onnx_models
from autotune_trials.bench import Bench, set_up
from autotune_trials.quality import ArtifactQuality
from autotune_trials.stages import Stages

PLAIN = Candidate(runtime="fake")
ARTIFACT = Artifact(backend="fake", folder=Path(), model="", files=(), sha256="a1", size_bytes=0, candidate=PLAIN)


class CountingSession:
    """Answers with x, a thousandth off."""

    def __init__(self) -> None:
        self.asked = 0

    def outputs(self, inputs: Tensors) -> Tensors:
        self.asked += 1
        return {"y": inputs["x"] + np.float32(1e-3)}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """600 samples: 240 of them select."""
    np.savez(tmp_path / "data.npz", x=np.random.default_rng(0).normal(size=(600, 16)).astype(np.float32))
    model = read_model(onnx_models.mlp(tmp_path / "m.onnx"))
    context = SearchContext(
        folder=tmp_path / "run",
        model=model,
        devices=(DeviceSpec(name="cpu", cpus=2),),
        workload=BUILT_IN["latency"],
        objectives=(),
        data=open_data(str(tmp_path / "data.npz"), model, 0),
        baseline=PLAIN,
        reference=PLAIN,
        build_parameters=("runtime",),
        environment=Environment(cpu_model="", isa=(), cpus=2, memory_bytes=None, os="", python=""),
    )
    trial = Trial(id="t0001", key="k", candidate=PLAIN, device="cpu", plan=Plan())
    return set_up(Assignment(trial=trial, context=context), Stages(tmp_path / "work.json", 0.0))


def reference(bench: Bench) -> list[Tensors]:
    return [{"y": inputs["x"]} for inputs in bench.inputs(bench.indices("select"))]


def test_two_hundred_samples_come_first_and_the_others_when_asked_for(bench: Bench) -> None:
    session = CountingSession()
    quality = ArtifactQuality(bench, session, ARTIFACT, reference(bench))
    assert (session.asked, quality.values["fidelity"].n, quality.whole) == (200, 200, False)
    quality.complete()
    assert (session.asked, quality.values["fidelity"].n, quality.whole) == (240, 240, True)
    quality.complete()
    assert session.asked == 240


def test_outputs_are_compared_with_those_of_the_same_samples(bench: Bench) -> None:
    quality = ArtifactQuality(bench, CountingSession(), ARTIFACT, reference(bench))
    assert quality.values["fidelity"].value == pytest.approx(1, abs=1e-5)


def test_another_trial_of_the_artifact_goes_on_where_the_first_ended(bench: Bench) -> None:
    ArtifactQuality(bench, CountingSession(), ARTIFACT, reference(bench))
    second = CountingSession()
    quality = ArtifactQuality(bench, second, ARTIFACT, reference(bench))
    assert (second.asked, quality.values["fidelity"].n) == (0, 200)
    quality.complete()
    third = CountingSession()
    assert ArtifactQuality(bench, third, ARTIFACT, reference(bench)).whole
    assert third.asked == 0


def test_a_part_of_the_samples_is_raced_at_its_better_end(bench: Bench) -> None:
    quality = ArtifactQuality(bench, CountingSession(), ARTIFACT, reference(bench))
    assert quality.for_the_race()["fidelity"].value == quality.values["fidelity"].high
    quality.complete()
    assert quality.for_the_race() == quality.values
