from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.core.errors import UserError
from autotune.models import read_model
from autotune.models.pt2_facts import largest_batch
from autotune.models.pt2_plain import write_plain
from autotune.models.pt2_sizes import plain_size, renamed
from autotune.models.pt2_tree import leaf_names
from autotune.testing import pt2_programs

LEAF = {"type": None, "context": None, "children_spec": []}
DICT = json.dumps([1, {"type": "builtins.dict", "context": '["logits"]', "children_spec": [LEAF]}])


def node(context: str, *children: dict[str, Any]) -> dict[str, Any]:
    return {"type": "builtins.tuple", "context": context, "children_spec": list(children)}


def test_a_program_is_described_by_its_archive(tmp_path: Path) -> None:
    facts = read_model(pt2_programs.save(tmp_path / "m.pt2"))
    (x,), (y,) = facts.inputs, facts.outputs
    assert (facts.format, facts.files, facts.weight_bytes) == ("pt2", ("m.pt2",), 60)
    assert (x.name, x.dtype, x.shape) == ("x", "float32", ("batch", 4))
    assert (y.name, y.shape) == ("output", ("batch", 3))
    assert facts.operators == {"aten.linear": 1}
    assert (facts.batch.symbol, facts.dims) == ("batch", {"batch": 1})


def test_reading_a_program_imports_no_torch(tmp_path: Path) -> None:
    path = pt2_programs.save(tmp_path / "m.pt2")
    code = f"import sys, pathlib, autotune.models as m; m.read_model(pathlib.Path({str(path)!r}))"
    code += "; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_outputs_are_called_as_the_program_returns_them(tmp_path: Path) -> None:
    program = pt2_programs.content(out_spec=DICT)
    facts = read_model(pt2_programs.save(tmp_path / "m.pt2", pt2_programs.records(program)))
    assert [one.name for one in facts.outputs] == ["logits"]


@pytest.mark.parametrize(
    ("spec", "names"),
    [
        (LEAF, ["output"]),
        (node("null", LEAF, LEAF), ["output_0", "output_1"]),
        (node('["a", "a_0"]', node("null", LEAF, LEAF), LEAF), ["a_0", "a_1", "a_0_2"]),
    ],
)
def test_names_of_leaves_differ(spec: dict[str, Any], names: list[str]) -> None:
    assert leaf_names(json.dumps([1, spec])) == names


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("Symbol('s40', positive=True, integer=True)", "s40"),
        ("Add(Symbol('s40', integer=True), Integer(1))", "s40 + 1"),
        ("Mul(Integer(2), Symbol('s40', integer=True))", "2 * s40"),
        ("FloorDiv(s40, 2)", "s40 // 2"),
    ],
)
def test_sizes_are_written_as_people_write_them(written: str, plain: str) -> None:
    assert plain_size(written) == plain
    assert renamed(plain, {"s40": "batch"}) == plain.replace("s40", "batch")


def test_the_largest_batch_is_what_it_was_exported_for(tmp_path: Path) -> None:
    assert largest_batch(pt2_programs.save(tmp_path / "m.pt2")) == 64


def test_a_size_beyond_what_was_exported_is_refused(tmp_path: Path) -> None:
    path = pt2_programs.save(tmp_path / "m.pt2")
    with pytest.raises(UserError, match="1 to 64"):
        read_model(path, {"batch": 65})


def test_a_program_for_two_samples_and_more_has_no_batch(tmp_path: Path) -> None:
    program = pt2_programs.content()
    program["range_constraints"]["s40"]["min_val"] = 2
    facts = read_model(pt2_programs.save(tmp_path / "m.pt2", pt2_programs.records(program)))
    assert (facts.batch.symbol, facts.dims) == (None, {"batch": 2})
    assert "2 samples and more" in facts.batch.reason


def test_ids_lie_within_the_table_that_they_point_into(tmp_path: Path) -> None:
    program = pt2_programs.content()
    node = program["graph_module"]["graph"]["nodes"][0]
    node["target"] = "torch.ops.aten.embedding.default"
    node["inputs"] = [node["inputs"][1], node["inputs"][0]]
    facts = read_model(pt2_programs.save(tmp_path / "m.pt2", pt2_programs.records(program)))
    assert (facts.inputs[0].low, facts.inputs[0].high) == (0, 2)


def test_the_plain_copy_describes_the_same_and_holds_nothing_else(tmp_path: Path) -> None:
    program = pt2_programs.content(out_spec=DICT)
    program["guards_code"] = ["__import__('os').system('true')"]
    program["graph_module"]["graph"]["nodes"][0]["metadata"] = {"stack_trace": "secret"}
    found = pt2_programs.records(program) | {"data/sample_inputs/model.pt": b"pickle", "extra/notes.txt": b"mine"}
    path = pt2_programs.save(tmp_path / "m.pt2", found)
    copies = [tmp_path / "a.pt2", tmp_path / "b.pt2"]
    for target in copies:
        write_plain(path, target)
    before, after = read_model(path), read_model(copies[0])
    assert (after.inputs, after.outputs, after.weight_bytes) == (before.inputs, before.outputs, before.weight_bytes)
    content = copies[0].read_bytes()
    assert content == copies[1].read_bytes()
    assert not any(word in content for word in (b"__import__", b"secret", b"pickle\n", b"mine"))
    assert zipfile.ZipFile(copies[0]).read("program/data/sample_inputs/model.pt") == b""


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where something lies in JSON: the keys and positions that lead there."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, found in inside:
        yield (*path, key)
        yield from places(found, (*path, key))


@settings(deadline=None, max_examples=200)
@given(
    place=st.sampled_from(list(places(pt2_programs.content()))),
    wrong=st.sampled_from([None, -1, 1.5, "a", [], {}, [1], True]),
)
def test_a_graph_of_another_form_is_read_or_refused_but_never_a_bug(
    place: tuple[Any, ...], wrong: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    program: Any = pt2_programs.content()
    holder = program
    for key in place[:-1]:
        holder = holder[key]
    holder[place[-1]] = wrong
    path = pt2_programs.save(tmp_path_factory.getbasetemp() / "formless.pt2", pt2_programs.records(program))
    with suppress(UserError):
        write_plain(path, path.with_name("copy.pt2"))
        read_model(path)


@settings(deadline=None)
@given(st.data())
def test_a_damaged_program_is_read_or_refused_but_never_a_bug(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = pt2_programs.save(tmp_path_factory.getbasetemp() / "damaged.pt2")
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(content)
    with suppress(UserError):
        read_model(path)
