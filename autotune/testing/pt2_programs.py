"""Exported programs for tests, written without PyTorch: what ``torch.export.save`` writes, as far as it is read."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["content", "meta", "payload", "records", "save"]

Json = dict[str, Any]


def content(*, out_spec: str = '[1, {"type": null, "context": null, "children_spec": []}]') -> Json:
    """The graph of ``linear(x)``: x ``[batch, 4]`` of float32, the weights ``[3, 4]`` and ``[3]``."""
    sizes: dict[str, list[Any]] = {"p_weight": [3, 4], "p_bias": [3], "x": [_batch(), 4], "linear": [_batch(), 3]}
    tensors = [_argument(*pair) for pair in (("input", "x"), ("weight", "p_weight"), ("bias", "p_bias"))]
    nodes = [
        {"target": "torch.ops.aten.linear.default", "inputs": tensors, "outputs": [_tensor("linear")], "metadata": {}}
    ]
    graph = {
        "inputs": [_tensor(name) for name in ("p_weight", "p_bias", "x")],
        "outputs": [_tensor("linear")],
        "nodes": nodes,
        "tensor_values": {name: meta(shape) for name, shape in sizes.items()},
        **{f"sym_{kind}_values": {} for kind in ("int", "bool", "float")},
        "is_single_tensor_return": False,
        "custom_obj_values": {},
    }
    parameters = [{"parameter": {"arg": {"name": f"p_{name}"}, "parameter_name": name}} for name in ("weight", "bias")]
    signature = {
        "input_specs": [*parameters, {"user_input": {"arg": _tensor("x")}}],
        "output_specs": [{"user_output": {"arg": _tensor("linear")}}],
    }
    call = {"inputs": [], "outputs": [], "in_spec": "", "out_spec": out_spec, "forward_arg_names": ["x"]}
    return {
        "graph_module": {"graph": graph, "signature": signature, "module_call_graph": [{"fqn": "", "signature": call}]},
        "opset_version": {"aten": 10},
        "range_constraints": {"s40": {"min_val": 1, "max_val": 64}},
        "schema_version": {"major": 8, "minor": 20},
        "verifiers": ["TRAINING"],
        "torch_version": "2.13.0",
        "guards_code": [],
    }


def meta(shape: Sequence[int | Json], *, dtype: int = 7, device: str = "cpu") -> Json:
    """A dense tensor's description; 7 is float32."""
    sizes = [{"as_int": size} if isinstance(size, int) else size for size in shape]
    strides = [{"as_int": 4 if axis == 0 and len(shape) == 2 else 1} for axis in range(len(shape))]
    return {
        "dtype": dtype,
        "sizes": sizes,
        "strides": strides,
        "storage_offset": {"as_int": 0},
        "requires_grad": False,
        "device": {"type": device, "index": None},
        "layout": 7,
    }


def records(program: Json | None = None, weights: Json | None = None) -> dict[str, bytes]:
    """Every record of the archive: the program's, and two tensors of 48 and 12 bytes."""
    config = (
        weights if weights is not None else {"weight": payload("weight_0", [3, 4]), "bias": payload("weight_1", [3])}
    )
    return {
        "models/model.json": json.dumps(program or content()).encode(),
        "data/weights/model_weights_config.json": json.dumps({"config": config}).encode(),
        "data/weights/weight_0": bytes(48),
        "data/weights/weight_1": bytes(12),
        "data/constants/model_constants_config.json": b'{"config": {}}',
        "data/sample_inputs/model.pt": b"",
        "archive_format": b"pt2",
        "archive_version": b"0",
        ".data/version": b"6\n",
        "byteorder": b"little",
    }


def payload(record: str, shape: Sequence[int], **changes: Any) -> Json:
    """How the configuration of weights describes one."""
    return {"path_name": record, "is_param": True, "use_pickle": False, "tensor_meta": meta(shape), **changes}


def save(path: Path, found: Mapping[str, bytes] | None = None, *, compression: int = zipfile.ZIP_STORED) -> Path:
    """Write the archive, all in a folder called ``program`` unless a record begins with a slash."""
    with zipfile.ZipFile(path, "w", compression) as file:
        for name, written in (records() if found is None else found).items():
            file.writestr(name.removeprefix("/") if name.startswith("/") else f"program/{name}", written)
    return path


def _batch() -> Json:
    return {"as_expr": {"expr_str": "Symbol('s40', positive=True, integer=True)", "hint": {"as_int": 2}}}


def _tensor(name: str) -> Json:
    return {"as_tensor": {"name": name}}


def _argument(name: str, value: str) -> Json:
    return {"name": name, "arg": _tensor(value), "kind": 1}
