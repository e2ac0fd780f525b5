"""What a person and a script are told of every search space, without a model at hand."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from autotune import plugins
from autotune.api.spaces_here import spaces_here
from autotune.cli.main import app
from autotune.core.errors import UserError
from autotune.core.listed import ListedSpace

NAMES = plugins.names("search_spaces")


def said(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["spaces", *arguments], env={"COLUMNS": "80"})
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture(scope="module")
def listed() -> dict[str, ListedSpace]:
    return {space.name: space for space in spaces_here()}


def test_every_space_says_which_models_it_is_for_and_what_it_holds_or_what_is_missing(
    listed: dict[str, ListedSpace],
) -> None:
    assert set(listed) == set(NAMES)
    for space in listed.values():
        assert space.models
        assert bool(space.parameters) is bool(space.devices)
        assert space.parameters or any("pip install" in one.reason for one in space.omissions)
        assert not any(word in space.about for word in ("Compose", "Return", "``"))


@pytest.mark.parametrize("name", NAMES)
def test_the_text_keeps_to_80_columns_and_names_every_value_and_condition(
    name: str, listed: dict[str, ListedSpace]
) -> None:
    text = said(name)
    assert max(map(len, text.splitlines())) <= 80
    joined = " ".join(text.split())
    for one in listed[name].parameters:
        assert f"{one.parameter.name}: " in joined
        assert all(str(value) in joined for value in one.parameter.choices)
        assert all(needed in joined for needed in one.parameter.requires)
        assert all(load in joined for load in one.loads)


def test_the_overview_keeps_to_80_columns_and_shows_the_way_on() -> None:
    text = said()
    assert max(map(len, text.splitlines())) <= 80
    assert all(f"{name}: " in text for name in NAMES)
    assert "--dry-run" in text


def test_what_only_some_loads_bring_and_what_needs_data_is_said() -> None:
    text = " ".join(said("onnx").split())
    assert "only under a workload such as server seconds that a request may wait" in text
    assert "int8_static: only with --data" in text
    assert "only under a workload such as rag" in " ".join(said("language").split())


def test_a_script_gets_all_of_it() -> None:
    found = json.loads(said("--json"))
    assert found["schema"] == "autotune/spaces/1"
    onnx = next(space for space in found["spaces"] if space["name"] == "onnx")
    parameters = {one["parameter"]["name"]: one["parameter"] for one in onnx["parameters"]}
    assert "int8_dynamic" in parameters["precision"]["choices"]
    assert "int8_dynamic" in parameters["int8_per_channel"]["requires"]["precision"]


def test_a_name_that_is_none_is_refused_with_the_nearest() -> None:
    with pytest.raises(UserError, match="'onnx'"):
        spaces_here(["onx"])
