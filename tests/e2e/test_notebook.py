"""The example notebook: its cells run in order, with fewer trials than a reader would give it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_every_cell_runs_and_the_front_draws_itself(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES / "digits", tmp_path / "digits")
    notebook = json.loads((EXAMPLES / "notebook.ipynb").read_text())
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    program = "\n".join(cells)
    assert program.count("trials=12") == 1
    checks = "assert run.front.plot()._repr_png_().startswith(b'\\x89PNG')\nassert '|' in run.front._repr_markdown_()\n"
    checks += (
        "assert sum(record.trial.purpose != 'front' for record in run.records()) == 1\nassert logits.shape == (1, 10)\n"
    )
    script = program.replace("trials=12", "trials=1").replace('budget="2m"', 'budget="10s"') + f"\n{checks}"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=200, check=False
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "notebook-run" / "report.html").is_file()
    assert (tmp_path / "notebook-run" / "energy.png").stat().st_size > 1000


def test_it_is_kept_without_outputs() -> None:
    notebook = json.loads((EXAMPLES / "notebook.ipynb").read_text())
    assert not any(cell.get("outputs") for cell in notebook["cells"])
