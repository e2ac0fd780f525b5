from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from autotune.core.model import TensorFacts
from autotune.core.objective import objective
from autotune.core.watching import Observer, Progress, Watched
from autotune.report import LiveProgress, PlainProgress, progress, space_text
from autotune.report.live_view import live_view
from autotune.report.pace import left
from autotune.report.standing import MOST_ROWS
from autotune.testing.sample_search import sample_records, sample_search

WATCHED = Watched(
    id="s1",
    model="m.onnx",
    baseline=sample_records()[0].trial.candidate,
    objectives=(objective("latency_p50"),),
    budget_s=60.0,
    max_trials=None,
    remarks=("no --data",),
)


def progress_after(done: int, spent_s: float = 0.0) -> Progress:
    return Progress(
        trials=done,
        failures={"timeout": 1, "unsupported": 2},
        same=1,
        spent_s=spent_s + 2.0 * done,
        front=tuple(record for record in sample_records()[:done] if record.measurement),
        baseline=sample_records()[0],
    )


def replay(observer: Observer, search: Watched = WATCHED, spent_s: float = 0.0) -> None:
    observer.began(search, spent_s)
    observer.note("starting the executor")
    for done, record in enumerate(sample_records(), start=1):
        observer.started(record.trial)
        observer.finished(record, progress_after(done, spent_s))
    observer.ended()
    observer.ended()


def test_piped_search_prints_one_line_a_trial_without_control_characters() -> None:
    stream = io.StringIO()
    replay(PlainProgress(Console(file=stream, width=80)))
    lines = stream.getvalue().splitlines()
    assert lines[:3] == [
        "search s1: m.onnx for latency_p50; budget 1 min 00 s",
        "note: no --data",
        "starting the executor",
    ]
    assert len(lines) == 3 + len(sample_records()) + 1
    assert "\x1b" not in stream.getvalue()
    assert lines[3].startswith("t0000  the original: latency p50 ")
    assert "failed to open (unsupported): No kernel for" in lines[6]
    assert "the same as t0001: dynamic int8 changed nothing" in lines[7]
    assert lines[3].endswith("[58 s of 1 min 00 s left]")


def test_resumed_search_counts_what_was_spent_before() -> None:
    stream = io.StringIO()
    replay(PlainProgress(Console(file=stream, width=80)), spent_s=30.0)
    assert "[28 s of 1 min 00 s left]" in stream.getvalue()


def test_bounded_trials_are_told_with_the_time_that_they_would_take() -> None:
    bounded = replace(WATCHED, budget_s=None, max_trials=10)
    assert left(bounded, 8.0, 4) == "4 of 10 trials, about 12 s more"
    assert left(bounded, 20.0, 10) == "10 of 10 trials"
    assert left(replace(WATCHED, budget_s=None), 8.0, 4) == ""
    assert left(replace(WATCHED, max_trials=1000), 8.0, 4) == "52 s of 1 min 00 s left, 4 of 1000 trials"


def test_live_display_shows_where_the_search_stands() -> None:
    stream = io.StringIO()
    observer = progress(Console(file=stream, width=200, force_terminal=True))
    assert isinstance(observer, LiveProgress)
    replay(observer)
    text = stream.getvalue()
    assert "8 trials, 2.0 s each; 44 s of 1 min 00 s left" in text
    assert "the original" in text
    assert "failed: 2 unsupported, 1 timeout; 1 were the same as another" in text


def test_notes_stay_above_the_live_display() -> None:
    stream = io.StringIO()
    replay(progress(Console(file=stream, width=200, force_terminal=True)))
    assert stream.getvalue().count("starting the executor") == 1


def test_pipe_gets_plain_lines() -> None:
    assert isinstance(progress(Console(file=io.StringIO())), PlainProgress)


def drawn(now: Progress | None, width: int = 80, search: Watched = WATCHED) -> list[str]:
    stream = io.StringIO()
    running = [sample_records()[1].trial]
    Console(file=stream, width=width).print(live_view(search, 12.0, now, running))
    return stream.getvalue().splitlines()


def test_before_the_first_trial_ends_it_says_what_runs() -> None:
    lines = drawn(None)
    assert any(line.startswith("now: t0001 precision=int8") for line in lines)
    assert any("0 trials; 48 s of 1 min 00 s left" in line for line in lines)
    assert any("not measured yet" in line for line in drawn(replace(progress_after(0), baseline=None)))


