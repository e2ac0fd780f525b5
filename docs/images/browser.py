"""A headless Chromium, and MLflow's UI for it to look at."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from typing import Any

from autotune import plugins
from autotune.runs.folder import RunFolder

__all__ = ["chromium", "served"]


@contextlib.contextmanager
def chromium() -> Iterator[Any]:
    """One that is installed. Ends the program, saying how to get it, where there is none."""
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
            _await(host)
            yield reader.ui_link(host, folder.search.id)
        finally:
            server.terminate()
            server.wait(30)


def _await(host: str, limit_s: float = 90.0) -> None:
    """Wait until the server answers. Raises ``TimeoutError``."""
    until = time.monotonic() + limit_s
    while time.monotonic() < until:
        with contextlib.suppress(OSError), urllib.request.urlopen(f"{host}/health", timeout=2):
            return
        time.sleep(0.2)
    raise TimeoutError(f"{host} does not answer")
