from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from autotune.core.front import Dropped, Front, Miss
from autotune.report import dropped_lines, front_json, front_markdown, miss_lines, plot_front, print_front
from autotune.report.shown_points import shown_points


def printed(front: Front, width: int = 80, *, terminal: bool = False) -> str:
    stream = io.StringIO()
    print_front(front, Console(file=stream, width=width, force_terminal=terminal))
    return stream.getvalue()


@pytest.mark.parametrize("width", [80, 100, 140])
def test_table_fits_and_holds_values_ratios_and_intervals(front: Front, width: int) -> None:
    text = printed(front, width)
    assert max(len(line) for line in text.splitlines()) <= width
    for part in (
        "0.866",
        "2.31×",
        "(2.25–2.38)",
        "~2.20",
        "0.983",
        "knee",
        "fastest",
        "frugal",
        "accurate",
        "baseline",
    ):
        assert part in text
    assert "\x1b" not in text


@pytest.mark.parametrize("width", [80, 100, 118, 120])
def test_nothing_is_cut(front: Front, width: int) -> None:
    assert "…" not in printed(front, width)


def test_terminal_gets_colour(front: Front) -> None:
    assert "\x1b" in printed(front, terminal=True)


def test_baseline_comes_first_and_at_most_twelve_are_shown(front: Front) -> None:
    many = tuple(front.points[0].model_copy(update={"id": f"t{100 + index:04d}"}) for index in range(30))
    crowded = front.model_copy(update={"points": (*front.points, *many)})
    shown = shown_points(crowded)
    assert len(shown) == 12
    assert shown[0].point.id == "baseline"
    assert {"t0007", "t0009"} <= {entry.point.id for entry in shown}
    assert "21 more points" in printed(crowded)


def test_unknown_value_reads_unknown(front: Front) -> None:
    metrics = {name: value for name, value in front.points[0].metrics.items() if name != "energy"}
    point = front.points[0].model_copy(update={"metrics": metrics})
    assert "unknown" in printed(front.model_copy(update={"points": (point,)}))


def test_many_dropped_points_do_not_bury_what_to_do_next(front: Front) -> None:
    many = tuple(Dropped(id=f"t{index:04d}", reason="beaten") for index in range(30))
    text = printed(front.model_copy(update={"dropped": many}))
    assert text.count("beaten") == 4
    assert "dropped 26 more likewise" in text
    assert printed(front.model_copy(update={"dropped": many[:5]})).count("beaten") == 5


def test_dropped_and_missed_points_are_explained(front: Front) -> None:
    told = front.model_copy(
        update={
            "dropped": (Dropped(id="t0004", reason="beaten by t0007 when measured again"),),
            "misses": (Miss(id="t0005", limit="latency_p50<=1ms", by=2.5e-4),),
        }
    )
    assert dropped_lines(told) == ["dropped t0004: beaten by t0007 when measured again"]
    assert miss_lines(told) == ["missed t0005: breaks latency_p50<=1ms by 0.250 ms"]
    assert "missed t0005" in printed(told)


def test_json_is_the_front_with_the_answer(front: Front) -> None:
    content = json.loads(front_json(front))
    assert content["answer"].startswith("Use t0007")
    assert Front.model_validate(content) == front


def test_markdown_links_points_and_escapes_bars(front: Front) -> None:
    text = front_markdown(front, {"t0007": "#/runs/1"})
    assert "[t0007](#/runs/1) (knee, fastest)" in text
    assert "2.20 mJ estimated, 1.82× (1.52–2.08)" in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len({line.count("|") for line in rows}) == 1


def test_plot_is_a_picture(front: Front, tmp_path: Path) -> None:
    plot_front(front, tmp_path / "front.png")
    assert (tmp_path / "front.png").read_bytes().startswith(b"\x89PNG")
