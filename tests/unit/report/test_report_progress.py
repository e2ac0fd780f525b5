from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from autotune.core.objective import objective
from autotune.core.watching import Observer, Progress, Watched
from autotune.report import LiveProgress, PlainProgress, progress, space_text
from autotune.report.pace import left
from autotune.report.standing import best_line
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
    assert len(lines) == 3 + len(sample_records())
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


def test_live_display_shows_where_the_search_stands() -> None:
    stream = io.StringIO()
    observer = progress(Console(file=stream, width=200, force_terminal=True))
    assert isinstance(observer, LiveProgress)
    replay(observer)
    text = stream.getvalue()
    assert "8 trials done" in text
    assert "best so far: latency p50" in text
    assert "failed: 2 unsupported, 1 timeout; 1 were the same as another" in text


def test_notes_stay_above_the_live_display() -> None:
    stream = io.StringIO()
    replay(progress(Console(file=stream, width=200, force_terminal=True)))
    assert stream.getvalue().count("starting the executor") == 1


def test_pipe_gets_plain_lines() -> None:
    assert isinstance(progress(Console(file=io.StringIO())), PlainProgress)


def test_nothing_measured_yet_is_said() -> None:
    assert best_line(replace(progress_after(0), baseline=None), WATCHED.objectives) == "nothing measured yet"


def test_space_is_told_with_conditions_omissions_and_size(tmp_path: Path) -> None:
    from autotune.core.space import Omission

    search = sample_search(tmp_path)
    space = search.space.model_copy(
        update={"omissions": (Omission(parameter="precision", values=("int4",), reason="no such kernel"),)}
    )
    text = space_text(space, search.workload, search.devices)
    assert "12 candidates on cpu" in text
    assert "only when precision is int8" in text
    assert "precision int4: no such kernel" in text
    assert "baseline: runtime=onnxruntime" in text
