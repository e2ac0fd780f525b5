from __future__ import annotations

from io import StringIO

from rich.console import Console

from autotune.core.front import Front
from autotune.core.values import Value
from autotune.report import print_front
from autotune.report.parts_text import output_lines, shape_table


def printed(front: Front) -> str:
    out = StringIO()
    print_front(front, Console(file=out, width=100))
    return out.getvalue()


def with_parts(front: Front, name: str, parts: dict[str, float], unit: str = "s") -> Front:
    """The front whose every point knows the metric by these parts."""

    def changed(point):
        values = {part: Value(value=number, unit=unit, basis="cosine, SQNR 30.0 dB") for part, number in parts.items()}
        whole = point.metrics.get(name, Value(value=min(parts.values()), unit=unit))
        ratios = {
            key: ratio.model_copy(update={"parts": {part: Value(value=0.5, unit="1") for part in parts}})
            for key, ratio in point.ratios.items()
        }
        metrics = {**point.metrics, name: whole.model_copy(update={"parts": values})}
        return point.model_copy(update={"metrics": metrics, "ratios": ratios})

    points = tuple(changed(point) for point in front.points)
    return front.model_copy(update={"baseline": changed(front.baseline), "points": points})


def test_each_shape_has_a_column(front: Front) -> None:
    text = printed(with_parts(front, "latency_p50", {"seq=64": 1e-3, "seq=512": 8e-3}))
    assert "seq=64" in text
    assert "seq=512" in text
    assert "8.00  2.00×" in text


def test_a_load_of_one_shape_has_no_such_table(front: Front) -> None:
    assert shape_table(front) is None


def test_each_output_has_a_line_and_the_worst_comes_first(front: Front) -> None:
    lines = output_lines(with_parts(front, "fidelity", {"boxes": 0.99, "scores": 0.95}, "1"))
    assert [line.split(":")[0] for line in lines] == [
        "fidelity of t0007, output scores",
        "fidelity of t0007, output boxes",
    ]
    assert "cosine, SQNR 30.0 dB" in lines[0]


def test_many_outputs_are_cut_short(front: Front) -> None:
    lines = output_lines(with_parts(front, "fidelity", {f"past{n}": 0.99 for n in range(40)}, "1"))
    assert len(lines) == 9
    assert lines[-1].startswith("32 more outputs")
