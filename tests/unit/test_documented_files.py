"""The files that the documentation shows are read by what it says reads them, and its messages are those of the code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest
import yaml

from autotune import plugins
from autotune.api.prepare import prepare
from autotune.api.settings import SearchSettings
from autotune.core.ports import Simulating
from autotune.core.space import SearchSpace
from autotune.searching.scenario_file import parse_scenario
from autotune.searching.space_file import narrow
from autotune.searching.workload_file import read_workload_file

ROOT = Path(__file__).parents[2]
DIGITS = ROOT / "examples" / "digits"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def shown(first_key: str) -> list[object]:
    """Every YAML on a page that begins with such a key, fenced or indented."""
    return [
        pytest.param(text, id=f"{page.relative_to(ROOT)}:{number}")
        for page in PAGES
        for number, text in enumerate(_blocks(page.read_text()))
        if first_key in (yaml.safe_load(text) or {})
    ]


def _blocks(page: str) -> Iterator[str]:
    yield from re.findall(r"^```yaml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    for block in re.findall(r"(?:^    .*\n)+", page, re.MULTILINE):
        if re.match(r"(model|base|device): ?", dedent(block)):
            yield dedent(block)


@pytest.fixture(scope="module")
def space() -> SearchSpace:
    """Of the shipped model with its data: whatever a page narrows is in it."""
    settings = SearchSettings(
        model=DIGITS / "model.onnx", data=str(DIGITS / "test.npz"), backends=("onnxruntime",), tracking=False
    )
    return prepare(settings).search.space


@pytest.mark.parametrize("text", shown("base"))
def test_spaces_narrow_what_there_is(text: str, space: SearchSpace) -> None:
    content = yaml.safe_load(text)
    if content["base"] == "onnx":
        found = narrow(space, text, "page")
        assert found.parameters != space.parameters
    else:
        assert content["base"] in plugins.names("search_spaces")


@pytest.mark.parametrize("text", shown("phases"))
def test_workloads_are_read(text: str, tmp_path: Path) -> None:
    file = tmp_path / "workload.yaml"
    file.write_text(text)
    assert read_workload_file(file).phases


@pytest.mark.parametrize("text", shown("peak"))
def test_devices_are_read_and_are_as_short_as_is_said(text: str, tmp_path: Path) -> None:
    file = tmp_path / "card.yaml"
    file.write_text(text)
    backend = plugins.backend("simulated")
    assert isinstance(backend, Simulating)
    device = backend.simulated_device(str(file))
    assert (device.name, device.kind) == (yaml.safe_load(text)["name"], "simulated")
    assert len([line for line in text.splitlines() if line and not line.startswith("#")]) <= 10


@pytest.mark.parametrize("text", shown("model"))
def test_scenarios_are_read(text: str) -> None:
    assert parse_scenario(text, "page.yaml").model


def test_every_kind_of_file_is_shown_somewhere() -> None:
    assert all(shown(key) for key in ("base", "phases", "peak", "model"))


def test_messages_that_are_explained_are_still_said() -> None:
    page = (ROOT / "docs" / "messages.md").read_text()
    said = re.findall(r"^\*\*\"(.+?)\"\*\*", page, re.MULTILINE)
    code = "".join(file.read_text() for file in sorted((ROOT / "autotune").rglob("*.py")))
    code = re.sub(r'"\s*\n\s*f?"', "", code)  # strings that go on in the next line
    parts = [part.strip() for message in said for part in message.split("…") if part.strip()]
    assert len(said) >= 8
    assert [part for part in parts if part not in code] == []
