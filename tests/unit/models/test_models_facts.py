from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto

from autotune.models import read_model
from autotune.testing import onnx_cases, onnx_models
from autotune.testing.onnx_models import node, save, value, weight


def test_a_plain_model_s_facts(tmp_path: Path) -> None:
    path = onnx_models.mlp(tmp_path / "m.onnx")
    facts = read_model(path)
    assert facts.operators == {"Add": 1, "MatMul": 2, "Relu": 1}
    assert (facts.opset, facts.ir_version, facts.format) == ({"ai.onnx": 17}, 8, "onnx")
    assert [(one.name, one.dtype, one.shape) for one in facts.inputs] == [("x", "float32", ("N", 16))]
    assert [(one.name, one.shape) for one in facts.outputs] == [("y", ("N", 10))]
    assert facts.weight_bytes == 4 * (16 * 32 + 32 + 32 * 10)
    assert facts.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert facts.size_bytes == path.stat().st_size
    assert (facts.quantised, facts.branching, facts.notes) == (False, False, ())


def test_flops_follow_the_dims(tmp_path: Path) -> None:
    path = onnx_models.mlp(tmp_path / "m.onnx")
    assert read_model(path).flops == 2 * (16 * 32 + 32 * 10)
    assert read_model(path, dims={"N": 3}).flops == 3 * 2 * (16 * 32 + 32 * 10)


def test_convolutions_are_counted(tmp_path: Path) -> None:
    flops = read_model(onnx_models.conv_net(tmp_path / "m.onnx")).flops
    assert flops == 2 * (8 * 8 * 8) * 9 + 2 * 8 * 10


def test_flops_of_external_weights_are_counted_too(tmp_path: Path) -> None:
    inside, outside = onnx_models.mlp(tmp_path / "a.onnx"), onnx_models.with_external_data(tmp_path / "b.onnx")
    assert read_model(inside).flops == read_model(outside).flops


@pytest.mark.parametrize("build", [onnx_cases.nonzero, onnx_cases.matmul_in_branch])
def test_flops_that_depend_on_the_data_are_unknown(tmp_path: Path, build: object) -> None:
    assert read_model(build(tmp_path / "m.onnx")).flops is None  # type: ignore[operator]


def test_operators_in_branches_are_counted(tmp_path: Path) -> None:
    assert read_model(onnx_cases.matmul_in_branch(tmp_path / "m.onnx")).operators["MatMul"] == 1


@pytest.mark.parametrize("build", [onnx_cases.qdq, onnx_cases.qoperator])
def test_a_quantised_model_is_recognised(tmp_path: Path, build: object) -> None:
    assert read_model(build(tmp_path / "m.onnx")).quantised  # type: ignore[operator]


def test_a_weight_listed_as_input_is_none_and_said(tmp_path: Path) -> None:
    facts = read_model(onnx_cases.weight_as_input(tmp_path / "m.onnx"))
    assert [one.name for one in facts.inputs] == ["x"]
    assert "w0" in facts.notes[0]
    assert "folded" in facts.notes[0]


def test_before_ir_4_weights_must_be_inputs_and_nothing_is_said(tmp_path: Path) -> None:
    facts = read_model(onnx_cases.old_opset(tmp_path / "m.onnx"))
    assert ([one.name for one in facts.inputs], facts.notes) == (["x"], ())


def test_twin_names_are_said(tmp_path: Path) -> None:
    assert "twin" in read_model(onnx_cases.twin_names(tmp_path / "m.onnx")).notes[0]


def test_two_products_of_one_input_are_branches(tmp_path: Path) -> None:
    nodes = [node("MatMul", ["x", "w"], ["a"]), node("MatMul", ["x", "v"], ["b"]), node("Add", ["a", "b"], ["y"])]
    weights = {"w": weight(0, 4, 4), "v": weight(1, 4, 4)}
    path = save(tmp_path / "m.onnx", nodes, [value("x", ["N", 4])], [value("y", ["N", 4])], weights)
    assert read_model(path).branching


def test_external_data_are_files_of_the_model_and_hashed(tmp_path: Path) -> None:
    path = onnx_models.with_external_data(tmp_path / "m.onnx")
    before = read_model(path)
    data = tmp_path / "m.data"
    assert before.files == ("m.onnx", "m.data")
    assert before.size_bytes == path.stat().st_size + data.stat().st_size
    data.write_bytes(data.read_bytes()[:-1] + b"\x01")
    assert read_model(path).sha256 != before.sha256


