"""What a stranger meets first, counted: the way to a front, from a folder of images to a deployment, and to a gate.

    python -m benchmarks.first_five_minutes [--json] [--quick] [--seed N]

Does what the README, docs/how-to/images.md and docs/gate.md say, to the letter where a page's words do not depend on whose
model it is. A fresh copy of the tree, a fresh environment, nothing from pip's cache: a dozen minutes. ``--quick`` takes this
environment and shorter searches.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from datetime import datetime
from pathlib import Path

import numpy as np
import yaml
from PIL import Image

from benchmarks.report import Figure, arguments, finish
from benchmarks.stranger import ROOT, action_step, flags, gate_workflow, main_command, page_commands, typed

BUDGET_S, QUICK_BUDGET_S = 120, 25
MOST_FLAGS, MOST_LINES = 4, 10
STEPS = "std=0.0625"  # of 8 x 8 pictures in 0..255 to the values 0..16 that the shipped model takes
QUICK_GATE = {"BUDGET": "20s", "MAX_BUDGET": "40s"}


def main() -> int:
    """Count and print."""
    asked = arguments(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        tree = copied(place / "autotune")
        figures = front_figures(tree, quick=asked.quick)
        programs = Path(sys.executable).parent if asked.quick else tree / ".venv" / "bin"
        figures += image_figures(place, programs, QUICK_BUDGET_S if asked.quick else BUDGET_S)
        figures += gate_figures(place, programs, quick=asked.quick)
    return finish("first_five_minutes", figures, as_json=asked.json)


def copied(to: Path) -> Path:
    """A copy of the files that version control knows."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, to / name)
    return to


def front_figures(tree: Path, *, quick: bool) -> list[Figure]:
    """The README's one line, from nothing to a front on the shipped model."""
    line = main_command()
    commands = line.split(" && ")
    if quick:
        shorter = re.sub(r"--budget \S+", f"--budget {QUICK_BUDGET_S}s", commands[-1])
        done = typed(shorter, tree, Path(sys.executable).parent)
    else:
        done = typed(line, tree, PIP_NO_CACHE_DIR="1")
    answered(done.code, done.output, line)
    (run,) = (tree / "autotune-runs").iterdir()
    began = datetime.fromisoformat(json.loads((run / "search.json").read_text())["created"]).timestamp()
    searched = (run / "front.json").stat().st_mtime - began
    minutes = done.took_s / 60
    return [
        Figure("to a front: lines to paste", 1.0, "", "at most 1", "\n" not in line),
        Figure("to a front: commands in it", float(len(commands))),
        Figure("to a front", minutes, "min", "at most 5 min", None if quick else minutes <= 5),
        Figure("  of which the environment", (done.took_s - searched) / 60, "min"),
        Figure("  of which the search", searched / 60, "min"),
        *([] if quick else [installed_figure(tree)]),
        Figure("  points on it", float(len(json.loads((run / "front.json").read_text())["points"]))),
    ]


def installed_figure(tree: Path) -> Figure:
    """What the line put into the environment that it made, beside what an empty one holds."""
    empty = tree.parent / "empty"
    typed(f"python3 -m venv {shlex.quote(str(empty))}", tree)
    added = (files_bytes(tree / ".venv") - files_bytes(empty)) / 1e9
    return Figure("  files that installing added", added, "GB", "at most 1.2 GB", added <= 1.2)


def files_bytes(folder: Path) -> int:
    """The sizes of all its files, links aside."""
    return sum(file.lstat().st_size for file in folder.rglob("*") if not file.is_symlink() and file.is_file())


def image_figures(place: Path, programs: Path, budget_s: int) -> list[Figure]:
    """The commands of docs/how-to/images.md, on the shipped model and its test images as a folder of pictures."""
    lines = page_commands("docs/how-to/images.md")
    counted = [flag for line in lines for flag in flags(line)]
    ours = place / "own"
    pictures(ours / "pictures")
    shutil.copyfile(ROOT / "examples" / "digits" / "model.onnx", ours / "classifier.onnx")
    codes, took_s = [], 0.0
    for line in lines:
        done = typed(filled(line, ours, budget_s), ours, programs)
        codes.append(done.code)
        took_s += done.took_s
        if done.code:
            print(done.output, file=sys.stderr)
            break
    python = sum(not line.startswith("autotune ") for line in lines)
    held = len(counted) <= MOST_FLAGS
    return [
        Figure(
            "images to a deployment: flags", f"{len(counted)} ({' '.join(counted)})", "", f"at most {MOST_FLAGS}", held
        ),
        Figure("images to a deployment: commands", float(len(lines))),
        Figure("images to a deployment: lines of Python", float(python), "", "0", python == 0),
        Figure("images to a deployment", took_s / 60, f"min, its search {budget_s} s of them"),
        Figure("images to a deployment: exit codes", str(codes), "", "kept: all 0", codes == [0] * len(lines)),
    ]


def filled(line: str, ours: Path, budget_s: int) -> str:
    """A line of the page with this model's own steps, a shorter budget, and the run folder's name completed."""
    words = shlex.split(line, comments=True)
    for option, value in (("--preprocess", STEPS), ("--budget", f"{budget_s}s")):
        if option in words:
            words[words.index(option) + 1] = value
    runs = sorted(str(run.relative_to(ours)) for run in ours.glob("autotune-runs/*"))
    return shlex.join(runs[-1] if word.startswith("autotune-runs/") else word for word in words)


def pictures(to: Path) -> None:
    """The shipped test images as PNG files, a sub-folder for each class."""
    with np.load(ROOT / "examples" / "digits" / "test.npz") as data:
        for number, (image, label) in enumerate(zip(data["image"], data["labels"], strict=True)):
            file = to / str(label) / f"{number:04d}.png"
            file.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(np.round(image[0] * (255 / 16)).astype(np.uint8)).save(file)


def gate_figures(place: Path, programs: Path, *, quick: bool) -> list[Figure]:
    """The workflow of docs/gate.md: its lines, and what the action that it names says of an unchanged model."""
    text = gate_workflow()
    lines = [line for line in text.splitlines() if line.strip()]
    (job,) = yaml.safe_load(text)["jobs"].values()
    given = next(step["with"] for step in job["steps"] if "/autotune@" in step["uses"])
    repository = place / "repository"
    shutil.copytree(place / "own" / "deploy", repository / given["baseline"])
    for source, name in (("model.onnx", given["model"]), ("test.npz", given["data"])):
        shutil.copyfile(ROOT / "examples" / "digits" / source, repository / name)
    script, variables = action_step(given)
    variables |= {"GITHUB_OUTPUT": str(place / "verdict")} | (QUICK_GATE if quick else {})
    done = typed(script, repository, programs, **variables)
    verdict = (place / "verdict").read_text().strip() if (place / "verdict").exists() else done.output
    held = len(lines) <= MOST_LINES
    return [
        Figure("a gate: lines of YAML, the whole file", float(len(lines)), "", f"at most {MOST_LINES}", held),
        Figure("a gate of an unchanged model", done.took_s / 60, "min"),
        Figure("  says", verdict, "", "not failed", done.code != 1),
    ]


def answered(code: int, output: str, line: str) -> None:
    """End the program, showing all that was printed, when a command did not end well."""
    if code:
        sys.exit(f"{line}\nexited with {code}:\n{output}")


if __name__ == "__main__":
    os.environ.setdefault("NO_COLOR", "1")
    sys.exit(main())
