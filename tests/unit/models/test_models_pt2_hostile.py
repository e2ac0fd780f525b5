"""Files that would run code in PyTorch's own loader, and files that are no programs: refused before PyTorch sees them."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from autotune.core.errors import UserError
from autotune.models import read_model
from autotune.models.pt2_plain import write_plain
from autotune.testing.pt2_programs import content, meta, payload, records, save

CALL = "__import__('os').system('touch owned')"


class Payload:
    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return eval, (CALL,)


def graph(**changes: Any) -> dict[str, bytes]:
    """The program with its only node changed."""
    program = content()
    program["graph_module"]["graph"]["nodes"][0].update(changes)
    return records(program)


def sized(expression: str) -> dict[str, bytes]:
    program = content()
    program["graph_module"]["graph"]["tensor_values"]["x"]["sizes"][0]["as_expr"]["expr_str"] = expression
    return records(program)


def bounded(symbol: str) -> dict[str, bytes]:
    program = content()
    program["range_constraints"] = {symbol: {"min_val": 1, "max_val": 2}}
    return records(program)


def weights(**changes: Any) -> dict[str, bytes]:
    config = {"weight": payload("weight_0", [3, 4]) | changes, "bias": payload("weight_1", [3])}
    return records(weights=config)


PICKLED = pickle.dumps(Payload())
CODE: dict[str, dict[str, bytes]] = {
    "pickled weights": weights(use_pickle=True) | {"data/weights/weight_0": PICKLED},
    "weights that do not say how they are kept": weights(use_pickle=None),
    "a pickled object among the constants": records()
    | {
        "data/constants/model_constants_config.json": json.dumps(
            {"config": {"c": payload("opaque_obj_0", [1])}}
        ).encode(),
        "data/constants/opaque_obj_0": PICKLED,
    },
    "weights of an older layout": records() | {"data/weights/model.pt": PICKLED},
    "constants of an older layout": records() | {"data/constants/model.pt": PICKLED},
    "a library": records() | {"data/aotinductor/model/x.so": b"\x7fELF"},
    "a function of the operating system": graph(target="torch.os.system"),
    "a loader": graph(target="torch.hub.load"),
    "an operator that reads files": graph(target="torch.ops.aten.from_file.default"),
    "an operator that writes files": graph(target="torch.ops.aten.save.default"),
    "an operator of an extension": graph(target="torch.ops.mine.run.default"),
    "an extension of the format": graph(target="#mine:run"),
    "an operator as an argument": graph(inputs=[{"name": "f", "arg": {"as_operator": "torch.os.system"}}]),
    "an object as an argument": graph(
        inputs=[{"name": "o", "arg": {"as_custom_obj": {"name": "o", "class_fqn": "a.B"}}}]
    ),
    "code for a size": sized(CALL),
    "code inside arithmetic": sized(f"Add(Symbol('s40'), {CALL})"),
    "code in a symbol's name": sized(f'Symbol("s40{CALL}")'),
    "an attribute for a size": sized("s40.__class__"),
    "a function for a size": sized("exec(s40)"),
    "a text for a size": sized("Integer('" + CALL.replace("'", '"') + "')"),
    "a tower of powers": sized("Pow(Pow(Integer(9), Integer(9)), Integer(9))"),
    "a tower of plain powers": sized("9**9**9**9"),
    "code for a symbol": bounded(CALL),
}
BROKEN: dict[str, dict[str, bytes]] = {
    "a record outside": records() | {"../owned": b"x"},
    "a record of an absolute path": records() | {"//owned": b"x"},
    "a record with backslashes": records() | {"a\\b": b"x"},
    "two folders": records() | {"/other/x": b"x"},
    "no program": {name: found for name, found in records().items() if name != "models/model.json"},
    "two programs": records() | {"models/second.json": b"{}"},
    "a program that is no JSON": records() | {"models/model.json": b"{"},
    "a program of endless depth": records() | {"models/model.json": b"[" * 100_000},
    "a program that is a list": records() | {"models/model.json": b"[]"},
    "another layout": records(content() | {"schema_version": {"major": 99}}),
    "a graph without values": records(content() | {"graph_module": {}}),
    "a tensor larger than its record": weights(tensor_meta=meta([300, 400])),
    "a tensor that begins before its record": weights(tensor_meta=meta([3, 4]) | {"storage_offset": {"as_int": -1}}),
    "a sparse tensor": weights(tensor_meta=meta([3, 4]) | {"layout": 1}),
    "a tensor in no record": weights(path_name="weight_9"),
}


@pytest.mark.parametrize("kind", CODE)
def test_a_program_that_could_run_code_is_refused_unloaded(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    refused(save(tmp_path / "m.pt2", CODE[kind]), "could run code")
    assert not (tmp_path / "owned").exists()


@pytest.mark.parametrize("kind", BROKEN)
def test_a_program_that_is_none_is_refused(kind: str, tmp_path: Path) -> None:
    refused(save(tmp_path / "m.pt2", BROKEN[kind]), "not an exported program")


def test_a_bomb_is_refused_unpacked(tmp_path: Path) -> None:
    found = records() | {"data/weights/weight_0": bytes(2**24)}
    refused(save(tmp_path / "m.pt2", found, compression=zipfile.ZIP_DEFLATED), "compressed")


def test_two_records_of_one_name_are_refused(tmp_path: Path) -> None:
    path = save(tmp_path / "m.pt2")
    with zipfile.ZipFile(path, "a") as file, pytest.warns(UserWarning, match="Duplicate"):
        file.writestr("program/models/model.json", b"{}")
    refused(path, "one name")


@pytest.mark.parametrize("written", [b"", b"hello", b"PK\x05\x06" + bytes(18)])
def test_what_is_no_archive_is_refused(written: bytes, tmp_path: Path) -> None:
    path = tmp_path / "m.pt2"
    path.write_bytes(written)
    refused(path, "not an exported program")


def test_the_command_says_so_in_two_lines(tmp_path: Path) -> None:
    save(tmp_path / "m.pt2", CODE["pickled weights"])
    command = [sys.executable, "-m", "autotune", "search", "m.pt2", "--dry-run"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) <= 2
    assert "could run code" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["m.pt2"]


def refused(path: Path, why: str) -> None:
    """By the reader, and by what writes the copy for PyTorch: the file may have changed in between."""
    for act in (read_model, lambda source: write_plain(source, path.with_name("copy.pt2"))):
        with pytest.raises(UserError, match=why) as raised:
            act(path)
        assert len(str(raised.value).splitlines()) <= 2
