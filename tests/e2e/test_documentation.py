"""What the documentation tells people to type."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer.main
import yaml

from autotune.cli.main import app
from benchmarks.stranger import action_step, flags, gate_workflow, page_commands

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "examples").rglob("README.md"))]


def blocks(page: Path) -> Iterator[str]:
    yield from re.findall(r"^```bash\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
    yield from re.findall(r"(?:^    autotune .*\n)+", page.read_text(), re.MULTILINE)


def commands(page: Path) -> Iterator[list[str]]:
    """The arguments of each command, in the page's order."""
    for block in blocks(page):
        for line in re.split(r"\n|&&|\|\|", block):
            words = shlex.split(line, comments=True)
            if words[:1] == ["autotune"] and "…" not in words:
                yield words[1:]


DOCUMENTED = [
    pytest.param(words, id=f"{page.relative_to(ROOT)}: {' '.join(words)[:60]}")
    for page in PAGES
    for words in commands(page)
]


@pytest.mark.parametrize("words", DOCUMENTED)
def test_each_documented_command_exists_with_its_options(words: list[str]) -> None:
    group = typer.main.get_command(app)
    with group.make_context("autotune", list(words)) as context:
        name, command, rest = group.resolve_command(context, [*context._protected_args, *context.args])
        assert command is not None
        command.make_context(name, rest, parent=context)


def test_a_folder_of_images_becomes_a_verified_deployment_with_four_flags_and_no_python() -> None:
    lines = page_commands("docs/how-to/images.md")
    assert [line.split()[:2] for line in lines] == [["autotune", step] for step in ("search", "export", "verify")]
    assert sum(len(flags(line)) for line in lines) <= 4


def test_a_gate_is_a_file_of_ten_lines_whose_inputs_the_action_has() -> None:
    text = gate_workflow()
    assert len([line for line in text.splitlines() if line.strip()]) <= 10
    (job,) = yaml.safe_load(text)["jobs"].values()
    script, variables = action_step(job["steps"][-1]["with"])
    assert "autotune gate" in script
    assert (variables["MODEL"], variables["BASELINE"]) == ("model.onnx", "baseline")