def test_a_copy_elsewhere_has_the_same_hash(tmp_path: Path) -> None:
    path = onnx_models.with_external_data(tmp_path / "m.onnx")
    shutil.copytree(tmp_path, tmp_path / "copy")
    assert read_model(tmp_path / "copy/m.onnx").sha256 == read_model(path).sha256


def test_ids_are_bounded_by_their_table(tmp_path: Path) -> None:
    (ids,) = read_model(onnx_models.embedding(tmp_path / "m.onnx", rows=32)).inputs
    assert (ids.low, ids.high) == (0, 31)


def test_ids_are_followed_through_cast_and_reshape_and_the_smallest_table_counts(tmp_path: Path) -> None:
    nodes = [
        node("Cast", ["ids"], ["c"], to=TensorProto.INT64),
        node("Reshape", ["c", "flat"], ["r"]),
        node("Gather", ["big", "r"], ["a"]),
        node("DequantizeLinear", ["small", "scale"], ["d"]),
        node("Gather", ["d", "r"], ["b"]),
        node("Concat", ["a", "b"], ["y"], axis=1),
    ]
    weights = {
        "flat": np.array([-1]),
        "big": weight(0, 100, 2),
        "small": np.ones((9, 2), np.int8),
        "scale": np.array(1, np.float32),
    }
    inputs = [value("ids", ["N", 4], TensorProto.INT32)]
    path = save(tmp_path / "m.onnx", nodes, inputs, [value("y", [None, 4])], weights)
    assert read_model(path).inputs[0].high == 8


def test_ids_of_one_hot_vectors_are_bounded(tmp_path: Path) -> None:
    one_hot = [node("OneHot", ["ids", "depth", "off_on"], ["y"])]
    weights = {"depth": np.array(7), "off_on": np.array([0, 1], np.float32)}
    compared = [node("Unsqueeze", ["ids", "last"], ["u"]), node("Equal", ["u", "iota"], ["e"])]
    compared.append(node("Cast", ["e"], ["y"], to=TensorProto.FLOAT))
    iota = {"last": np.array([-1]), "iota": np.arange(7)[np.newaxis, np.newaxis]}
    for number, (nodes, constants) in enumerate([(one_hot, weights), (compared, iota)]):
        inputs = [value("ids", ["N", 4], TensorProto.INT64)]
        path = save(tmp_path / f"{number}.onnx", nodes, inputs, [value("y", ["N", 4, 7])], constants)
        (ids,) = read_model(path).inputs
        assert (ids.low, ids.high) == (0, 6)


def test_true_types_are_named(tmp_path: Path) -> None:
    kinds = {
        TensorProto.BOOL: "bool",
        TensorProto.FLOAT16: "float16",
        TensorProto.STRING: "str",
        TensorProto.BFLOAT16: "bfloat16",
    }
    for code, name in kinds.items():
        nodes = [node("Identity", ["x"], ["y"])]
        path = save(tmp_path / f"{name}.onnx", nodes, [value("x", [2], code)], [value("y", [2], code)])
        assert read_model(path).inputs[0].dtype == name


def test_a_sequence_input_is_told(tmp_path: Path) -> None:
    sequence = onnx.helper.make_tensor_sequence_value_info("s", TensorProto.FLOAT, ["N"])
    nodes = [node("SequenceLength", ["s"], ["y"])]
    facts = read_model(save(tmp_path / "m.onnx", nodes, [sequence], [value("y", [], TensorProto.INT64)]))
    assert (facts.inputs[0].kind, facts.inputs[0].dtype) == ("sequence", "float32")
    assert "sequence" in facts.batch.reason


@pytest.mark.slow
def test_more_than_two_gigabytes_of_external_data_are_read_by_path(tmp_path: Path) -> None:
    rows = 2**20 + 1
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[rows, 512], data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value="w.bin")
    path = save(
        tmp_path / "m.onnx",
        [node("Gather", ["w", "ids"], ["y"])],
        [value("ids", ["N"], TensorProto.INT64)],
        [value("y", ["N", 512])],
    )
    model = onnx.load(path)
    model.graph.initializer.append(tensor)
    path.write_bytes(model.SerializeToString())
    with (tmp_path / "w.bin").open("wb") as stream:
        stream.truncate(rows * 512 * 4)
    facts = read_model(path)
    assert facts.weight_bytes == rows * 512 * 4 > 2**31
    assert facts.inputs[0].high == rows - 1
