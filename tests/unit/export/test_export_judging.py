from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.core.values import Value
from autotune.export.judging import (
    doubt_if_busy,
    doubt_if_moving,
    judge_absolute,
    judge_quality,
    judge_ratio,
    judge_size,
    middle,
)
from autotune.export.speed_check import settled
from autotune.export.verdict import Compared, overall


def value(number: float, spread: float = 0.01, unit: str = "1", n: int | None = None) -> Value:
    return Value(value=number, unit=unit, low=number * (1 - spread), high=number * (1 + spread), n=n)


@pytest.mark.parametrize(
    ("found", "verdict"), [(0.50, "kept"), (0.515, "kept"), (0.55, "broken"), (0.30, "kept"), (0.6, "broken")]
)
def test_latency_ratio_is_broken_when_a_tenth_slower(found: float, verdict: str) -> None:
    assert judge_ratio("latency_p50", value(0.50), value(found)).verdict == verdict


def test_throughput_ratio_is_broken_when_lower() -> None:
    assert judge_ratio("throughput", value(2.0), value(1.8)).verdict == "broken"
    assert judge_ratio("throughput", value(2.0), value(2.4)).verdict == "kept"


def test_worse_by_wide_intervals_is_neither_kept_nor_broken() -> None:
    found = judge_ratio("energy", value(0.5, spread=0.09), value(0.55, spread=0.2))
    assert found.verdict == "not compared"
    assert "too noisy to tell" in found.reason
    assert overall([found, judge_size(value(1000, unit="bytes"), 1000)]) == "not compared"
    assert not settled([[found]])


def test_a_slowdown_on_a_busy_machine_is_in_doubt_unless_no_neighbour_could_do_it() -> None:
    small = judge_ratio("latency_p50", value(0.5), value(0.6))
    assert doubt_if_busy(small, busy=False).verdict == "broken"
    assert doubt_if_busy(small, busy=True).in_question
    large = judge_ratio("latency_p50", value(0.5), value(0.8))
    assert doubt_if_busy(large, busy=True).verdict == "broken"
    assert doubt_if_busy(large, busy=True, longer=True).in_question
    assert doubt_if_busy(large, busy=False, longer=True).verdict == "broken"
    kept = judge_ratio("latency_p50", value(0.5), value(0.5))
    assert doubt_if_busy(kept, busy=True) == kept


def test_a_slowdown_seen_in_a_ratio_that_drifts_is_in_doubt_unless_it_is_beyond_all_drift() -> None:
    small, large = (judge_ratio("latency_p50", value(0.5), value(found)) for found in (0.6, 0.8))
    assert doubt_if_moving(small, moving=True).in_question
    assert doubt_if_moving(small, moving=False) == small
    assert doubt_if_moving(large, moving=True) == large


def test_a_time_or_an_energy_by_itself_is_in_doubt_on_a_busy_machine_and_a_peak_of_memory_is_not() -> None:
    for metric, unit in (("latency_p50", "s"), ("energy", "J")):
        tripled = judge_absolute(metric, value(0.005, unit=unit), value(0.015, unit=unit))
        assert tripled.verdict == "broken"
        doubted = doubt_if_busy(tripled, busy=True)
        assert doubted.in_question
        assert overall([doubted, judge_size(value(1000, unit="bytes"), 1000)]) == "not compared"
    memory = judge_absolute("memory", value(1e6, unit="bytes"), value(3e6, unit="bytes"))
    assert doubt_if_busy(memory, busy=True).verdict == "broken"


def test_what_lies_inside_a_wide_promise_is_kept() -> None:
    assert judge_ratio("latency_p50", value(0.8, spread=0.25), value(0.95)).verdict == "kept"
    assert judge_ratio("throughput", value(1.5, spread=0.2), value(1.25)).verdict == "kept"


def test_no_worse_by_wide_intervals_is_kept() -> None:
    assert judge_ratio("energy", value(0.5, spread=0.2), value(0.5, spread=0.2)).verdict == "kept"


