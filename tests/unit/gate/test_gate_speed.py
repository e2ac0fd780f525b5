"""A/A passes, slow-downs fail, doubt is said: in virtual time, on a machine that drifts and jumps."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from autotune.core.errors import ExitCode
from autotune.gate.verdict import Compared, GateReport

SLOWER = 5e-3 * 1.2


def entry(report: GateReport, metric: str) -> Compared:
    return next(one for one in report.compared if one.metric == metric)


def test_the_same_model_passes_on_a_machine_that_drifts(gates: SimpleNamespace) -> None:
    verdicts = [gates.run(seed=seed).verdict for seed in range(12)]
    assert verdicts.count("passed") >= 11
    assert "failed" not in verdicts


def test_a_fifth_slower_fails(gates: SimpleNamespace) -> None:
    reports = [gates.run(gates.Model(base_s=SLOWER), seed=seed) for seed in range(12)]
    assert [report.verdict for report in reports] == ["failed"] * 12
    assert reports[0].exit_code() == ExitCode.BROKEN
    loss = entry(reports[0], "latency_p50").loss
    assert loss is not None
    assert loss.low is not None
    assert loss.value == pytest.approx(0.2, abs=0.05)
    assert 0.05 < loss.low < 0.2


def test_a_tenth_slower_fails(gates: SimpleNamespace) -> None:
    verdicts = [gates.run(gates.Model(base_s=5e-3 * 1.1), seed=seed).verdict for seed in range(12)]
    assert verdicts.count("failed") >= 11


def test_a_failure_is_found_twice_in_fresh_processes(gates: SimpleNamespace) -> None:
    report = gates.run(gates.Model(base_s=SLOWER))
    assert report.attempts == 2
    assert gates.opened[-4:] == ["head", "baseline"] * 2


def test_a_clear_pass_needs_one_measurement_and_half_a_minute(gates: SimpleNamespace) -> None:
    assert gates.run().attempts == 1
    assert gates.clock.now_s() <= 30


def test_a_change_as_large_as_the_tolerance_is_inconclusive_after_one_extension(gates: SimpleNamespace) -> None:
    report = gates.run(gates.Model(base_s=5e-3 * 1.05), budget_s=10, max_budget_s=30, seed=3)
    assert report.verdict == "inconclusive"
    assert report.extended
    assert gates.clock.now_s() <= 33
    assert {report.exit_code(policy) for policy in ("exit4", "fail", "pass")} == {4, 1, 0}


def test_without_a_longer_budget_nothing_is_extended(gates: SimpleNamespace) -> None:
    report = gates.run(gates.Model(base_s=5e-3 * 1.05), budget_s=10, max_budget_s=10, seed=3)
    assert not report.extended
    assert gates.clock.now_s() <= 12


def test_doubt_says_how_long_would_settle_it(gates: SimpleNamespace) -> None:
    report = gates.run(gates.Model(base_s=5e-3 * 1.05), budget_s=10, max_budget_s=10, seed=3)
    latency = entry(report, "latency_p50")
    assert latency.standing == "undecided"
    assert latency.settle_s is None or latency.settle_s > report.spent_s
    assert bool(report.remedies) == (latency.settle_s is not None)
    assert bool(latency.reason) == (latency.settle_s is None)


def test_faster_passes(gates: SimpleNamespace) -> None:
    report = gates.run(gates.Model(base_s=4e-3))
    loss = entry(report, "latency_p50").loss
    assert report.verdict == "passed"
    assert loss is not None
    assert loss.value == pytest.approx(-0.2, abs=0.05)


def test_more_memory_fails_after_two_processes_said_so(gates: SimpleNamespace) -> None:
    report = gates.run(gates.Model(memory_bytes=120_000_000))
    assert report.verdict == "failed"
    assert entry(report, "memory").standing == "worse"
    assert report.attempts == 2


def test_size_needs_no_second_measurement(gates: SimpleNamespace) -> None:
    report = gates.run(gates.Model(size_bytes=1_020_000))
    assert report.sentence == "failed: size"
    assert report.attempts == 1


def test_an_intended_change_is_not_judged_and_its_loss_is_told(gates: SimpleNamespace) -> None:
    report = gates.run(gates.Model(base_s=SLOWER), accepting={"latency_p50": "bigger vocabulary"})
    latency = entry(report, "latency_p50")
    assert report.verdict == "passed"
    assert (latency.standing, latency.reason) == ("accepted", "bigger vocabulary")


def test_tails_are_reported_and_judged_only_when_asked_for(gates: SimpleNamespace) -> None:
    slower = gates.Model(base_s=SLOWER)
    told = entry(gates.run(slower, accepting={"latency_p50": "known"}), "latency_p90")
    asked = gates.run(slower, accepting={"latency_p50": "known"}, tolerances={"latency_p90": 0.05})
    assert told.standing == "reported"
    assert entry(asked, "latency_p90").standing == "worse"


def test_what_was_asked_for_and_could_not_be_taken_is_in_doubt(gates: SimpleNamespace) -> None:
    report = gates.run(tolerances={"energy": 0.05})
    assert report.verdict == "inconclusive"
    assert entry(report, "energy").reason


def test_a_head_that_crashes_fails_and_a_baseline_that_crashes_says_nothing(gates: SimpleNamespace) -> None:
    crash = gates.MeasureError("crash", "signal 11")
    head, baseline = gates.run(gates.Model(fault=crash)), gates.run(None, gates.Model(fault=crash))
    assert (head.verdict, baseline.verdict) == ("failed", "inconclusive")
    assert "signal 11" in head.compared[0].reason
    closed = gates.run(gates.Model(fault=gates.OpenError("unsupported", "no kernel")))
    assert closed.verdict == "failed"
    assert "cannot be opened" in closed.compared[0].reason


def test_another_machine_is_said_and_both_sides_are_measured_here_all_the_same(gates: SimpleNamespace) -> None:
    from autotune.core.environment import Environment

    elsewhere = Environment(cpu_model="a big CPU", isa=("avx512_vnni",), cpus=64, memory_bytes=None, os="", python="")
    report = gates.run(changes={"environment": elsewhere})
    assert report.promise == "another machine"
    assert report.verdict == "passed"
    assert any("avx512_vnni" in note for note in report.notes)


def test_a_simulated_baseline_is_refused(gates: SimpleNamespace) -> None:
    from autotune.core.device import DeviceSpec
    from autotune.core.errors import UserError

    with pytest.raises(UserError, match="simulated"):
        gates.run(changes={"device": DeviceSpec(name="a chip", kind="simulated")})
