from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.core.errors import UserError
from autotune.core.model import TensorFacts
from autotune.models import read_model
from autotune.models.batch import batch_axis
from autotune.models.dims import evaluate, size_dims, symbols_in
from autotune.testing import onnx_cases
from autotune.testing.onnx_models import node, save, value


def tensor(*shape: int | str | None, name: str = "x") -> TensorFacts:
    return TensorFacts(name=name, dtype="float32", shape=shape)


@pytest.mark.parametrize(
    ("shape", "sizes"),
    [
        (("batch", "sequence_length"), {"batch": 1, "sequence_length": 128}),
        (("N", 3, "height", "width"), {"N": 1, "height": 224, "width": 224}),
        (("N", 3, "p", "q"), {"N": 1, "p": 224, "q": 224}),
        (("batch_size", "num_things"), {"batch_size": 1, "num_things": 16}),
        (("batch", 8, "past_sequence_length", 64), {"batch": 1, "past_sequence_length": 0}),
    ],
)
def test_defaults_follow_the_name(shape: tuple[int | str, ...], sizes: dict[str, int]) -> None:
    assert size_dims([tensor(*shape)], str(shape[0]), {}) == sizes


def test_the_batch_s_symbol_is_one_whatever_its_name() -> None:
    assert size_dims([tensor("things", 4)], "things", {}) == {"things": 1}


def test_an_expression_follows_from_its_symbols() -> None:
    inputs = [tensor("b", "past"), tensor("b", "seq"), tensor("b", "past + seq")]
    assert size_dims(inputs, "b", {"past": 3, "seq": 5})["past + seq"] == 8


def test_asked_sizes_override() -> None:
    assert size_dims([tensor("N", "S")], "N", {"N": 4, "S": 0}) == {"N": 4, "S": 0}


def test_the_same_symbol_is_found_once_and_output_symbols_are_no_choice(tmp_path: Path) -> None:
    facts = read_model(onnx_cases.shared_symbols(tmp_path / "m.onnx"), dims={"N": 4})
    assert facts.dims == {"N": 4, "S": 128, "P": 16}


def test_a_batch_that_the_user_sizes_is_fixed(tmp_path: Path) -> None:
    path = onnx_cases.shared_symbols(tmp_path / "m.onnx")
    assert read_model(path).batch.symbol == "N"
    axis = read_model(path, dims={"N": 4}).batch
    assert (axis.works, axis.symbol, axis.reason) == (False, None, "--dim fixes N at 4")


@given(st.integers(0, 99), st.integers(1, 99))
def test_expressions_are_evaluated_as_arithmetic(a: int, b: int) -> None:
    assert evaluate("a + 2*b", {"a": a, "b": b}) == a + 2 * b
    assert evaluate("(a//b)", {"a": a, "b": b}) == a // b


@pytest.mark.parametrize("dim", ["x.2", "dynamic axis", "f(a)", "a[0]", "?", "unk__12"])
def test_a_name_that_is_no_arithmetic_is_one_symbol(dim: str) -> None:
    assert symbols_in(dim) == [dim]
    assert evaluate(dim, {dim: 7}) == 7
    assert evaluate(dim, {}) is None


def test_division_by_zero_and_unknown_symbols_are_unknown() -> None:
    assert evaluate("a/b", {"a": 1, "b": 0}) is None
    assert evaluate("a+b", {"a": 1}) is None


def test_unnamed_axes_get_names_so_that_they_can_be_sized(tmp_path: Path) -> None:
    nodes = [node("Identity", ["x"], ["y"])]
    path = save(tmp_path / "m.onnx", nodes, [value("x", [None, None])], [value("y", [None, None])])
    facts = read_model(path, dims={"x.1": 5})
    assert facts.inputs[0].shape == ("batch", "x.1")
    assert facts.dims == {"batch": 1, "x.1": 5}
    assert facts.batch.symbol == "batch"


def test_question_marks_are_no_names_and_axes_of_them_differ(tmp_path: Path) -> None:
    nodes = [node("Identity", ["x"], ["y"])]
    path = save(tmp_path / "m.onnx", nodes, [value("x", ["batch", 3, "?", "?"])], [value("y", None)])
    assert read_model(path, dims={"x.2": 48}).dims == {"batch": 1, "x.2": 48, "x.3": 224}


@pytest.mark.parametrize(
    ("inputs", "reason"),
    [
        ([tensor(1, 3)], "fixed at 1"),
        ([tensor("seq", 3)], "a length"),
        ([tensor("N", 3), tensor(name="rate")], "'rate' is a scalar"),
        ([tensor("N", 3), tensor("M", 3, name="z")], "differ: N in x, M in z"),
        ([TensorFacts(name="x", dtype="float32", shape=None)], "no known rank"),
        ([], "no inputs"),
    ],
)
def test_no_batch_axis_has_a_reason(inputs: list[TensorFacts], reason: str) -> None:
    axis = batch_axis(inputs, {})
    assert (axis.works, axis.symbol) == (False, None)
    assert reason in axis.reason


def test_a_shared_first_symbol_is_the_batch_and_not_yet_probed() -> None:
    axis = batch_axis([tensor("N", 3), tensor("N", "S", name="z")], {})
    assert (axis.works, axis.symbol, axis.reason) == (False, "N", "not probed")


def test_a_batch_that_is_asked_to_be_empty_is_refused_and_an_empty_cache_is_not() -> None:
    with pytest.raises(UserError, match="at least one sample"):
        batch_axis([tensor("N", 3)], {"N": 0})
    assert batch_axis([tensor("N", "past")], {"past": 0}).symbol == "N"