@given(promised=st.floats(0.01, 100), factor=st.floats(1.06, 10))
def test_ratio_scales(promised: float, factor: float) -> None:
    broken = judge_ratio("latency_p50", value(promised, 1e-4), value(promised * factor, 1e-4))
    assert broken.verdict == "broken"
    assert broken.worse == pytest.approx(factor)


def test_absolute_value_bears_the_drift_of_a_shared_machine() -> None:
    promised = value(1e-3, unit="s")
    assert judge_absolute("latency_p50", promised, value(1.4e-3, unit="s")).verdict == "kept"
    assert judge_absolute("latency_p50", promised, value(1.6e-3, unit="s")).verdict == "broken"


def test_tail_is_not_judged_without_a_pair() -> None:
    found = judge_absolute("latency_p99", value(1e-3, unit="s"), value(5e-3, unit="s"))
    assert found.verdict == "not compared"


def test_accuracy_on_the_same_data_may_flip_one_sample() -> None:
    promised = value(0.98, n=200)
    assert judge_quality("accuracy", promised, value(0.975, n=200), same_data=True).verdict == "kept"
    assert judge_quality("accuracy", promised, value(0.95, n=200), same_data=True).verdict == "broken"


def test_quality_on_other_data_is_broken_only_when_the_intervals_part() -> None:
    promised = value(0.98, spread=0.02, n=200)
    assert judge_quality("fidelity", promised, value(0.96, spread=0.02, n=64), same_data=False).verdict == "kept"
    assert judge_quality("fidelity", promised, value(0.90, spread=0.02, n=64), same_data=False).verdict == "broken"


def test_larger_files_break_the_size() -> None:
    assert judge_size(value(1000, unit="bytes"), 1000).verdict == "kept"
    assert judge_size(value(1000, unit="bytes"), 1100).verdict == "broken"


def test_of_two_attempts_the_kinder_counts_of_three_the_middle() -> None:
    attempts = [judge_ratio("latency_p50", value(0.5), value(found)) for found in (0.56, 0.50, 0.55)]
    assert middle(attempts[:2]).verdict == "kept"
    assert middle(attempts).worse == pytest.approx(1.1)


def test_one_clear_attempt_settles_and_a_broken_one_is_repeated() -> None:
    kept, close, broken = (judge_ratio("latency_p50", value(0.5), value(found)) for found in (0.5, 0.518, 0.56))
    assert settled([[kept]])
    assert not settled([[close]])
    assert not settled([[broken]])
    assert settled([[broken], [broken]])
    assert not settled([[broken], [kept]])
    assert settled([[broken], [kept], [kept]])


def test_folder_is_broken_by_one_metric_and_kept_when_something_was_compared() -> None:
    made = {
        verdict: Compared.model_validate({"metric": "size", "verdict": verdict})
        for verdict in ("kept", "broken", "another machine", "not compared")
    }
    assert overall(list(made.values())) == "broken"
    assert overall([made["kept"], made["another machine"]]) == "another machine"
    assert overall([made["kept"], made["not compared"]]) == "kept"
    assert overall([made["not compared"]]) == overall([]) == "not compared"


def test_broken_promise_says_by_how_much() -> None:
    text = str(judge_ratio("latency_p50", value(0.5), value(0.56)))
    assert text.startswith("broken: latency_p50 0.560× the original's, promised 0.500×, 12.0 % worse")


def test_what_was_not_compared_says_why() -> None:
    assert (
        str(Compared(metric="accuracy", verdict="not compared", reason="no data")) == "not compared: accuracy: no data"
    )
    tail = judge_absolute("latency_p99", value(1e-3, unit="s"), value(5e-3, unit="s"))
    assert str(tail) == (
        "not compared: latency_p99 5.00 ms, promised 1.00 ms: a tail is not judged without a side-by-side comparison"
    )
