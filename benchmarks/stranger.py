"""What a stranger is told to type, read out of the pages that tell it, and a shell to type it in."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

__all__ = ["ROOT", "Typed", "action_step", "flags", "gate_workflow", "main_command", "page_commands", "typed"]

ROOT = Path(__file__).parents[1]
_OURS = ("MLFLOW_", "AUTOTUNE_", "GITHUB_", "PYTHON", "VIRTUAL_ENV", "COLUMNS")


@dataclass(frozen=True)
class Typed:
    """What became of one command: ``code`` is its exit status, ``took_s`` its wall time, ``output`` all that it printed."""

    code: int
    took_s: float
    output: str


def typed(line: str, cwd: Path, programs: Path | None = None, **variables: str) -> Typed:
    """Run ``line`` in bash as somebody who has nothing of this process's environment would.

    ``programs``: a folder that comes first on the PATH; None: what the system has, without this interpreter's own.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
    mine = str(Path(sys.executable).parent)
    path = [folder for folder in kept.get("PATH", os.defpath).split(os.pathsep) if folder != mine]
    kept["PATH"] = os.pathsep.join([*([str(programs)] if programs else []), *path])
    began = time.monotonic()
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-euo", "pipefail", "-c", line],
        cwd=cwd,
        env=kept | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return Typed(done.returncode, time.monotonic() - began, done.stdout)


def main_command() -> str:
    """The one line that the README gives to start with."""
    found = re.search(r"<!-- main command -->\n```bash\n(.*?)\n```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert found is not None, "README.md has no main command"
    return found[1]


def page_commands(page: str) -> list[str]:
    """The lines of the first block of commands on a page."""
    found = re.search(r"^```bash\n(.*?)^```", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)
    assert found is not None, f"{page} has no commands"
    return found[1].splitlines()


def flags(line: str) -> list[str]:
    """The options of a command, without their values."""
    return [word for word in shlex.split(line, comments=True) if word.startswith("-")]


def gate_workflow() -> str:
    """The workflow that docs/gate.md tells to add to a repository."""
    blocks = re.findall(r"^```yaml\n(.*?)^```", (ROOT / "docs" / "gate.md").read_text(), re.MULTILINE | re.DOTALL)
    return next(str(block) for block in blocks if "/autotune@" in block)


def action_step(given: dict[str, str]) -> tuple[str, dict[str, str]]:
    """The shell of the action's gate and its variables, with ``given`` inputs and defaults for the others.

    Raises ``KeyError`` for an input that the action does not have.
    """
    action: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
    inputs = {name: str(entry.get("default", "")) for name, entry in action["inputs"].items()}
    unknown = given.keys() - inputs.keys()
    if unknown:
        raise KeyError(f"action.yml has no input {', '.join(sorted(unknown))}")
    step = next(step for step in action["runs"]["steps"] if step.get("id") == "gate")
    chosen = inputs | given
    variables = {
        name: chosen[text.removeprefix("${{ inputs.").removesuffix(" }}")] for name, text in step["env"].items()
    }
    return step["run"], variables
