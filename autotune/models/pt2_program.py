"""An exported program's graph: what goes in, what comes out, what is refused."""

from __future__ import annotations

import keyword
from collections import Counter
from dataclasses import dataclass
from typing import Any, Final

from autotune.core.errors import UserError
from autotune.models.pt2_archive import MODEL, Pt2Archive, damaged
from autotune.models.pt2_safety import refuse_code
from autotune.models.pt2_sizes import plain_size
from autotune.models.pt2_tree import leaf_names

__all__ = ["DTYPES", "Port", "Program", "read_program"]

DTYPES: Final = {
    1: "uint8",
    2: "int8",
    3: "int16",
    4: "int32",
    5: "int64",
    6: "float16",
    7: "float32",
    8: "float64",
    9: "complex32",
    10: "complex64",
    11: "complex128",
    12: "bool",
    13: "bfloat16",
    28: "uint16",
    34: "uint32",
    35: "uint64",
}
"""PyTorch's numbers of element types (torch/_export/serde/schema.py) → numpy's names, or those that numpy lacks."""
_LAYOUT: Final = 8  # major version of the schema, since PyTorch 2.5
_STATE: Final = ("buffer_mutation", "parameter_mutation", "user_input_mutation")


@dataclass(frozen=True)
class Port:
    """A tensor that goes in or comes out. ``value`` is its name in the graph; ``sizes`` as written: numbers and expressions."""

    name: str
    value: str
    dtype: str
    sizes: tuple[int | str, ...]


@dataclass(frozen=True)
class Program:
    """``content`` is the whole JSON, checked. ``hints`` are the sizes that symbols had when it was exported.

    ``bounds`` are the sizes that each may have, None: any. ``constants`` are inputs that were fixed at export, by name.
    ``operators`` counts nodes. ``tables`` gives the rows of the table that an input's ids point into, by the input's value.
    """

    content: dict[str, Any]
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    constants: tuple[str, ...]
    operators: Counter[str]
    tables: dict[str, int]
    hints: dict[str, int]
    bounds: dict[str, tuple[int | None, int | None]]


def read_program(archive: Pt2Archive) -> Program:
    """Read and check the graph. Raises ``UserError``."""
    content = archive.json(MODEL)
    try:
        refuse_code(content, archive.name)
        major = content["schema_version"]["major"]
        if major != _LAYOUT:
            raise damaged(archive.name, f"its layout is of version {major}, and {_LAYOUT} is known here")
        return _program(content, archive.name)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError) as error:
        raise damaged(archive.name, f"its graph is incomplete ({type(error).__name__}: {error})") from error


def _program(content: dict[str, Any], name: str) -> Program:
    module = content["graph_module"]
    graph, signature = module["graph"], module["signature"]
    values = graph["tensor_values"]
    _refuse_state(signature, name)
    if [spec["user_output"]["arg"] for spec in signature["output_specs"]] != graph["outputs"]:
        raise damaged(name, "its graph and its signature differ in outputs")
    if len(graph["inputs"]) != len(signature["input_specs"]):
        raise damaged(name, "its graph and its signature differ in inputs")
    hints: dict[str, int] = {}
    inputs, constants = _inputs(signature["input_specs"], name)
    outputs = _outputs(graph["outputs"], module["module_call_graph"][0]["signature"]["out_spec"], name)
    return Program(
        content=content,
        inputs=tuple(_port(value, value, values, hints, name) for value in inputs),
        outputs=tuple(_port(public, value, values, hints, name) for public, value in outputs),
        constants=tuple(constants),
        operators=Counter(_operator(node["target"]) for node in graph["nodes"]),
        tables=_rows_of_tables(graph),
        hints=hints,
        bounds={
            symbol: (_bound(bound.get("min_val")), _bound(bound.get("max_val")))
            for symbol, bound in content.get("range_constraints", {}).items()
        },
    )


def _inputs(specs: list[dict[str, Any]], name: str) -> tuple[list[str], list[str]]:
    """Names of tensors that are fed, and of inputs that the export fixed (None, numbers, flags)."""
    tensors, constants = [], []
    for entry in specs:
        ((kind, spec),) = entry.items()
        if kind == "constant_input":
            constants.append(str(spec["name"]))
        elif kind in ("custom_obj", "token"):
            raise damaged(name, f"an input of it is a {kind}")
        elif kind == "user_input":
            if "as_tensor" not in spec["arg"]:
                raise UserError(f"{name}: an input is a number that may change", "export it with tensors as inputs")
            tensors.append(str(spec["arg"]["as_tensor"]["name"]))
    for one in tensors:
        if not one.isidentifier() or keyword.iskeyword(one):
            raise damaged(name, f"an input is called {one[:80]!r}")
    return tensors, constants


def _outputs(returned: list[dict[str, Any]], spec: str, name: str) -> list[tuple[str, str]]:
    """(name, value) of each tensor that comes out; what is None always is left out."""
    found = []
    for public, argument in zip(leaf_names(spec), returned, strict=True):
        if "as_tensor" in argument:
            found.append((public, str(argument["as_tensor"]["name"])))
        elif "as_none" not in argument:
            raise UserError(f"{name}: output {public!r} is no tensor", "export it with tensors as outputs")
    if not found:
        raise damaged(name, "it has no outputs")
    return found


def _operator(target: str) -> str:
    """``torch.ops.aten.conv2d.default`` → ``aten.conv2d``: overloads differ in how arguments are given."""
    return ".".join(target.removeprefix("torch.ops.").split(".")[:2])


def _rows_of_tables(graph: dict[str, Any]) -> dict[str, int]:
    found: dict[str, int] = {}
    for node in graph["nodes"]:
        if _operator(node["target"]) == "aten.embedding":
            table, ids = (entry["arg"].get("as_tensor", {}).get("name") for entry in node["inputs"][:2])
            rows = graph["tensor_values"].get(table, {}).get("sizes", [{}])[0].get("as_int")
            if rows is not None and ids is not None:
                found[ids] = min(int(rows), found.get(ids, int(rows)))
    return found


def _refuse_state(signature: dict[str, Any], name: str) -> None:
    """A program that remembers answers the same question differently."""
    if changed := [kind for entry in signature["output_specs"] for kind in entry if kind in _STATE]:
        raise UserError(
            f"{name} changes its own state when it runs ({changed[0].replace('_', ' ')})",
            "export the model in evaluation mode (model.eval()), without caches inside",
        )


def _port(public: str, value: str, values: dict[str, Any], hints: dict[str, int], name: str) -> Port:
    meta = values[value]
    device = meta["device"]["type"]
    if device != "cpu":
        raise UserError(f"{name}: {public!r} lies on {device}", "export the program on the CPU: model.cpu()")
    dtype = DTYPES.get(meta["dtype"], f"type {meta['dtype']}")
    return Port(public, value, dtype, tuple(_size(size, hints) for size in meta["sizes"]))


def _bound(number: Any) -> int | None:
    if number is None or type(number) is int:
        return number
    raise TypeError(f"{number!r} is no size")


def _size(size: dict[str, Any], hints: dict[str, int]) -> int | str:
    if "as_int" in size:
        return int(size["as_int"])
    expression = size["as_expr"]
    hint = (expression.get("hint") or {}).get("as_int")
    if hint is not None:
        hints[plain_size(expression["expr_str"])] = int(hint)
    return plain_size(expression["expr_str"])
