from __future__ import annotations

import io
from pathlib import Path

from rich.console import Console

from autotune.core.limits import parse_limit
from autotune.report import LiveProgress, PlainProgress, progress, space_text
from autotune.report.standing import best_line, standing
from autotune.testing.sample_search import sample_records, sample_search


class StillClock:
    def __init__(self) -> None:
        self.time = 0.0

    def now_s(self) -> float:
        return self.time

    def unix_s(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.time += seconds


def replay(observer: PlainProgress | LiveProgress, clock: StillClock, folder: Path, spent_s: float = 0.0) -> None:
    observer.on_start(sample_search(folder), spent_s)
    observer.on_phase("starting the executor")
    done = []
    for record in sample_records():
        observer.on_submit(record.trial)
        clock.sleep(2.0)
        done.append(record)
        observer.on_record(record, done)
    observer.on_end()
    observer.on_end()


def test_piped_search_prints_one_line_a_trial_without_control_characters(tmp_path: Path) -> None:
    stream, clock = io.StringIO(), StillClock()
    replay(PlainProgress(Console(file=stream, width=80), clock), clock, tmp_path)
    lines = stream.getvalue().splitlines()
    assert len(lines) == 2 + len(sample_records())
    assert "\x1b" not in stream.getvalue()
    assert lines[2].startswith("t0000  the original: latency p50 ")
    assert "failed to open (unsupported): No kernel for" in lines[5]
    assert "the same as t0001: dynamic int8 changed nothing" in lines[6]
    assert lines[2].endswith("[58 s of 1 min 00 s left]")


def test_resumed_search_counts_what_was_spent_before(tmp_path: Path) -> None:
    stream, clock = io.StringIO(), StillClock()
    replay(PlainProgress(Console(file=stream, width=80), clock), clock, tmp_path, spent_s=30.0)
    assert "[28 s of 1 min 00 s left]" in stream.getvalue()


def test_live_display_shows_where_the_search_stands(tmp_path: Path) -> None:
    stream, clock = io.StringIO(), StillClock()
    console = Console(file=stream, width=200, force_terminal=True)
    observer = progress(console, clock)
    assert isinstance(observer, LiveProgress)
    replay(observer, clock, tmp_path)
    text = stream.getvalue()
    assert "8 trials done" in text
    assert "best so far: latency p50" in text
    assert "failed: 1 unsupported" in text


def test_pipe_gets_plain_lines() -> None:
    assert isinstance(progress(Console(file=io.StringIO())), PlainProgress)


def test_standing_counts_failures_by_cause_and_keeps_broken_limits_off_the_front(tmp_path: Path) -> None:
    search = sample_search(tmp_path)
    now = standing(sample_records(), search.objectives, [parse_limit("latency_p50<=1ns")])
    assert now.failures == {"unsupported": 1}
    assert now.same == 1
    assert now.front == ()
    assert best_line(now, search.objectives) == "nothing measured yet"


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
