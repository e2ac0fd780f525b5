from __future__ import annotations

import pytest

from autotune_backends.simulated.accuracy import published_accuracy
from autotune_backends.simulated.transformers import model_named

EIGHT, SEVENTY = model_named("llama-3.1-8b"), model_named("llama-3.1-70b")


def test_the_model_as_it_is_keeps_everything() -> None:
    found = published_accuracy(EIGHT, "bf16")
    assert found is not None
    assert (found.kept, found.low, found.high) == (1.0, 1.0, 1.0)


@pytest.mark.parametrize("precision", ["fp8", "int8", "int8_weights", "int4", "fp4"])
def test_a_published_figure_comes_with_its_interval_and_source(precision: str) -> None:
    found = published_accuracy(EIGHT, precision)
    assert found is not None
    assert found.low < found.kept < found.high
    assert "8B" in found.basis


def test_a_figure_of_another_size_or_family_is_carried_over_with_a_wider_interval() -> None:
    own, other = published_accuracy(EIGHT, "int4"), published_accuracy(model_named("qwen2.5-7b"), "int4")
    assert own is not None
    assert other is not None
    assert other.basis.startswith("carried over")
    assert other.high - other.low > own.high - own.low


def test_what_nobody_published_is_unknown() -> None:
    assert published_accuracy(EIGHT, "binary") is None
    assert published_accuracy(EIGHT, "binary", "2:4") is None


def test_two_changes_cost_more_than_one() -> None:
    sparse, both = published_accuracy(EIGHT, "bf16", "2:4"), published_accuracy(EIGHT, "int4", "2:4")
    assert sparse is not None
    assert both is not None
    assert both.kept < sparse.kept
