"""Searches the shipped model and makes the README's pictures and transcript from it: terminal, front, report, MLflow.

    python docs/images/make.py                     # two minutes of searching, then the pictures
    python docs/images/make.py -w FOLDER           # search in FOLDER and keep it; drawn again where it holds a search already

The search runs in a folder of its own, so that no path of this machine is in any picture. Needs `pip install -e '.[test]'`
and a Chromium (`apt install chromium`, or AUTOTUNE_CHROMIUM=/path/to/it).
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from browser import chromium, served
from terminal import SEARCH, terminal, transcript

from autotune.api.run import read_front
from autotune.report import plot_front
from autotune.runs.folder import RunFolder

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
WINDOW = {"width": 1280, "height": 900}
PAGE = {"width": 1280, "height": 1280}  # of the report: down to the scatter and the chosen point
WAIT_MS = 60_000


def main() -> None:
    """Search, then write every picture beside this file and the transcript into the README."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("-w", "--work", type=Path, help="folder to search in; default: a temporary one")
    options.add_argument("-o", "--output", type=Path, default=HERE, help="folder of the pictures")
    options.add_argument("--readme", type=Path, default=ROOT / "README.md")
    options.add_argument("--budget", default="2m", help="of the search: 2m is what the README says")
    asked = options.parse_args()
    to, readme = asked.output.resolve(), asked.readme.resolve()
    to.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        work = (asked.work or Path(scratch)).resolve()
        log = searched(work, asked.budget)
        with contextlib.chdir(work):  # MLflow's default store is here, and paths that are shown begin here
            (run,) = Path("autotune-runs").iterdir()
            folder = RunFolder.open(run)
            pictures(folder, run, log, to)
            transcript(folder, run, log, readme)
    print(*sorted(file.name for file in to.glob("*.*g")))


def searched(work: Path, budget: str) -> list[str]:
    """Search in ``work`` unless that was done; return what the search said on the way, line by line."""
    log = work / "search.log"
    if not log.exists():
        examples = work / "examples" / "digits"
        shutil.copytree(ROOT / "examples" / "digits", examples, dirs_exist_ok=True)
        words = [sys.executable, "-m", *SEARCH, "--budget", budget]
        unset = ("MLFLOW_TRACKING_URI", "COLUMNS", "FORCE_COLOR", "CLICOLOR_FORCE")
        plain = {name: value for name, value in os.environ.items() if name not in unset}
        with (work / "search.part").open("w") as writing:
            done = subprocess.run(words, cwd=work, env=plain, stdout=subprocess.DEVNULL, stderr=writing, check=False)
        if done.returncode:
            raise SystemExit((work / "search.part").read_text())
        (work / "search.part").rename(log)
    return log.read_text().splitlines()


def pictures(folder: RunFolder, run: Path, log: list[str], to: Path) -> None:
    """All of them. ``run``: the folder's path as it is shown."""
    front = read_front(folder)
    terminal(folder, run, log, to / "terminal.svg")
    plot_front(front, to / "front.png", *[goal.metric for goal in front.objectives[:2]])
    with chromium() as browser:
        report(browser, folder.layout.report.resolve(), to)
        mlflow(browser, folder, to / "mlflow.png")


def report(browser: Any, file: Path, to: Path) -> None:
    """The report in both colours, its recommended point chosen."""
    for scheme in ("light", "dark"):
        page = browser.new_page(color_scheme=scheme, viewport=PAGE)
        page.goto(file.as_uri())
        page.wait_for_selector("#chosen h3")
        page.screenshot(path=to / f"report-{scheme}.png", full_page=False)
        page.close()


def mlflow(browser: Any, folder: RunFolder, to: Path) -> None:
    """What `autotune ui RUN` opens on."""
    with served(folder) as link:
        page = browser.new_page(viewport=WINDOW)
        page.set_default_timeout(WAIT_MS)
        page.goto(link)
        page.wait_for_selector(".scatterlayer path.point")
        with contextlib.suppress(Exception):  # a panel that some versions open by themselves
            page.get_by_text("MLflow Assistant").locator("xpath=ancestor::*[.//button][1]").locator(
                "button"
            ).last.click(timeout=2000)
        page.wait_for_timeout(1500)
        page.screenshot(path=to)
        page.close()


if __name__ == "__main__":
    main()
