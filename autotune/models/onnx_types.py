"""ONNX's element types: numpy's names for them, and how many bits they take."""

from __future__ import annotations

from typing import Any

from autotune.core.errors import UserError

__all__ = ["bits", "dtype_name"]


def dtype_name(code: int) -> str:
    """Numpy's name of an element type; ``str`` for strings, ``undefined`` where the model states none.

    Raises ``UserError`` for a type that the installed onnx does not know.
    """
    from onnx import TensorProto

    if code in (TensorProto.STRING, TensorProto.UNDEFINED):
        return "str" if code == TensorProto.STRING else "undefined"
    return str(_numpy_type(code).name)


def bits(code: int) -> int:
    """Bits that one element takes in a file; 0 for strings, whose lengths vary. Raises ``UserError`` as ``dtype_name`` does."""
    from onnx import TensorProto

    packed = {TensorProto.INT4: 4, TensorProto.UINT4: 4, TensorProto.FLOAT4E2M1: 4}
    if code in packed or code in (TensorProto.STRING, TensorProto.UNDEFINED):
        return packed.get(code, 0)
    return 8 * int(_numpy_type(code).itemsize)


def _numpy_type(code: int) -> Any:
    from onnx import __version__, helper

    try:
        return helper.tensor_dtype_to_np_dtype(code)
    except KeyError as error:
        problem = f"the model has tensors of element type {code}, which is unknown here"
        raise UserError(problem, f"export it again, or install a newer onnx ({__version__} is installed)") from error
