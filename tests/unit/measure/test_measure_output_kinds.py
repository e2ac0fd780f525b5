from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from autotune.core.errors import CheckError, UserError
from autotune.measure.fidelity import output_fidelities
from autotune.measure.output_kinds import kind_of
from autotune.measure.quality import take_quality

RANDOM = np.random.default_rng(0)


def softmax(scores: np.ndarray) -> np.ndarray:
    powers = np.exp(scores)
    return powers / powers.sum(axis=-1, keepdims=True)


NORMAL = RANDOM.normal(size=(5, 6))
KINDS = {
    "class scores by name": ("logits", NORMAL, "top-1 agreement"),
    "class scores by value": ("y", softmax(NORMAL), "top-1 agreement"),
    "chances of speech, frame by frame": ("speech_probs", RANDOM.random((5, 6)), "cosine"),
    "an embedding": ("embedding", NORMAL, "cosine"),
    "a heat map": ("heatmap", RANDOM.random((5, 1, 8, 8)), "cosine"),
    "a flat heat map": ("heatmap", RANDOM.random((5, 8, 8)), "cosine"),
    "boxes": ("boxes", RANDOM.random((5, 7, 4)), "cosine"),
    "a detector's scores": ("scores", RANDOM.random((5, 7, 4)), "cosine"),
    "classes of tokens": ("token_logits", RANDOM.normal(size=(5, 9, 4)), "top-1 agreement by position"),
    "characters of a line of text": ("y", softmax(RANDOM.normal(size=(5, 9, 4))), "top-1 agreement by position"),
    "token ids": ("ids", RANDOM.integers(0, 1000, (5, 9)), "equality"),
    "a class number": ("label", RANDOM.integers(0, 9, 5), "equality"),
    "booleans": ("keep", RANDOM.random((5, 3)) > 0.5, "equality"),
    "strings": ("text", np.asarray(["a", "b", "c", "d", "e"]), "equality"),
    "a mask of classes": ("mask", RANDOM.integers(0, 21, (5, 8, 8)).astype(np.uint8), "equality"),
    "an image in bytes": ("image", RANDOM.integers(0, 256, (5, 32, 32)).astype(np.uint8), "cosine"),
    "one number": ("price", RANDOM.random((5, 1)), "cosine over samples"),
    "complex numbers": ("spectrum", NORMAL + 1j * NORMAL, "cosine"),
    "bfloat16": ("hidden", NORMAL.astype(ml_dtypes.bfloat16), "cosine"),
    "nothing": ("boxes", np.empty((5, 0, 4), np.float32), "cosine"),
}


@pytest.mark.parametrize("what", KINDS)
def test_the_comparison_follows_from_what_an_output_is(what: str) -> None:
    name, values, expected = KINDS[what]
    assert kind_of(name, list(values)) == expected
    [same] = output_fidelities([{name: values}], [{name: values}], [5])
    assert same.kind == expected
    assert same.per_sample == pytest.approx(np.ones(len(same.per_sample)))


def test_positions_whose_best_class_changed_are_counted() -> None:
    scores = softmax(RANDOM.normal(size=(2, 10, 4)))
    found = scores.copy()
    found[0, 0] = np.roll(found[0, 0], 1)
    [fidelity] = output_fidelities([{"y": found}], [{"y": scores}], [2])
    assert fidelity.per_sample.tolist() == [0.9, 1.0]


def test_equal_token_ids_are_counted() -> None:
    ids = RANDOM.integers(0, 1000, (2, 10))
    found = ids.copy()
    found[1, :3] += 1
    [fidelity] = output_fidelities([{"ids": found}], [{"ids": ids}], [2])
    assert fidelity.per_sample.tolist() == [1.0, 0.7]


def test_the_phase_of_complex_numbers_counts() -> None:
    spectrum = NORMAL + 1j * NORMAL
    [fidelity] = output_fidelities([{"y": spectrum.conj()}], [{"y": spectrum}], [5])
    assert fidelity.mean < 0.5


def batches(count: int = 8) -> list:
    return [({"x": NORMAL[[i % 5]]}, [i % 2]) for i in range(count)]


def reference(count: int = 8) -> list:
    return [{"logits": inputs["x"], "boxes": inputs["x"][:, :4]} for inputs, _ in batches(count)]


def run(inputs):
    return {"logits": inputs["x"], "boxes": inputs["x"][:, :4] + 0.1}


def test_each_output_is_told_with_its_own_measure() -> None:
    fidelity = take_quality(run, batches(), reference(), None, False)["fidelity"]
    assert {name: part.basis.split(",")[0] for name, part in fidelity.parts.items()} == {
        "logits": "top-1 agreement",
        "boxes": "cosine",
    }
    assert fidelity.parts["logits"].value == 1.0
    assert fidelity.value == fidelity.parts["boxes"].value < 1.0
    assert "parts" not in fidelity.parts["boxes"].model_dump()


def failing(outputs, labels):
    raise RuntimeError("not today")


def picky(outputs, labels):
    """Works on the original's outputs alone."""
    if not np.isclose(outputs["boxes"], outputs["logits"][:, :4]).all():
        raise RuntimeError("not these")
    return 1.0


def unknown(outputs, labels):
    return float("nan")


@pytest.fixture
def metrics(monkeypatch: pytest.MonkeyPatch):
    import types

    module = types.SimpleNamespace(failing=failing, picky=picky, unknown=unknown)
    monkeypatch.setattr("autotune.user_code.import_module", lambda name: module)


@pytest.mark.parametrize(("name", "says"), [("failing", "RuntimeError: not today"), ("unknown", "gives nan")])
def test_a_metric_that_fails_on_the_originals_outputs_is_the_persons_to_mend(metrics, name: str, says: str) -> None:
    with pytest.raises(UserError, match=says):
        take_quality(run, batches(), reference(), f"mine:{name}", False)


def test_a_metric_that_fails_on_a_candidates_outputs_is_the_candidates_failure(metrics) -> None:
    with pytest.raises(CheckError, match="not these"):
        take_quality(run, batches(), reference(), "mine:picky", False)
