"""Writes the copy of an exported program that PyTorch is handed: its graph and its tensors, and nothing that could run.

The copy lacks example inputs (pickled), guards (Python code), traces and module names, inputs that the export fixed, and the
Python structures of arguments and results: it takes tensors by position and returns one mapping from names to tensors.
"""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any, Final

from autotune.models.pt2_archive import Pt2Archive, opened
from autotune.models.pt2_program import Program, read_program
from autotune.models.pt2_tensors import KINDS, read_tensors
from autotune.models.pt2_tree import call_spec, mapping_spec

__all__ = ["write_plain"]

_ROOT: Final = "program"
_WHEN: Final = (1980, 1, 1, 0, 0, 0)
"""The time of every record: the same program gives the same bytes."""
_FRAME: Final = {"archive_format": b"pt2", "archive_version": b"0", ".data/version": b"6\n", "byteorder": b"little"}


def write_plain(source: Path, target: Path) -> None:
    """Write the copy of the program at ``source`` to ``target``. Raises ``UserError`` for whatever ``read_model`` refuses."""
    with opened(source) as archive:
        program = read_program(archive)
        tensors = [read_tensors(archive, kind) for kind in KINDS]
        with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as copied:
            for one in tensors:
                for record in one.records:
                    _copy(archive, copied, record)
                _write(copied, f"data/{one.kind}/model_{one.kind}_config.json", _json({"config": one.config}))
            _write(copied, "models/model.json", _json(_bare(program)))
            _write(copied, "data/sample_inputs/model.pt", b"")
            for record, content in _FRAME.items():
                _write(copied, record, content)


def _bare(program: Program) -> dict[str, Any]:
    module = program.content["graph_module"]
    graph, signature = module["graph"], module["signature"]
    taken = [position for position, spec in enumerate(signature["input_specs"]) if "constant_input" not in spec]
    given = [position for position, argument in enumerate(graph["outputs"]) if "as_none" not in argument]
    nodes = [{**node, "metadata": {}} for node in graph["nodes"]]
    bare = {
        "graph": {
            **graph,
            "nodes": nodes,
            "inputs": _at(graph["inputs"], taken),
            "outputs": _at(graph["outputs"], given),
        },
        "signature": {
            "input_specs": _at(signature["input_specs"], taken),
            "output_specs": _at(signature["output_specs"], given),
        },
        "module_call_graph": [{"fqn": "", "signature": _call(program)}],
        "metadata": {},
        "treespec_namedtuple_fields": {},
    }
    return {**program.content, "graph_module": bare, "guards_code": []}


def _call(program: Program) -> dict[str, Any]:
    given = mapping_spec([port.name for port in program.outputs])
    return {"inputs": [], "outputs": [], "in_spec": call_spec(len(program.inputs)), "out_spec": given}


def _at(values: list[Any], positions: list[int]) -> list[Any]:
    return [values[position] for position in positions]


def _copy(archive: Pt2Archive, copied: zipfile.ZipFile, record: str) -> None:
    info = _info(record)
    info.file_size = archive.size(record)
    with copied.open(info, "w", force_zip64=info.file_size >= 2**31) as target:
        for part in archive.chunks(record):
            target.write(part)


def _write(copied: zipfile.ZipFile, record: str, content: bytes) -> None:
    copied.writestr(_info(record), content)


def _info(record: str) -> zipfile.ZipInfo:
    return zipfile.ZipInfo(f"{_ROOT}/{record}", _WHEN)


def _json(content: object) -> bytes:
    return json.dumps(content).encode()
