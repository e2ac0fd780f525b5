"""Which operators onnxruntime's quantisers know, and how many of them a model has."""

from __future__ import annotations

from collections import Counter
from typing import Any

from autotune_backends.transform.onnx.graph import graphs, kind

__all__ = ["MATMUL", "PRODUCTS", "QUANTISABLE", "float_weight_dtype", "products", "quantisable", "quantised"]

MATMUL = frozenset({"MatMul", "Gemm"})
"""What ``op_types_to_quantize=["MatMul"]`` reaches: the quantiser rewrites Gemm as MatMul and Add first."""

PRODUCTS = MATMUL | {"Conv", "ConvTranspose"}
"""Where a model spends its time: what static int8 is for."""

_OTHER = frozenset({"Conv", "Gather", "LSTM", "com.microsoft::Attention", "com.microsoft::EmbedLayerNormalization"})
QUANTISABLE = MATMUL | _OTHER
"""``IntegerOpsRegistry`` of onnxruntime/quantization/registry.py, less Transpose, which only passes int8 on."""

_QUANTISED = {
    "MatMulInteger": "MatMul",
    "ConvInteger": "Conv",
    "com.microsoft::DynamicQuantizeLSTM": "LSTM",
    "com.microsoft::QAttention": "Attention",
    "com.microsoft::QEmbedLayerNormalization": "EmbedLayerNormalization",
}


def quantisable(model: Any) -> Counter[str]:
    """Count, by kind, the operators that could become int8, those inside branches and loops included."""
    found: Counter[str] = Counter()
    for graph in graphs(model.graph):
        tables = _weights_of(graph, _float_types())
        found.update(kind(node) for node in graph.node if kind(node) in QUANTISABLE and _is_candidate(node, tables))
    return found


def products(model: Any) -> Counter[str]:
    """Count, by kind, the products of the main graph."""
    return Counter(kind(node) for node in model.graph.node if kind(node) in PRODUCTS)


def quantised(model: Any) -> Counter[str]:
    """Count the operators of the main graph that are int8, by what they were before."""
    tables = _weights_of(model.graph, _int8_types())
    kinds = (_QUANTISED.get(kind(node)) for node in model.graph.node)
    gathers = sum(node.op_type == "Gather" and node.input[0] in tables for node in model.graph.node)
    return Counter(name for name in kinds if name) + Counter({"Gather": gathers})


def float_weight_dtype(model: Any) -> str | None:
    """The numpy name of the floating-point type that most weight bytes are of; None: there are no such weights."""
    from onnx import helper

    sizes: Counter[str] = Counter()
    for weight in _constants(model):
        if weight.data_type in _float_types():
            dtype = helper.tensor_dtype_to_np_dtype(weight.data_type)
            sizes[str(dtype)] += dtype.itemsize * _elements(weight.dims)
    return sizes.most_common(1)[0][0] if sizes else None


def _is_candidate(node: Any, tables: set[str]) -> bool:
    return node.op_type != "Gather" or node.input[0] in tables


def _constants(model: Any) -> list[Any]:
    found = [weight for graph in graphs(model.graph) for weight in graph.initializer]
    constants = (node for graph in graphs(model.graph) for node in graph.node if node.op_type == "Constant")
    return found + [attribute.t for node in constants for attribute in node.attribute if attribute.HasField("t")]


def _weights_of(graph: Any, types: frozenset[int]) -> set[str]:
    return {weight.name for weight in graph.initializer if weight.data_type in types}


def _elements(dims: Any) -> int:
    count = 1
    for size in dims:
        count *= size
    return count


def _float_types() -> frozenset[int]:
    from onnx import TensorProto

    return frozenset({TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE, TensorProto.BFLOAT16})


def _int8_types() -> frozenset[int]:
    from onnx import TensorProto

    return frozenset({TensorProto.INT8, TensorProto.UINT8})
