"""Baselines that were measured as servers: response times, rates, the highest rate."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from autotune.core.values import Value
from autotune.core.workload import Phase, Workload
from autotune.gate.repeats import Repeats, highest_rates
from autotune.gate.verdict import GateReport
from autotune.measure.pieces import piece_count


def under_load(*scenarios: str, rate: float = 90.0, limits: tuple[str, ...] = ()) -> dict[str, Any]:
    """Changes to the baseline's ``config.json``: its promise is of these phases."""
    phases = [
        Phase(scenario="server", rate_per_s=rate, limits=limits)
        if name == "server"
        else Phase.model_validate({"scenario": name})
        for name in scenarios
    ]
    return {"workload": Workload(name="w", phases=tuple(phases))}


def gated(gates: SimpleNamespace, slower: float = 1.0, *scenarios: str, **options: Any) -> GateReport:
    load = under_load(
        *(scenarios or ("server",)), **{key: options.pop(key) for key in ("rate", "limits") if key in options}
    )
    promise = gates.config.promise.model_copy(update=load)
    return gates.run(gates.Model(base_s=5e-3 * slower), changes={"promise": promise}, **options)


def standings(report: GateReport) -> dict[str, str]:
    return {entry.metric: entry.standing for entry in report.compared}


@pytest.mark.parametrize("seed", range(3))
def test_an_unchanged_server_does_not_fail_and_is_judged_by_its_response_times(
    gates: SimpleNamespace, seed: int
) -> None:
    report = gated(gates, seed=seed)
    assert report.verdict == "passed"
    found = standings(report)
    assert found["latency_p50"] == found["request_rate"] == found["memory"] == "within"
    assert found["latency_p90"] == found["latency_p99"] == "reported"
    assert not any(metric.startswith("response") for metric in found)


@pytest.mark.parametrize("seed", range(3))
def test_a_slower_server_fails(gates: SimpleNamespace, seed: int) -> None:
    report = gated(gates, 1.2, seed=seed)
    assert report.sentence.startswith("failed: latency_p50")
    assert report.attempts >= 2


def test_a_server_that_cannot_keep_up_fails_by_the_rate_it_answers(gates: SimpleNamespace) -> None:
    assert standings(gated(gates, 5.0, tolerances={"latency_p50": 1e6}))["request_rate"] == "worse"


def test_tails_under_load_are_judged_when_a_tolerance_is_given(gates: SimpleNamespace) -> None:
    slow = gated(gates, 1.5, tolerances={"latency_p50": 9.0, "response_p99": 0.2})
    assert standings(slow)["latency_p99"] == "worse"
    same = gated(gates, 1.0, tolerances={"latency_p50": 9.0, "latency_p99": 0.5})
    assert standings(same)["latency_p99"] == "within"


def test_beside_single_requests_response_times_have_a_name_of_their_own(gates: SimpleNamespace) -> None:
    found = standings(gated(gates, 1.0, "single_stream", "server"))
    assert found["latency_p50"] == found["response_p50"] == "within"
    assert found["response_p90"] == "reported"


def test_goodput_is_what_held_the_limit(gates: SimpleNamespace) -> None:
    slow = gated(gates, 1.6, limits=("latency_p99<=8ms",), tolerances={"latency_p50": 9.0, "goodput": 0.05})
    assert standings(slow)["goodput"] == "worse"


def test_the_highest_rate_is_looked_for_when_a_tolerance_is_given(gates: SimpleNamespace) -> None:
    asked = {"limits": ("latency_p90<=20ms",), "tolerances": {"latency_p50": 9.0, "max_rate": 0.3}}
    assert "max_rate" not in standings(gated(gates, limits=("latency_p90<=20ms",)))
    slow = gated(gates, 2.0, max_budget_s=600.0, **asked)
    assert standings(slow)["max_rate"] == "worse"
    same = gated(gates, 1.0, max_budget_s=600.0, **asked)
    assert standings(same)["max_rate"] == "within"


def test_one_search_for_the_highest_rate_is_no_certainty() -> None:
    assert Repeats("max", (0.5,)).interval.low is None
    assert not Repeats("max", (0.5,)).confirmed(0.1)
    assert not Repeats("max", (1.0, 1.0)).within(0.05, 0.05), "a step of the search found twice"
    assert Repeats("max", (1.0, 1.02, 0.99, 1.0)).within(0.15, 0.05)
    assert Repeats("max", (0.5, 0.52, 0.49)).beyond(0.15, 0.01)


def test_a_head_that_holds_no_rate_lost_nearly_everything() -> None:
    held, none = Value(value=100.0, unit="1/s"), Value(value=None, unit="1/s")
    worst = highest_rates([(none, held), (none, held)])
    assert worst is not None
    assert worst.interval.value == pytest.approx(0.999)
    assert highest_rates([(held, none)]) is None


def test_pieces_are_longer_where_requests_are_rare() -> None:
    assert piece_count(10.0, 1.0, 100.0) == (10, 1.0)
    count, length_s = piece_count(10.0, 1.0, 1.0)
    assert (count, length_s) == (4, 2.5)
    assert piece_count(10.0, 1.0, None) == (10, 1.0)


def test_both_sides_meet_the_same_arrivals(gates: SimpleNamespace) -> None:
    gated(gates)
    counted = [sum(np.array_equal(one, other) for other in gates.arrivals) for one in gates.arrivals]
    assert counted
    assert min(counted) >= 2
