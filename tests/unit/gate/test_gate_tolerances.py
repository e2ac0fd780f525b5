"""Tolerances and acceptances as people write them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from autotune.core.errors import UserError
from autotune.gate.accepted import Acceptance, parse_accept, read_accepted, require_acceptable, write_accepted
from autotune.gate.tolerances import parse_tolerances, require_measurable, widened


def test_percent_and_plain_numbers_are_read() -> None:
    assert parse_tolerances(["latency_p50=2%", "accuracy=0.005", "latency_p99=0.3"]) == {
        "latency_p50": 0.02,
        "accuracy": 0.005,
        "latency_p99": 0.3,
    }


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("latency_p50", "cannot be read"),
        ("latency_p50=-5%", "cannot be read"),
        ("latency_p50=5", "5 times"),
        ("latencyp50=5%", "no metric"),
        ("build_time=5%", "does not judge"),
        ("latency_p5=5%", "does not judge latency_p5 .*latency_p50"),
    ],
)
def test_what_cannot_be_meant_is_refused(text: str, says: str) -> None:
    with pytest.raises(UserError, match=says):
        parse_tolerances([text])


def test_an_accepted_loss_and_the_tolerance_follow_one_another() -> None:
    assert widened("latency_p50", 0.05, 0.10) == pytest.approx(0.155)
    assert widened("throughput", 0.05, 0.10) == pytest.approx(0.145)
    assert widened("accuracy", 0.01, 0.02) == pytest.approx(0.03)


def test_a_reason_is_required() -> None:
    assert parse_accept(["latency_p50: bigger vocabulary"]) == {"latency_p50": "bigger vocabulary"}
    for text in ("latency_p50", "latency_p50:  ", "speed: why not"):
        with pytest.raises(UserError):
            parse_accept([text])


def acceptance(metric: str, loss: float, baseline: str = "b1") -> Acceptance:
    return Acceptance(metric=metric, reason="meant", loss=loss, baseline=baseline, head="h")


def test_acceptances_are_kept_by_metric_and_for_their_baseline_alone(tmp_path: Path) -> None:
    write_accepted(tmp_path, [acceptance("size", 0.1)])
    write_accepted(tmp_path, [acceptance("latency_p50", 0.2)])
    write_accepted(tmp_path, [acceptance("size", 0.3)])
    found = read_accepted(tmp_path)
    assert [(one.metric, one.loss) for one in found.changes] == [("latency_p50", 0.2), ("size", 0.3)]
    assert found.of("size", "another") is None
    write_accepted(tmp_path, [acceptance("memory", 0.1, baseline="b2")])
    assert [one.metric for one in read_accepted(tmp_path).changes] == ["memory"]


def test_a_damaged_file_of_acceptances_is_said(tmp_path: Path) -> None:
    (tmp_path / "accepted.json").write_text("{")
    with pytest.raises(UserError, match="cannot be read"):
        read_accepted(tmp_path)


@pytest.mark.parametrize(
    ("read", "texts"),
    [(parse_tolerances, ("size=1%", "size=2%")), (parse_accept, ("size: meant", "latency_p50: too", "size: really"))],
)
def test_what_is_said_twice_of_one_metric_is_refused(
    read: Callable[[Sequence[str]], object], texts: tuple[str, ...]
) -> None:
    with pytest.raises(UserError, match="size is given twice"):
        read(texts)


@pytest.mark.parametrize("metric", ["latency_p99", "response_p90", "request_rate", "goodput", "max_rate"])
def test_metrics_under_load_can_be_judged(metric: str) -> None:
    assert parse_tolerances([f"{metric}=20%"]) == {metric: 0.2}
    require_measurable([metric])


def test_what_only_a_simulation_knows_is_no_tolerance_of_a_measured_baseline() -> None:
    assert parse_tolerances(["ttft_p90=5%"]) == {"ttft_p90": 0.05}
    with pytest.raises(UserError, match="simulated"):
        require_measurable(["size", "ttft_p90"])


def test_a_folder_that_nothing_can_be_accepted_into_is_told_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_acceptable(tmp_path)
    (tmp_path / "accepted.json").mkdir()
    with pytest.raises(UserError, match="cannot be written"):
        require_acceptable(tmp_path)
    (tmp_path / "accepted.json").rmdir()
    monkeypatch.setattr("os.access", lambda path, mode: False)
    with pytest.raises(UserError, match="cannot be written"):
        require_acceptable(tmp_path)
