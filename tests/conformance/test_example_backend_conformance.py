"""The backend that CONTRIBUTING shows: its own tests, and the space of a search with it as an installed package."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from autotune.testing.onnx_models import mlp

EXAMPLE = Path(__file__).parents[2] / "examples" / "backend"


@pytest.fixture(scope="module", autouse=True)
def importable():
    """Its package, in this process and in the sessions' processes."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(EXAMPLE), before]))
    yield
    os.environ.pop("PYTHONPATH")
    if before is not None:
        os.environ["PYTHONPATH"] = before


def _suite():
    sys.path.insert(0, str(EXAMPLE))
    spec = importlib.util.spec_from_file_location("example_backend_tests", EXAMPLE / "test_reference.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.path.remove(str(EXAMPLE))
    return module.TestReference


class TestExampleBackend(_suite()):
    pass


def test_a_search_finds_it_by_its_entry_point(tmp_path):
    installed = tmp_path / "site" / "autotune_reference-0.1.dist-info"
    installed.mkdir(parents=True)
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: autotune-reference\nVersion: 0.1\n")
    points = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]["entry-points"]
    listed = "".join(
        f"[{group}]\n" + "".join(f"{n} = {v}\n" for n, v in each.items()) for group, each in points.items()
    )
    (installed / "entry_points.txt").write_text(listed)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "autotune", "search", str(mlp(tmp_path / "mlp.onnx"))),
            *("--backend", "reference", "--dry-run"),
        ],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": f"{installed.parent}{os.pathsep}{os.environ['PYTHONPATH']}"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert "garbage_collection: True, False" in done.stdout
