from __future__ import annotations

from pathlib import Path

import pytest

from autotune.core.errors import UserError
from autotune.core.front import BASELINE_ID, Front
from autotune.core.values import Value
from autotune.export import choose_point
from autotune.testing.sample_search import sample_front, sample_search


@pytest.fixture
def front(tmp_path: Path) -> Front:
    """t0001 is the fastest by its paired ratio though not by its value; t0002 needs the least energy."""
    found = sample_front(sample_search(tmp_path))
    changes = {
        "t0001": (
            {"latency_p50": (2e-3, "s"), "energy": (3e-3, "J"), "fidelity": (0.99, "1")},
            {"latency_p50": 0.4, "energy": 1.5},
        ),
        "t0002": (
            {"latency_p50": (1e-3, "s"), "energy": (1e-3, "J"), "fidelity": (0.90, "1")},
            {"latency_p50": 0.5, "energy": 0.5},
        ),
    }
    points = tuple(
        point.model_copy(
            update={
                "metrics": {
                    name: Value(value=value, unit=unit) for name, (value, unit) in changes[point.id][0].items()
                },
                "ratios": {name: Value(value=value, unit="1") for name, value in changes[point.id][1].items()},
            }
        )
        for point in found.points
    )
    return found.model_copy(update={"points": points, "knee": "t0002"})


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("t0001", "t0001"),
        ("knee", "t0002"),
        ("fastest", "t0001"),
        ("frugal", "t0002"),
        ("accurate", "t0001"),
        ("baseline", BASELINE_ID),
        ("fidelity", "t0001"),
        ("energy", "t0002"),
    ],
)
def test_point_goes_by_its_id_its_names_and_the_metric_it_is_best_in(front: Front, name: str, found: str) -> None:
    assert choose_point(front, name).id == found


def test_unknown_point_lists_what_exists_and_the_nearest(front: Front) -> None:
    with pytest.raises(UserError) as caught:
        choose_point(front, "fastet")
    assert "did you mean 'fastest'?" in caught.value.problem
    assert "t0001" in caught.value.remedy
    assert "knee" in caught.value.remedy


def test_metric_that_no_point_has_is_refused(front: Front) -> None:
    with pytest.raises(UserError, match="ttft_p50"):
        choose_point(front, "ttft_p50")


def test_empty_front_leaves_the_baseline(front: Front) -> None:
    empty = front.model_copy(update={"points": (), "knee": None})
    assert choose_point(empty, "fastest").id == BASELINE_ID
