"""What to measure next, from the records of a simulated search."""

from __future__ import annotations

from autotune.core.candidate import Candidate
from autotune.core.limits import parse_limit
from autotune.core.plan import Plan
from autotune.core.trial import Measurement, Trial, TrialRecord
from autotune.core.values import Value
from autotune.searching.next_measurement import next_measurement


def about(value: float, width: float = 1.3) -> Value:
    return Value(value=value, low=value / width, high=value * width, unit="s", provenance="simulated", common=0.3)


def record(number: int, device: str, usd: float, ttft_s: float = 0.5, **candidate: int | str) -> TrialRecord:
    metrics = {"cost_per_million_tokens": about(usd), "tpot_p50": about(0.02), "ttft_p90": about(ttft_s)}
    trial = Trial(
        id=f"t{number:04}", key=f"k{number}", candidate=Candidate(candidate), device=device, plan=Plan(time_limit_s=1)
    )
    return TrialRecord(trial=trial, started_s=0, finished_s=1, outcome=Measurement(metrics=metrics))


def test_two_devices_of_almost_one_price_are_worth_a_measurement_and_a_dear_one_is_not() -> None:
    found = next_measurement([record(1, "a", 1.0), record(2, "b", 1.05), record(3, "c", 5.0)], (), 0.8, fleet=False)
    assert found is not None
    assert (found.chosen, found.trial) in {("t0001", "t0001"), ("t0001", "t0002")}
    assert found.wrong_after < found.wrong_now
    assert "t0003" not in list(found.others)[:1]


def test_where_nothing_comes_near_no_measurement_is_named() -> None:
    found = next_measurement([record(1, "a", 1.0), record(2, "b", 9.0)], (), 0.8, fleet=False)
    assert found is not None
    assert (found.trial, found.wrong_now) == (None, 0.0)


def test_settings_of_one_layout_are_one_contender_the_cheapest_that_holds_the_limits() -> None:
    limits = (parse_limit("ttft_p90<=1s"),)
    records = [record(1, "a", 1.0, 4.0, tp=2), record(2, "a", 1.2, 0.5, tp=2), record(3, "b", 1.25, 0.5)]
    found = next_measurement(records, limits, 0.8, fleet=False)
    assert found is not None
    assert found.chosen == "t0002"


def test_a_fleets_price_follows_the_time_of_its_steps() -> None:
    def fleet(number: int, device: str, usd: float) -> TrialRecord:
        metrics = {
            "cost_per_month": Value(value=usd, unit="USD", provenance="simulated"),
            "tpot_p50": about(0.02),
        }
        one = record(number, device, 1.0)
        return one.model_copy(update={"outcome": Measurement(metrics=metrics)})

    found = next_measurement([fleet(1, "a", 1000), fleet(2, "b", 1050)], (), 0.8, fleet=True)
    assert found is not None
    assert found.chosen == "t0001"
    assert found.wrong_after < found.wrong_now


def test_a_search_without_prices_says_nothing() -> None:
    one = record(1, "a", 1.0)
    bare = one.model_copy(update={"outcome": Measurement(metrics={"tpot_p50": about(0.02)})})
    assert next_measurement([bare], (), 0.8, fleet=False) is None


def test_a_format_whose_published_quality_breaks_a_limit_is_no_choice_whatever_is_measured() -> None:
    def kept(number: int, device: str, usd: float, low: float | None) -> TrialRecord:
        one = record(number, device, usd)
        assert one.measurement is not None
        told = {} if low is None else {"fidelity": Value(value=0.99, low=low, high=1, unit="1", provenance="published")}
        return one.model_copy(update={"outcome": Measurement(metrics={**one.measurement.metrics, **told})})

    limits = (parse_limit("fidelity>=0.97"),)
    some = [kept(1, "a", 0.5, 0.96), kept(2, "b", 0.4, None), kept(3, "c", 1.0, 0.98)]
    found = next_measurement(some, limits, 0.8, fleet=False)
    assert found is not None
    assert (found.chosen, found.wrong_now) == ("t0003", 0.0)


def test_what_one_replica_costs_a_month_is_no_price_of_its_tokens() -> None:
    def rented(number: int, device: str, usd: float, usd_a_month: float) -> TrialRecord:
        one = record(number, device, usd)
        assert one.measurement is not None
        rent = {"cost_per_month": Value(value=usd_a_month, unit="USD", provenance="simulated")}
        return one.model_copy(update={"outcome": Measurement(metrics={**one.measurement.metrics, **rent})})

    found = next_measurement([rented(1, "slow", 9.0, 100.0), rented(2, "fast", 1.0, 1000.0)], (), 0.8, fleet=False)
    assert found is not None
    assert found.chosen == "t0002"
