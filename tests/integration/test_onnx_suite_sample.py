"""A sample of the ONNX project's own models: ``python -m benchmarks.onnx_suite`` takes them all."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from benchmarks.suite_models import SuiteModel, suite_models
from benchmarks.suite_trial import tried

PROPERTIES = {
    "strings": "node/test_string_concat",
    "zero sizes and strings": "node/test_regex_full_match_empty",
    "booleans": "node/test_and2d",
    "no inputs": "node/test_constant",
    "a sequence as output": "node/test_split_to_sequence_1",
    "control flow": "node/test_loop11",
}


@pytest.fixture(scope="module")
def suite() -> dict[str, SuiteModel]:
    return {model.name: model for model in suite_models()}


def test_a_random_sample_is_equal_or_refused_with_a_reason(suite: dict[str, SuiteModel], tmp_path: Path) -> None:
    endings = [tried(suite[name], tmp_path) for name in random.Random(7).sample(sorted(suite), 4)]
    assert {ending.how for ending in endings} <= {"equal", "refused", "differs"}
    assert all(ending.reason for ending in endings if ending.how != "equal")


@pytest.mark.parametrize("name", PROPERTIES.values(), ids=PROPERTIES.keys())
def test_what_models_may_have_is_measured_right(name: str, suite: dict[str, SuiteModel], tmp_path: Path) -> None:
    ending = tried(suite[name], tmp_path)
    assert ending.how == "equal", ending.reason


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("node/test_sequence_insert_at_back", "sequence, which arrays cannot hold"),
        ("node/test_optional_has_element_empty_optional_input", "optional, which arrays cannot hold"),
        ("node/test_cast_BFLOAT16_to_FLOAT", "'input' is bfloat16"),
        ("node/test_cast_FLOAT_to_INT4", "'output' is int4"),
    ],
)
def test_what_no_array_holds_is_refused_before_any_trial(
    name: str, words: str, suite: dict[str, SuiteModel], tmp_path: Path
) -> None:
    ending = tried(suite[name], tmp_path)
    assert (ending.how, words in ending.reason) == ("refused", True), ending.reason
    assert "failed" not in ending.reason
