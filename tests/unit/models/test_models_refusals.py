from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import onnx
import pytest

from autotune.core.errors import UserError
from autotune.models import read_model
from autotune.testing import onnx_cases, onnx_models


def refusal(path: Path, **given: object) -> UserError:
    with pytest.raises(UserError) as caught:
        read_model(path, **given)  # type: ignore[arg-type]
    assert len(str(caught.value).splitlines()) == 2
    return caught.value


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    assert "absent.onnx" in refusal(tmp_path / "absent.onnx").problem


def test_a_folder_is_no_model(tmp_path: Path) -> None:
    assert "is a folder" in refusal(tmp_path).problem


def test_another_format_is_named(tmp_path: Path) -> None:
    path = tmp_path / "m.pt2"
    path.write_bytes(b"PK")
    assert ".pt2" in refusal(path).problem


@pytest.mark.parametrize(
    ("content", "says"),
    [(b"", "is empty"), (b"just some text\n" * 20, "not an ONNX model"), (os.urandom(4096), "not an ONNX model")],
)
def test_a_file_that_is_no_onnx_is_refused(tmp_path: Path, content: bytes, says: str) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(content)
    assert says in refusal(path).problem


def test_a_model_truncated_anywhere_is_refused(tmp_path: Path) -> None:
    whole = onnx_models.mlp(tmp_path / "whole.onnx", hidden=4).read_bytes()
    path = tmp_path / "cut.onnx"
    for length in range(1, len(whole)):
        path.write_bytes(whole[:length])
        refusal(path)


def test_a_model_without_operators_is_refused(tmp_path: Path) -> None:
    path = onnx_models.save(tmp_path / "m.onnx", [], [], [onnx_models.value("y", [1])])
    assert "no operators" in refusal(path).problem


def test_a_newer_ir_version_is_refused_with_both_numbers(tmp_path: Path) -> None:
    problem = refusal(onnx_cases.future_ir(tmp_path / "m.onnx")).problem
    assert "IR version 99" in problem
    assert problem.rsplit(maxsplit=1)[1].isdigit()


def test_a_newer_opset_is_refused_with_both_numbers(tmp_path: Path) -> None:
    problem = refusal(onnx_cases.future_opset(tmp_path / "m.onnx")).problem
    assert "opset 99" in problem
    assert problem.rsplit(maxsplit=1)[1].isdigit()


def test_missing_external_data_is_named(tmp_path: Path) -> None:
    path = onnx_models.with_external_data(tmp_path / "m.onnx")
    (tmp_path / "m.data").unlink()
    problem = refusal(path).problem
    assert "m.onnx" in problem
    assert "m.data" in problem


def test_truncated_external_data_is_refused(tmp_path: Path) -> None:
    path = onnx_models.with_external_data(tmp_path / "m.onnx")
    os.truncate(tmp_path / "m.data", 10)
    assert "m.data has 10 bytes" in refusal(path).problem


@pytest.mark.parametrize("location", ["../m.data", "/etc/passwd", "a/../../m.data", "..\\m.data"])
def test_external_data_outside_the_folder_is_refused(tmp_path: Path, location: str) -> None:
    path = onnx_models.with_external_data(tmp_path / "m.onnx")
    model = onnx.load(path, load_external_data=False)
    for tensor in model.graph.initializer:
        for entry in tensor.external_data:
            entry.value = location if entry.key == "location" else entry.value
    path.write_bytes(model.SerializeToString())
    assert "outside its folder" in refusal(path).problem


def test_a_custom_operator_is_refused_by_name(tmp_path: Path) -> None:
    error = refusal(onnx_cases.custom_op(tmp_path / "m.onnx"))
    assert "acme::Foo" in error.problem
    assert "--custom-op-lib" in error.remedy


def test_a_custom_operator_with_its_library_is_read(tmp_path: Path) -> None:
    library = tmp_path / "foo.so"
    library.write_bytes(b"\x7fELF")
    facts = read_model(onnx_cases.custom_op(tmp_path / "m.onnx"), custom_op_library=library)
    assert facts.operators == {"MatMul": 1, "acme::Foo": 1}
    assert facts.custom_op_library == library


def test_a_custom_operator_library_that_is_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "foo.so").write_text("not a library")
    path = onnx_cases.custom_op(tmp_path / "m.onnx")
    assert "no shared library" in refusal(path, custom_op_library=tmp_path / "foo.so").problem


def test_a_missing_custom_operator_library_is_refused(tmp_path: Path) -> None:
    path = onnx_models.mlp(tmp_path / "m.onnx")
    assert "foo.so" in refusal(path, custom_op_library=tmp_path / "foo.so").problem


def test_a_model_s_own_functions_are_no_custom_operators(tmp_path: Path) -> None:
    path = onnx_cases.custom_op(tmp_path / "m.onnx")
    model = onnx.load(path)
    opset = [onnx.helper.make_opsetid("", 17)]
    nodes = [onnx_models.node("Relu", ["a"], ["b"])]
    model.functions.append(onnx.helper.make_function("acme", "Foo", ["a"], ["b"], nodes, opset))
    path.write_bytes(model.SerializeToString())
    assert read_model(path).operators["Relu"] == 1


def test_an_unknown_dim_is_refused_with_the_nearest_name(tmp_path: Path) -> None:
    error = refusal(onnx_models.embedding(tmp_path / "m.onnx"), dims={"sec": 4})
    assert "did you mean 'seq'" in error.problem
    assert error.remedy.endswith("N, seq")


def test_a_negative_dim_is_refused(tmp_path: Path) -> None:
    assert "-1" in refusal(onnx_models.mlp(tmp_path / "m.onnx"), dims={"N": -1}).problem


readable = [name for name in onnx_cases.CASES if name not in {"H04", "H04 opset", "H10"}]


@pytest.mark.parametrize("build", [onnx_cases.CASES[name] for name in readable], ids=readable)
def test_every_other_case_is_read(tmp_path: Path, build: Callable[[Path], Path]) -> None:
    assert read_model(build(tmp_path / "m.onnx")).inputs
