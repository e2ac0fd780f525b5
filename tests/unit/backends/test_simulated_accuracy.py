from __future__ import annotations

from pathlib import Path

import pytest

from autotune.core.errors import UserError
from autotune_backends.simulated.accuracy import published_accuracy
from autotune_backends.simulated.described import facts_of
from autotune_backends.simulated.devices import device_named
from autotune_backends.simulated.offers import language_offer
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


CONFIG = (
    '{"model_type": "llama", "hidden_size": 512, "num_hidden_layers": 4, "num_attention_heads": 8, '
    '"intermediate_size": 1024, "vocab_size": 32000}'
)


def own_model(folder: Path, accuracy: str) -> str:
    folder.mkdir()
    (folder / "config.json").write_text(CONFIG)
    (folder / "accuracy.yaml").write_text(accuracy)
    return str(folder)


def test_what_the_owner_measured_counts_before_what_others_published(tmp_path: Path) -> None:
    text = "- {precision: int4, kept: 0.97, low: 0.96, high: 0.98, source: 2000 questions of ours}\n"
    model = model_named(own_model(tmp_path / "mine", text))
    found = published_accuracy(model, "int4")
    assert found is not None
    assert (found.low, found.kept, found.high) == (0.96, 0.97, 0.98)
    assert found.basis == "given for this model: 2000 questions of ours"
    other = published_accuracy(model, "fp8")
    assert other is not None
    assert other.basis.startswith("carried over")


def test_a_pattern_is_searched_where_the_owner_says_what_it_keeps_and_the_device_has_units_for_it(
    tmp_path: Path,
) -> None:
    pruned = model_named(own_model(tmp_path / "mine", '- {sparsity: "2:4", kept: 0.98, source: ours}\n'))
    offer = language_offer("simulated", pruned, device_named("h100-sxm"))
    parameter = offer.parameter("sparsity")
    assert parameter is not None
    assert parameter.choices == ("none", "2:4")
    for model, device in ((EIGHT, "h100-sxm"), (pruned, "mi300x"), (pruned, "tpu-v5e")):
        there = language_offer("simulated", model, device_named(device))
        assert (there.parameter("sparsity") is None) == (model is EIGHT or device == "tpu-v5e")
        assert any(one.parameter == "sparsity" for one in there.omissions) == (model is EIGHT)


def test_other_figures_of_the_owner_make_another_model_of_it(tmp_path: Path) -> None:
    texts = ("- {precision: int4, kept: 0.97}\n", "- {precision: int4, kept: 0.96}\n")
    assert len({facts_of(own_model(tmp_path / str(number), text)).sha256 for number, text in enumerate(texts)}) == 2


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("- {precision: int4, kept: 2.5}\n", "row 1: kept is 2.5"),
        ("- {precision: int4}\n", "row 1: kept is None"),
        ("- {precision: int4, kpt: 0.9}\n", "unknown key 'kpt'.*'kept'"),
        ("- {kept: 0.9}\n", "neither or both"),
        ("- {precision: int4, kept: 0.9, low: 0.95}\n", "not between"),
        ("kept: 0.9\n", "holds no list"),
        ("- 3\n", "row 1 is no mapping"),
    ],
)
def test_a_wrong_file_of_the_owner_is_refused_by_its_row(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(UserError, match=problem):
        model_named(own_model(tmp_path / "mine", text))
