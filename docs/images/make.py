"""Makes the README's pictures from a finished search: the terminal, the report, MLflow, the front.

    python docs/images/make.py RUN          # RUN: a run folder, searched with tracking

Needs `pip install -e '.[test]'` and a Chromium (`apt install chromium`, or AUTOTUNE_CHROMIUM=/path/to/it).
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console

from autotune import plugins
from autotune.api.reporting import write_report
from autotune.api.run import read_front
from autotune.report import plot_front, print_front
from autotune.runs.folder import RunFolder

HERE = Path(__file__).parent
COLUMNS = 92
WINDOW = {"width": 1280, "height": 900}
WAIT_MS = 60_000


def main() -> None:
    """Write every picture beside this file."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("run", type=Path)
    options.add_argument("-o", "--output", type=Path, default=HERE)
    asked = options.parse_args()
    folder, to = RunFolder.open(asked.run), asked.output
    to.mkdir(parents=True, exist_ok=True)
    front = read_front(folder)
    terminal(folder, to / "terminal.svg")
    plot_front(front, to / "front.png", *[goal.metric for goal in front.objectives[:2]])
    with chromium() as browser:
        report(browser, write_report(folder, front), to)
        if folder.search.tracking.enabled:
            mlflow(browser, folder, to / "mlflow.png")
    print(*sorted(file.name for file in to.glob("*.*g")))


def terminal(folder: RunFolder, to: Path) -> None:
    """What `autotune front RUN` prints, as a picture that is text."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True, highlight=False)
    named = Path("autotune-runs") / folder.path.name
    console.print(f"$ autotune front {named}", markup=False)
    print_front(read_front(folder), console, named)
    console.save_svg(str(to), title="autotune")


def report(browser: Any, file: Path, to: Path) -> None:
    """The report in both colours, its recommended point chosen."""
    for scheme in ("light", "dark"):
        page = browser.new_page(color_scheme=scheme, viewport=WINDOW)
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


@contextlib.contextmanager
def served(folder: RunFolder) -> Iterator[str]:
    """MLflow's UI on the run's store; yields the link to the search."""
    reader = plugins.tracker_factory("mlflow").reader(folder.search.tracking.uri)
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port = listening.getsockname()[1]
    command, host = reader.ui_command(port), f"http://127.0.0.1:{port}"
    if not command:
        yield reader.ui_link(reader.address(), folder.search.id)
        return
    with tempfile.TemporaryFile() as log:
        server = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            answered(host)
            yield reader.ui_link(host, folder.search.id)
        finally:
            server.terminate()
            server.wait(30)


def answered(host: str, limit_s: float = 90.0) -> None:
    """Wait until the server answers. Raises ``TimeoutError``."""
    until = time.monotonic() + limit_s
    while time.monotonic() < until:
        with contextlib.suppress(OSError), urllib.request.urlopen(f"{host}/health", timeout=2):
            return
        time.sleep(0.2)
    raise TimeoutError(f"{host} does not answer")


@contextlib.contextmanager
def chromium() -> Iterator[Any]:
    """A headless Chromium that is installed."""
    from playwright.sync_api import sync_playwright

    program = os.environ.get("AUTOTUNE_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        raise SystemExit("no Chromium here: apt install chromium, or set AUTOTUNE_CHROMIUM")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


if __name__ == "__main__":
    main()
