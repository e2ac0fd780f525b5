from __future__ import annotations

from pathlib import Path

import pytest

from autotune.testing.onnx_cases import half_input, matmul_in_branch, shared_symbols
from autotune.testing.onnx_models import conv_net, embedding, mlp, with_external_data
from autotune_backends.transform.onnx.graph import external_files, load_graph, size_bytes
from autotune_backends.transform.onnx.quantisable import QUANTISABLE, float_weight_dtype, quantisable, quantised


def test_the_table_is_the_runtimes_registry() -> None:
    from onnxruntime.quantization.registry import IntegerOpsRegistry

    known = {name.rpartition("::")[2] for name in QUANTISABLE} - {"Gemm"}
    assert known == set(IntegerOpsRegistry) - {"Transpose"}


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
