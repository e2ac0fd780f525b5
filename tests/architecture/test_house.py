"""The shape of the house, beyond what the import contracts say."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import subprocess
import sys
import tomllib
from importlib.metadata import entry_points
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("autotune", "autotune_search_spaces", "autotune_backends", "autotune_trials")
SOURCES = sorted(
    path for folder in ("autotune", "search_spaces", "backends", "trials") for path in (ROOT / folder).rglob("*.py")
)
FORBIDDEN_NAMES = ("util", "utils", "helper", "helpers", "manager", "common", "misc")


def modules() -> list[str]:
    names = []
    for package in PACKAGES:
        root = importlib.import_module(package)
        names += [package, *(found.name for found in pkgutil.walk_packages(root.__path__, f"{package}."))]
    return names


def test_installed_entry_points_are_those_of_pyproject() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
    for group, entries in declared.items():
        installed = {entry.name: entry.value for entry in entry_points(group=group)}
        assert entries.items() <= installed.items(), f"run `pip install -e .` again: {group}"


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_source_files_are_small_and_named_for_a_concept(path: Path) -> None:
    assert path.stem not in FORBIDDEN_NAMES
    assert len(path.read_text().splitlines()) <= 350


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_bodies_of_functions_stay_below_forty_lines(path: Path) -> None:
    tree = ast.parse(path.read_text())
    long = {
        node.name: lines
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and (lines := (node.end_lineno or 0) - node.body[0].lineno + 1) > 40
    }
    assert not long


@pytest.mark.parametrize("name", [name for name in modules() if not name.endswith("__main__")])
def test_everything_a_module_exports_exists(name: str) -> None:
    module = importlib.import_module(name)
    exported = getattr(module, "__all__", ())
    missing = [item for item in exported if not hasattr(module, item)]
    assert not missing


@pytest.mark.parametrize("command", [["verify", "--help"], ["gate", "--help"], ["front", "--help"], ["--help"]])
def test_light_commands_import_none_of_the_heavy_packages(command: list[str]) -> None:
    program = (
        "import sys\n"
        "from autotune.cli.main import run\n"
        "try:\n"
        f"    run({command!r})\n"
        "except SystemExit:\n"
        "    pass\n"
        "heavy = {'ray', 'mlflow', 'optuna', 'torch', 'onnx', 'onnxruntime', 'scipy'} & set(sys.modules)\n"
        "sys.exit(','.join(heavy) or 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_gate_verify_and_load_need_neither_ray_nor_mlflow_nor_optuna() -> None:
    program = (
        "import sys\n"
        "import autotune.export.verifying, autotune.export.deployed, autotune.api.gating, autotune.gate.fronts\n"
        "sys.exit(','.join({'ray', 'mlflow', 'optuna'} & set(sys.modules)) or 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
