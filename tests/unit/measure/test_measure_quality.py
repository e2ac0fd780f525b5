from __future__ import annotations

import numpy as np
import pytest

from autotune.core.errors import CheckError, UserError
from autotune.core.limits import parse_limit
from autotune.core.objective import objective
from autotune.core.values import Value
from autotune.measure.fidelity import output_fidelities
from autotune.measure.proportions import jackknife, mean_interval, paired_drop, wilson
from autotune.measure.quality import metric_function, take_quality
from autotune.measure.staged import at_best, first_stage, needs_all


def softmax(scores: np.ndarray) -> np.ndarray:
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def batches(inputs: np.ndarray, labels: list, size: int = 4) -> list:
    return [({"x": inputs[i : i + size]}, labels[i : i + size]) for i in range(0, len(inputs), size)]


@pytest.fixture
def scores() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(40, 5)).astype(np.float32)


def quality(run, scores, labels=None, metric=None, generated=False):
    labels = [None] * len(scores) if labels is None else labels
    given = batches(scores, labels)
    reference = [{"y": softmax(inputs["x"])} for inputs, _ in given]
    return take_quality(run, given, reference, metric, generated)


def test_the_original_itself_is_faithful(scores) -> None:
    taken = quality(lambda inputs: {"y": softmax(inputs["x"])}, scores)
    assert taken["fidelity"].value == 1.0
    assert taken["fidelity"].low < 1.0
    assert taken["fidelity"].n == 40
    assert taken["accuracy_drop"].value == 0.0
    assert "accuracy" not in taken


def test_class_scores_are_compared_by_their_best_class(scores) -> None:
    def first_row_wrong(inputs):
        y = softmax(inputs["x"])
        y[0] = np.roll(y[0], 1)
        return {"y": y}

    taken = quality(first_row_wrong, scores)
    assert taken["fidelity"].value == 0.75
    assert "top-1 agreement" in taken["fidelity"].basis
    assert "SQNR" in taken["fidelity"].basis
    assert taken["accuracy_drop"].value == 0.25


def test_other_outputs_are_compared_by_cosine() -> None:
    heat = np.random.default_rng(1).normal(size=(6, 3, 3))
    [fidelity] = output_fidelities([{"map": heat * 2}], [{"map": heat}], [6])
    assert fidelity.kind == "cosine"
    assert fidelity.per_sample == pytest.approx(np.ones(6))


def test_an_embedding_is_no_class_score_even_when_it_is_a_matrix() -> None:
    embedding = np.random.default_rng(1).normal(size=(6, 8))
    [fidelity] = output_fidelities([{"embedding": embedding}], [{"embedding": embedding}], [6])
    assert fidelity.kind == "cosine"


def test_logits_are_class_scores_by_their_name() -> None:
    logits = np.random.default_rng(1).normal(size=(6, 8))
    [fidelity] = output_fidelities([{"logits": logits}], [{"logits": logits}], [6])
    assert fidelity.kind == "top-1 agreement"


def test_single_numbers_are_one_vector_over_samples() -> None:
    y = np.arange(6.0)
    [fidelity] = output_fidelities([{"price": -y}], [{"price": y}], [6])
    assert fidelity.kind == "cosine over samples"
    assert fidelity.mean == pytest.approx(-1)


def test_class_numbers_and_strings_are_compared_for_equality() -> None:
    reference = [{"label": np.asarray([1, 2]), "name": np.asarray(["a", "b"], dtype=object)}]
    found = [{"label": np.asarray([1, 3]), "name": np.asarray(["a", "b"], dtype=object)}]
    label, name = output_fidelities(found, reference, [2])
    assert (label.kind, label.mean, name.mean) == ("equality", 0.5, 1.0)


def test_the_worst_output_counts() -> None:
    inputs = np.random.default_rng(2).normal(size=(8, 6))
    given = batches(inputs, [None] * 8)
    reference = [{"a": batch["x"], "b": batch["x"]} for batch, _ in given]
    taken = take_quality(lambda i: {"a": i["x"], "b": np.abs(i["x"])}, given, reference, None, True)
    assert taken["fidelity"].value < 0.9
    assert "'b'" in taken["fidelity"].basis
    assert "generated" in taken["fidelity"].basis


def test_nan_costs_fidelity_but_does_not_spoil_it() -> None:
    y = np.ones((2, 4))
    broken = y.copy()
    broken[0, 0] = np.nan
    [fidelity] = output_fidelities([{"y": broken}], [{"y": y}], [2])
    assert 0 < fidelity.mean < 1


def test_fidelity_to_an_original_without_a_finite_number_says_that_it_says_nothing(scores) -> None:
    given = batches(scores, [None] * len(scores))
    nothing = [{"y": np.full_like(inputs["x"], np.nan)} for inputs, _ in given]
    taken = take_quality(lambda inputs: {"y": np.full_like(inputs["x"], np.nan)}, given, nothing, None, False)
    assert "no finite number in 'y'" in taken["fidelity"].basis
    assert "no finite number" in taken["accuracy_drop"].basis


def test_accuracy_and_its_drop_are_paired_with_the_original(scores) -> None:
    labels = list(np.argmax(scores, axis=1))
    taken = quality(lambda inputs: {"y": softmax(-inputs["x"])}, scores, labels, "top1")
    assert taken["accuracy"].value < 0.3
    assert taken["accuracy_drop"].value == pytest.approx(1 - taken["accuracy"].value)
    assert taken["accuracy_drop"].low > 0.5
    assert taken["accuracy"].basis == "top1 on 40 samples"


