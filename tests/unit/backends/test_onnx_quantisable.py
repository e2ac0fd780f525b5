from __future__ import annotations

from pathlib import Path

import pytest

from autotune.testing.onnx_cases import half_input, matmul_in_branch, shared_symbols, weight_as_input
from autotune.testing.onnx_models import conv_net, embedding, encoder, mlp, with_external_data
from autotune_backends.transform.onnx.fuse_transformer import transformer_parts
from autotune_backends.transform.onnx.graph import external_files, interface, load_graph, same_kind, size_bytes
from autotune_backends.transform.onnx.quantisable import (
    PRODUCTS,
    QUANTISABLE,
    float_weight_dtype,
    products,
    quantisable,
    quantised,
)


def test_the_table_is_the_runtimes_registry() -> None:
    from onnxruntime.quantization.registry import IntegerOpsRegistry

    known = {name.rpartition("::")[2] for name in QUANTISABLE} - {"Gemm"}
    assert known == set(IntegerOpsRegistry) - {"Transpose"}


def test_static_int8_knows_every_product() -> None:
    from onnxruntime.quantization.registry import QDQRegistry

    assert set(QDQRegistry) >= PRODUCTS


def test_products_of_the_main_graph_are_counted(tmp_path: Path) -> None:
    assert products(load_graph(conv_net(tmp_path / "a.onnx"))) == {"Conv": 1, "Gemm": 1}
    assert not products(load_graph(matmul_in_branch(tmp_path / "b.onnx")))


def test_a_transformers_parts_are_named(tmp_path: Path) -> None:
    assert transformer_parts(load_graph(encoder(tmp_path / "a.onnx"))) == ("attention", "LayerNorm", "GELU")
    assert transformer_parts(load_graph(conv_net(tmp_path / "b.onnx"))) == ()


def test_an_interface_is_names_and_types_of_true_inputs(tmp_path: Path) -> None:
    free = interface(load_graph(weight_as_input(tmp_path / "a.onnx")))
    assert list(free) == ["input x", "output y"]
    wide, narrow = (interface(load_graph(mlp(tmp_path / f"{n}.onnx", features=n))) for n in (8, 16))
    assert wide == narrow
    half = interface(load_graph(half_input(tmp_path / "b.onnx")))
    assert not same_kind(free["input x"], half["input x"])
    assert not same_kind(free["input x"], None)
    assert same_kind(b"", half["input x"])


def test_operators_are_counted_by_kind(tmp_path: Path) -> None:
    assert quantisable(load_graph(mlp(tmp_path / "a.onnx"))) == {"MatMul": 2}
    assert quantisable(load_graph(conv_net(tmp_path / "b.onnx"))) == {"Conv": 1, "Gemm": 1}
    assert quantisable(load_graph(embedding(tmp_path / "c.onnx"))) == {"Gather": 1, "MatMul": 1}


def test_operators_inside_branches_count_too(tmp_path: Path) -> None:
    assert quantisable(load_graph(matmul_in_branch(tmp_path / "m.onnx")))["MatMul"] == 1


def test_a_float_model_has_nothing_quantised(tmp_path: Path) -> None:
    assert not quantised(load_graph(embedding(tmp_path / "m.onnx")))


@pytest.mark.parametrize(("model", "dtype"), [(mlp, "float32"), (half_input, "float16"), (shared_symbols, None)])
def test_weights_are_of_the_type_of_most_bytes(tmp_path: Path, model, dtype: str | None) -> None:  # type: ignore[no-untyped-def]
    assert float_weight_dtype(load_graph(model(tmp_path / "m.onnx"))) == dtype


def test_external_files_are_found_and_counted(tmp_path: Path) -> None:
    path = with_external_data(tmp_path / "m.onnx")
    model = load_graph(path)
    assert external_files(model) == ("m.data",)
    assert size_bytes(path, model) == path.stat().st_size + (tmp_path / "m.data").stat().st_size
