from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from autotune.testing.onnx_cases import twin_names, weight_as_input
from autotune.testing.onnx_models import mlp
from autotune_backends.transform.onnx.graph import load_graph
from autotune_backends.transform.onnx.node_names import fresh_names, rename_nodes
from autotune_backends.transform.onnx.repair import Repair
from autotune_backends.transform.onnx.true_inputs import drop_weight_inputs

NAMES = st.lists(st.sampled_from(["", "a", "a_2", "b", "node_0", "node_1", "node_1_2"]), max_size=12)


def renamed(names: list[str], *, unnamed: bool) -> list[str]:
    fresh = fresh_names(names, unnamed=unnamed)
    return [fresh.get(position, name) for position, name in enumerate(names)]


@given(NAMES)
def test_names_become_unique(names: list[str]) -> None:
    after = renamed(names, unnamed=True)
    assert len(set(after)) == len(after)
    assert "" not in after


@given(NAMES)
def test_first_holders_keep_their_names(names: list[str]) -> None:
    after = renamed(names, unnamed=False)
    for name in set(names):
        assert after[names.index(name)] == name


@given(NAMES)
def test_unnamed_nodes_stay_unnamed_when_the_runtime_accepts_them(names: list[str]) -> None:
    after = renamed(names, unnamed=False)
    assert [not name for name in names] == [not name for name in after]


def test_twins_are_renamed_with_a_map(tmp_path: Path) -> None:
    model = load_graph(twin_names(tmp_path / "m.onnx"))
    assert rename_nodes(model, unnamed=False) == {"twin_2": "twin"}
    assert [node.name for node in model.graph.node] == ["twin", "twin_2"]


def test_weights_leave_the_list_of_inputs(tmp_path: Path) -> None:
    model = load_graph(weight_as_input(tmp_path / "m.onnx"))
    assert drop_weight_inputs(model) == ["w0"]
    assert "w0" not in [value.name for value in model.graph.input]
    assert model.ir_version >= 4


def test_nothing_is_written_when_nothing_needs_repair(tmp_path: Path) -> None:
    change = Repair(for_quantiser=True)(mlp(tmp_path / "m.onnx"), tmp_path / "out.onnx")
    assert change.unchanged
    assert not (tmp_path / "out.onnx").exists()