def test_without_labels_there_is_no_accuracy(scores) -> None:
    assert "accuracy" not in quality(lambda inputs: {"y": softmax(inputs["x"])}, scores, None, "top1")


def test_f1_and_a_users_function_have_an_interval(scores) -> None:
    labels = [*np.argmax(scores, axis=1)[:30], *([0] * 10)]
    taken = quality(lambda inputs: {"y": softmax(inputs["x"])}, scores, labels, "f1")
    assert taken["accuracy"].low < taken["accuracy"].value < taken["accuracy"].high
    assert taken["accuracy_drop"].value == 0


def test_a_metric_that_does_not_fit_the_labels_fails_the_check(scores) -> None:
    with pytest.raises(CheckError, match="top1"):
        quality(lambda inputs: {"y": softmax(inputs["x"])}, scores, [[1, 2]] * 40, "top1")


def test_an_unknown_metric_names_the_nearest() -> None:
    with pytest.raises(UserError, match="top1"):
        metric_function("topp1")
    with pytest.raises(UserError, match="No module named"):
        metric_function("no_such_module:f")


def test_a_users_metric_is_imported() -> None:
    assert metric_function("math:hypot")(3, 4) == 5.0


@pytest.mark.parametrize(
    ("name", "labels", "expected"),
    [
        ("top1", [0, 1, 1], 2 / 3),
        ("top5", [1, 0, 0], 1.0),
        ("f1", [0, 1, 1], 2 / 3),
    ],
)
def test_class_metrics(name: str, labels: list, expected: float) -> None:
    outputs = {"y": np.asarray([[0.9, 0.1], [0.2, 0.8], [0.7, 0.3]])}
    assert metric_function(name)(outputs, labels) == pytest.approx(expected)


def test_squared_error_is_negated_so_that_higher_is_better() -> None:
    outputs = {"y": np.asarray([[1.0], [3.0]])}
    assert metric_function("mse")(outputs, [1.0, 1.0]) == -2.0


def test_cosine_with_expected_vectors() -> None:
    outputs = {"y": np.asarray([[1.0, 0.0], [0.0, 2.0]])}
    assert metric_function("cosine")(outputs, [[1, 0], [1, 0]]) == 0.5


def test_wilson_interval_agrees_with_the_literature() -> None:
    interval = wilson(81, 263)  # Newcombe, Statistics in Medicine 1998, table I
    assert (round(interval.low, 4), round(interval.high, 4)) == (0.2553, 0.3662)
    assert wilson(20, 20).low < 1
    assert wilson(20, 20).high == 1.0
    assert wilson(0, 20).low == 0.0


def test_paired_drop_covers_the_difference() -> None:
    generator, hits = np.random.default_rng(0), 0
    for _ in range(300):
        reference = generator.random(200) < 0.9
        found = np.where(generator.random(200) < 0.1, ~reference, reference)
        interval = paired_drop(reference.astype(float), found.astype(float))
        hits += interval.low <= 0.08 <= interval.high
    assert hits / 300 >= 0.91


def test_jackknife_of_a_mean_is_near_the_normal_interval() -> None:
    values = np.random.default_rng(0).normal(size=400)
    interval = jackknife(lambda picked: float(values[picked].mean()), 400)
    assert interval.high - interval.value == pytest.approx(2 / 20, rel=0.5)


def test_mean_of_scores_has_a_bootstrap_interval() -> None:
    interval = mean_interval(np.random.default_rng(0).normal(size=100))
    assert interval.low < interval.value < interval.high


def test_first_stage_takes_the_same_two_hundred() -> None:
    assert first_stage(range(50)) == tuple(range(50))
    picked = first_stage(range(1000, 5000), seed=3)
    assert len(picked) == 200
    assert picked == first_stage(range(1000, 5000), seed=3) == tuple(sorted(picked))


def test_all_samples_are_needed_unless_a_limit_is_certainly_broken() -> None:
    limits = [parse_limit("fidelity>=0.98")]
    poor = {"fidelity": Value(value=0.5, unit="1", low=0.4, high=0.6)}
    near = {"fidelity": Value(value=0.97, unit="1", low=0.94, high=0.99)}
    assert not needs_all(poor, limits)
    assert needs_all(near, limits)
    assert needs_all({}, limits)


def test_all_samples_are_needed_unless_the_front_beats_the_candidate_even_at_its_best() -> None:
    objectives = [objective("latency_p50"), objective("fidelity")]
    front = {
        "latency_p50": Value(value=1.0, unit="s", low=0.9, high=1.1),
        "fidelity": Value(value=0.98, unit="1", low=0.97, high=0.99),
    }
    slow = Value(value=2.0, unit="s", low=1.9, high=2.1)
    near = at_best({"fidelity": Value(value=0.97, unit="1", low=0.94, high=0.995)})
    poor = at_best({"fidelity": Value(value=0.9, unit="1", low=0.85, high=0.94)})
    assert needs_all({"latency_p50": slow, **near}, [], objectives, [front])
    assert not needs_all({"latency_p50": slow, **poor}, [], objectives, [front])
    assert needs_all({"latency_p50": slow, **poor}, [], objectives, [])


def test_at_best_a_value_is_at_its_better_end() -> None:
    share = Value(value=0.5, unit="1", low=0.4, high=0.6)
    found = at_best({"accuracy": share, "accuracy_drop": share, "fidelity": Value(value=None, unit="1")})
    assert found["accuracy"].interval() == (0.6, 0.6)
    assert found["accuracy_drop"].value == 0.4
    assert found["fidelity"].value is None
