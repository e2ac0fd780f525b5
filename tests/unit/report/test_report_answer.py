from __future__ import annotations

from autotune.core.front import Front
from autotune.report import answer_sentence, recommended


def test_answer_says_what_how_much_and_at_what_loss(front: Front) -> None:
    assert answer_sentence(front) == (
        "Use t0007 (precision=int8): 2.31× faster (2.25–2.38), 2.30× more throughput (2.25–2.35) and 1.82× less energy "
        "(1.52–2.08, estimated) than the original, with accuracy 0.983 against 0.986, a drop of 0.00300 (0.00294–0.00306)."
    )


def test_what_is_certainly_worse_is_said(front: Front) -> None:
    frugal = front.model_copy(update={"points": front.points[1:], "knee": "t0009"})
    assert "but 1.20× slower (1.18–1.22) and 1.28× less throughput (1.25–1.32)" in answer_sentence(frugal)


def test_intervals_that_hold_one_leave_the_original(level_front: Front) -> None:
    assert recommended(level_front) is None
    sentence = answer_sentence(level_front)
    assert sentence.startswith("Nothing beats the original: keep it as it is")
    assert "faster" not in sentence


def test_ratio_without_an_interval_makes_nothing_faster(front: Front) -> None:
    bare = front.points[0].ratios["latency_p50"].model_copy(update={"low": None, "high": None})
    point = front.points[0].model_copy(update={"ratios": {"latency_p50": bare}})
    assert recommended(front.model_copy(update={"points": (point,)})) is None


def test_knee_that_is_no_better_gives_way_to_a_point_that_is(front: Front, level_front: Front) -> None:
    mixed = front.model_copy(update={"points": (*level_front.points, front.points[0]), "knee": "t0003"})
    found = recommended(mixed)
    assert found is not None
    assert found.id == "t0007"


def test_empty_front_leaves_the_original(front: Front) -> None:
    assert answer_sentence(front.model_copy(update={"points": (), "knee": None})).startswith(
        "Nothing beats the original"
    )


def test_simulated_ratio_needs_no_interval(front: Front) -> None:
    bare = (
        front.points[0].ratios["latency_p50"].model_copy(update={"low": None, "high": None, "provenance": "simulated"})
    )
    point = front.points[0].model_copy(update={"ratios": {"latency_p50": bare}})
    assert "2.31× faster (simulated)" in answer_sentence(front.model_copy(update={"points": (point,)}))


def test_a_front_on_which_nothing_holds_the_limits_says_so(front: Front) -> None:
    broken = front.model_copy(update={"points": (), "limits": ("latency_p50<=1ns",)})
    assert answer_sentence(broken).startswith("Nothing holds every limit (latency_p50<=1ns)")


def test_a_search_that_tried_nothing_claims_nothing(front: Front) -> None:
    untried = front.model_copy(update={"points": (front.baseline,), "tried": 0})
    assert answer_sentence(untried).startswith("Nothing is known yet")


def test_points_that_were_never_measured_side_by_side_are_not_dismissed(front: Front) -> None:
    bare = front.points[0].model_copy(update={"ratios": {}})
    sentence = answer_sentence(front.model_copy(update={"points": (front.baseline, bare)}))
    assert sentence.startswith(f"Nothing is certain yet: {bare.id} may beat the original")
