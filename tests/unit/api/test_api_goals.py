from __future__ import annotations

from pathlib import Path

import pytest

from autotune.api.goals import GOALS, goal_objectives, with_goals_load
from autotune.api.settings import SearchSettings
from autotune.core.device import DeviceSpec
from autotune.core.errors import UserError
from autotune.core.metrics import find_metric
from autotune.testing.sample_search import sample_search

REAL, SIMULATED = DeviceSpec(name="cpu"), DeviceSpec(name="h100", kind="simulated", device_class="gpu")


def asked(**changed: object) -> SearchSettings:
    return SearchSettings.model_validate({"model": "m.onnx", **changed})


def wanted(
    goal: str | None, device: DeviceSpec = REAL, *, labels: bool = False, energy: bool = True
) -> tuple[str, ...]:
    data = sample_search(Path("run")).data.model_copy(update={"labels": labels})
    return goal_objectives(asked(goal=goal), [device], data, energy=energy)


@pytest.mark.parametrize(
    ("goal", "names", "load"),
    [
        ("latency", ("latency_p50", "fidelity"), "latency"),
        ("throughput", ("throughput", "fidelity"), "throughput"),
        ("energy", ("energy", "latency_p50", "fidelity"), "default"),
    ],
)
def test_a_goal_names_its_objectives_with_quality_and_its_load(goal: str, names: tuple[str, ...], load: str) -> None:
    assert wanted(goal) == names
    assert wanted(goal, labels=True)[-1] == "accuracy"
    assert with_goals_load(asked(goal=goal)).workload == load


@pytest.mark.parametrize("goal", GOALS)
def test_simulated_devices_have_every_goal(goal: str) -> None:
    names = wanted(goal, SIMULATED)
    assert all(find_metric(name) for name in names)


def test_cost_without_a_price_and_energy_without_a_source_are_refused_with_the_reason() -> None:
    with pytest.raises(UserError, match="no price is known of the real device cpu"):
        wanted("cost")
    with pytest.raises(UserError, match="energy is unknown here"):
        wanted("energy", energy=False)


def test_a_workload_that_was_asked_for_stays() -> None:
    assert with_goals_load(asked(goal="latency", workload="throughput")).workload == "throughput"


def test_without_a_goal_nothing_changes() -> None:
    assert with_goals_load(asked()) == asked()
    assert wanted(None) == ()


def test_an_unknown_goal_and_a_goal_beside_objectives_are_refused() -> None:
    with pytest.raises(UserError, match="did you mean 'latency'"):
        with_goals_load(asked(goal="latenzy"))
    with pytest.raises(UserError, match="both say what to optimise"):
        with_goals_load(asked(goal="latency", objectives=("energy",)))