def test_long_names_of_metrics_leave_room_for_those_of_the_points() -> None:
    goals = tuple(objective(name) for name in ("ttft_p90", "tpot_p50", "cost_per_month", "energy_per_token"))
    record = sample_records()[0]
    figures = {goal.metric: record.measurement.metrics["latency_p50"] for goal in goals}
    measured = record.measurement.model_copy(update={"metrics": figures})
    baseline = record.model_copy(update={"outcome": measured})
    now = replace(progress_after(8), baseline=baseline, front=())
    lines = drawn(now, search=replace(WATCHED, objectives=goals))
    assert any(line.startswith("the original") for line in lines)
    assert not any("…" in line for line in lines[1:] if "token" in line or "cost" in line)


def test_the_original_under_way_is_called_so() -> None:
    stream = io.StringIO()
    Console(file=stream, width=80).print(live_view(WATCHED, 1.0, None, [sample_records()[0].trial]))
    assert "now: t0000 the original\n" in stream.getvalue().replace(" \n", "\n")


def test_a_search_over_several_devices_shows_which_one_each_point_and_trial_is_on() -> None:
    lines = drawn(progress_after(8), search=replace(WATCHED, several_devices=True))
    assert any(line.startswith("now: t0001 precision=int8") and " on cpu" in line for line in lines)
    assert any(line.strip().startswith("t0001 cpu ") for line in lines)


def test_live_display_fits_eighty_columns_and_a_screen_and_needs_no_colour() -> None:
    goals = tuple(objective(name) for name in ("latency_p50", "throughput", "energy", "fidelity"))
    many = replace(progress_after(8), front=tuple(sample_records()[1:3]) * 10)
    lines = drawn(many, search=replace(WATCHED, objectives=goals))
    assert max(len(line) for line in lines) <= 80
    assert len(lines) <= 20
    text = "\n".join(lines)
    assert "\x1b" not in text
    assert "3.00×" in text
    assert len([line for line in lines if line.startswith("t000")]) == MOST_ROWS  # one line a point
    assert f"{20 - MOST_ROWS} not shown" in text
    assert "failed: 2 unsupported, 1 timeout" in text


def test_it_is_redrawn_when_something_happens_and_never_by_a_timer() -> None:
    display = LiveProgress(Console(file=io.StringIO(), width=80, force_terminal=True))
    assert display._live.auto_refresh is False
    display.began(WATCHED, 0.0)
    assert display._live._refresh_thread is None
    display.ended()


def test_a_terminal_that_cannot_move_its_cursor_gets_plain_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    assert isinstance(progress(Console(file=io.StringIO(), force_terminal=True)), PlainProgress)


def test_space_is_told_with_conditions_omissions_and_size(tmp_path: Path) -> None:
    from autotune.core.space import Omission

    search = sample_search(tmp_path)
    space = search.space.model_copy(
        update={"omissions": (Omission(parameter="precision", values=("int4",), reason="no such kernel"),)}
    )
    text = space_text(space, search.workload, search.devices, search.facts)
    assert "12 candidates on cpu" in text
    assert "only when precision is int8" in text
    assert "precision int4: no such kernel" in text
    assert "baseline: runtime=onnxruntime" in text


def test_two_points_that_begin_alike_are_told_apart_where_their_names_are_cut() -> None:
    record = sample_records()[1]
    long = {f"a_parameter_with_a_long_name_{number}": True for number in range(4)}
    front = []
    for number, more in ((1, {}), (2, {"batch_size": 16})):
        candidate = record.trial.candidate.with_(**long, **more)
        trial = record.trial.model_copy(update={"id": f"t{number:04d}", "candidate": candidate})
        front.append(record.model_copy(update={"trial": trial}))
    lines = drawn(replace(progress_after(8), front=tuple(front)), width=60)
    assert any(line.startswith("t0002 batch_size=16 ") for line in lines)
    assert any(line.startswith("t0001 precision=int8 ") for line in lines)


def test_a_dry_run_names_the_inputs_and_what_dim_takes(tmp_path: Path) -> None:
    search = sample_search(tmp_path)
    ids = TensorFacts(name="ids", dtype="int64", shape=("batch", "seq", None))
    model = search.facts.model_copy(update={"inputs": (ids,), "dims": {"batch": 1, "seq": 64}})
    text = space_text(search.space, search.workload, search.devices, model)
    assert "  ids: int64 [batch, seq, ?]\n  symbolic dimensions: batch=1, seq=64 (--dim NAME=SIZE)" in text
    bare = model.model_copy(update={"inputs": (), "dims": {}})
    assert "inputs" not in space_text(search.space, search.workload, search.devices, bare)


@pytest.mark.parametrize("terminal", [False, True])
def test_in_the_end_failures_are_counted_by_cause_once(terminal: bool) -> None:
    stream = io.StringIO()
    console = Console(file=stream, width=80, force_terminal=terminal)
    replay((LiveProgress if terminal else PlainProgress)(console))
    last = stream.getvalue().rstrip().splitlines()[-1]
    assert last.endswith("failed: 2 unsupported, 1 timeout")
