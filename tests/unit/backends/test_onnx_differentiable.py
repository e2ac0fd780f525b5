"""Every operator that training goes through computes what onnxruntime computes."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime
import pytest
from numpy.typing import NDArray
from onnx import ValueInfoProto, helper

from autotune_backends.transform.onnx.differentiable.call import Call, attributes_of
from autotune_backends.transform.onnx.differentiable.parts import OPERATORS

torch = pytest.importorskip("torch", reason="training needs PyTorch, the extra 'torch'")

OPSET = 20
IMAGE, KERNEL = (1, 4, 7, 9), (6, 4, 3, 2)


def _floats(*shape: int, low: float = -2.0) -> NDArray[np.float32]:
    return np.random.default_rng(len(shape)).uniform(low, 2.0, shape).astype(np.float32)


def _ints(*values: int) -> NDArray[np.int64]:
    return np.array(values, np.int64)


UNARY = [
    "Abs",
    "Cos",
    "Dropout",
    "Elu",
    "Erf",
    "Exp",
    "Gelu",
    "HardSigmoid",
    "HardSwish",
    "Identity",
    "LeakyRelu",
    "Mish",
    "Neg",
    "Relu",
    "Selu",
    "Sigmoid",
    "Sin",
    "Softmax",
    "Softplus",
    "Softsign",
    "Tanh",
    "GlobalAveragePool",
    "GlobalMaxPool",
    "Flatten",
    "Transpose",
    "ReduceL2",
    "ReduceMax",
    "ReduceMean",
    "ReduceMin",
    "ReduceSum",
    "ReduceSumSquare",
    "Shape",
    "Squeeze",
]
POSITIVE = ["Log", "Reciprocal", "Sqrt"]
BINARY = [
    "Add",
    "Sub",
    "Mul",
    "Div",
    "Max",
    "Min",
    "Equal",
    "Greater",
    "GreaterOrEqual",
    "Less",
    "LessOrEqual",
    "PRelu",
]

Case = tuple[str, list[NDArray[Any] | None], dict[str, Any]]
CASES: list[Case] = [
    *((name, [_floats(*IMAGE)], {}) for name in UNARY),
    *((name, [_floats(*IMAGE, low=0.1)], {}) for name in POSITIVE),
    *((name, [_floats(*IMAGE), _floats(4, 1, 1)], {}) for name in BINARY),
    *((name, [_floats(3) > 0, _floats(2, 3) > 0], {}) for name in ("And", "Or")),
    ("Not", [_floats(3) > 0], {}),
    ("Where", [_floats(3) > 0, _floats(2, 3), _floats(1)], {}),
    ("Div", [_ints(7, -7), _ints(2, 2)], {}),
    ("Pow", [_floats(3, low=0.1), np.array(3, np.int64)], {}),
    ("Clip", [_floats(3), np.array(-1, np.float32), None], {}),
    ("Clip", [_floats(3)], {}),
    ("Cast", [_floats(3)], {"to": 7}),
    ("Gelu", [_floats(3)], {"approximate": "tanh"}),
    ("Softmax", [_floats(2, 3, 4)], {"axis": 1}),
    ("Conv", [_floats(*IMAGE), _floats(*KERNEL), _floats(6)], {"pads": [1, 0, 2, 1], "strides": [2, 1]}),
    ("Conv", [_floats(*IMAGE), _floats(*KERNEL)], {"auto_pad": "SAME_UPPER", "strides": [2, 2]}),
    ("Conv", [_floats(*IMAGE), _floats(*KERNEL)], {"auto_pad": "SAME_LOWER"}),
    ("Conv", [_floats(*IMAGE), _floats(4, 1, 3, 3)], {"group": 4, "dilations": [2, 2], "auto_pad": "VALID"}),
    ("Conv", [_floats(2, 3, 9), _floats(5, 3, 3)], {"pads": [1, 1]}),
    ("Gemm", [_floats(3, 4), _floats(5, 4), _floats(5)], {"transB": 1, "alpha": 0.5, "beta": 2.0}),
    ("Gemm", [_floats(4, 3), _floats(4, 5)], {"transA": 1}),
    ("MatMul", [_floats(2, 3, 4), _floats(4, 5)], {}),
    ("BatchNormalization", [_floats(*IMAGE), *(_floats(4, low=0.1) for _ in range(4))], {"epsilon": 1e-3}),
    ("LayerNormalization", [_floats(2, 3, 4), _floats(4), _floats(4)], {"axis": -1}),
    ("MaxPool", [_floats(*IMAGE)], {"kernel_shape": [3, 2], "pads": [1, 0, 1, 1], "strides": [2, 2]}),
    ("MaxPool", [_floats(*IMAGE)], {"kernel_shape": [2, 2], "strides": [2, 2], "ceil_mode": 1}),
    ("AveragePool", [_floats(*IMAGE)], {"kernel_shape": [3, 3], "pads": [1, 1, 0, 1]}),
    ("AveragePool", [_floats(*IMAGE)], {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "count_include_pad": 1}),
    ("ReduceMean", [_floats(2, 3, 4), _ints(-1, 1)], {"keepdims": 0}),
    ("ReduceSum", [_floats(2, 3)], {"noop_with_empty_axes": 1}),
    ("Reshape", [_floats(2, 3, 4), _ints(0, -1)], {}),
    ("Flatten", [_floats(2, 3, 4)], {"axis": 2}),
    ("Transpose", [_floats(2, 3, 4)], {"perm": [0, 2, 1]}),
    ("Split", [_floats(2, 6)], {"axis": 1, "num_outputs": 2}),
    ("Split", [_floats(2, 6), _ints(2, 4)], {"axis": 1}),
    ("Slice", [_floats(4, 6), _ints(1, -5), _ints(4, 9999), _ints(0, 1), _ints(2, 1)], {}),
    ("Slice", [_floats(4, 6), _ints(1), _ints(3)], {}),
    ("Gather", [_floats(4, 6), np.array([[0, -1]], np.int64)], {"axis": 1}),
    ("Gather", [_floats(4, 6), np.array(2, np.int64)], {}),
    ("Squeeze", [_floats(2, 1, 3, 1), _ints(1)], {}),
    ("Unsqueeze", [_floats(2, 3), _ints(-1, 0)], {}),
    ("Shape", [_floats(2, 3, 4)], {"start": 1}),
    ("Concat", [_floats(2, 3), _floats(2, 1)], {"axis": -1}),
    ("Expand", [_floats(3, 1), _ints(2, 1, 4)], {}),
    ("Tile", [_floats(2, 3), _ints(2, 1)], {}),
]


def test_every_operator_is_among_the_cases() -> None:
    assert {name for name, _, _ in CASES} == set(OPERATORS)


@pytest.mark.parametrize(
    ("name", "inputs", "attributes"), CASES, ids=lambda part: part if isinstance(part, str) else ""
)
def test_an_operator_gives_what_onnxruntime_gives(
    name: str, inputs: list[NDArray[Any] | None], attributes: dict[str, Any]
) -> None:
    names = ["" if one is None else f"x{position}" for position, one in enumerate(inputs)]
    outputs = ["y0", "y1"] if name == "Split" else ["y0"]
    node = helper.make_node(name, names, outputs, **attributes)
    fed = {named: one for named, one in zip(names, inputs, strict=True) if one is not None}
    given = [
        helper.make_tensor_value_info(named, helper.np_dtype_to_tensor_dtype(one.dtype), one.shape)
        for named, one in fed.items()
    ]
    graph = helper.make_graph([node], "g", given, [ValueInfoProto(name=output) for output in outputs])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    tensors = [None if one is None else torch.from_numpy(one) for one in inputs]
    found = OPERATORS[name](Call(torch, tensors, attributes_of(node), len(outputs), OPSET))
    several = found if isinstance(found, tuple | list) else (found,)
    for one, expected in zip(several, session.run(None, fed), strict=True):
        assert one.numpy().shape == expected.shape
        np.testing.assert_allclose(one.numpy(), expected, rtol=1e-4, atol=1e-5)


def test_before_operator_set_13_softmax_joins_the_axes_behind_it() -> None:
    values = _floats(2, 3, 4)
    found = OPERATORS["Softmax"](Call(torch, [torch.from_numpy(values)], {"axis": 1}, 1, 11)).numpy()
    assert found.sum(axis=(1, 2)) == pytest.approx([1.0, 1.0])
