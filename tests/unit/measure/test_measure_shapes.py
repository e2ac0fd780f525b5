from __future__ import annotations

import numpy as np
import pytest

from autotune.core.plan import Plan
from autotune.core.samples import Requests, Samples
from autotune.core.workload import Phase
from autotune.measure import Against, PhaseLoad, measure
from autotune.measure.shapes import by_shape

MIXED = Requests("mixed", tuple({"x": np.ones(1)} for _ in range(4)), shapes=("a", "b", "b", "b"), cycle=4)


class MixedSession:
    """Requests of shape a take ``short_s``, those of b ten times as long, with a little noise."""

    def __init__(self, clock, short_s: float) -> None:
        self.clock, self.short_s, self.position, self.counts = clock, short_s, 0, []
        self.generator = np.random.default_rng(0)

    def run(self, requests: Requests, count: int) -> Samples:
        self.counts.append(count)
        first = self.position
        labels = [requests.shapes[(first + index) % len(requests.shapes)] for index in range(count)]
        self.position = (first + count) % len(requests.inputs)
        noise = 1 + 0.01 * self.generator.standard_normal(count)
        latency = np.asarray([self.short_s * (1 if label == "a" else 10) for label in labels]) * noise
        self.clock.sleep(float(latency.sum()))
        return Samples(latency, requests.items, float(latency.sum()), cpu_s=0.0, memory_bytes=1, first=first)

    def pause(self) -> None: ...

    def resume(self) -> None: ...


def load(scenario: str = "single_stream") -> PhaseLoad:
    return PhaseLoad(Phase(scenario=scenario), MIXED)


def test_requests_are_told_apart_from_wherever_a_round_begins() -> None:
    taken = [Samples(np.asarray([2.0, 3.0, 4.0, 1.0]), 1, 10.0, first=1)]
    assert {name: [one.tolist() for one in rounds] for name, rounds in by_shape(MIXED, taken).items()} == {
        "a": [[1.0]],
        "b": [[2.0, 3.0, 4.0]],
    }


def test_a_load_of_one_shape_has_no_parts() -> None:
    assert by_shape(Requests("k", ({"x": np.ones(1)},)), [Samples(np.ones(3), 1, 3.0)]) == {}


def test_every_round_holds_each_shape_in_its_share(clock, fake) -> None:
    session = MixedSession(clock, 0.0003)
    measure(session, [load()], Plan(), clock=clock, watch=fake.watch)
    assert all(count % 4 == 0 for count in session.counts)


def test_latency_is_of_the_mixture_and_of_each_shape(clock, fake) -> None:
    measured = measure(MixedSession(clock, 0.001), [load()], Plan(), clock=clock, watch=fake.watch)
    value = measured.metrics["latency_p50"]
    assert value.value == pytest.approx(0.01, rel=0.03)
    assert {name: part.value for name, part in value.parts.items()} == pytest.approx({"a": 0.001, "b": 0.01}, rel=0.02)
    assert all(part.low < part.value < part.high for part in value.parts.values())
    assert measured.steady


def test_the_median_of_two_equal_shares_is_a_request_and_nothing_in_between(clock, fake) -> None:
    requests = Requests("even", MIXED.inputs, shapes=("a", "b", "a", "b"), cycle=2)
    loads = [PhaseLoad(Phase(scenario="single_stream"), requests)]
    value = measure(MixedSession(clock, 0.001), loads, Plan(), clock=clock, watch=fake.watch).metrics["latency_p50"]
    assert value.value == pytest.approx(0.01, rel=0.05)


def test_throughput_is_of_the_mixture_and_of_each_shape(clock, fake) -> None:
    measured = measure(MixedSession(clock, 0.001), [load("offline")], Plan(), clock=clock, watch=fake.watch)
    value = measured.metrics["throughput"]
    assert value.value == pytest.approx(4 / 0.031, rel=0.02)
    assert {name: part.value for name, part in value.parts.items()} == pytest.approx({"a": 1000, "b": 100}, rel=0.02)


@pytest.mark.parametrize(
    ("scenario", "metric", "ratio"), [("single_stream", "latency_p50", 0.5), ("offline", "throughput", 2)]
)
def test_ratios_are_of_the_mixture_and_of_each_shape(clock, fake, scenario: str, metric: str, ratio: float) -> None:
    plan = Plan(paired=True)
    mine, theirs = MixedSession(clock, 0.001), MixedSession(clock, 0.002)
    against = Against(theirs, (load(scenario),))
    measured = measure(mine, [load(scenario)], plan, clock=clock, watch=fake.watch, against=against)
    value = measured.ratios[metric]
    assert value.value == pytest.approx(ratio, rel=0.02)
    assert {name: part.value for name, part in value.parts.items()} == pytest.approx({"a": ratio, "b": ratio}, rel=0.03)
