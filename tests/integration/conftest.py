"""What several tests share: a tracking server, and a headless Chromium where there is one."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request

import pytest


@pytest.fixture(scope="module")
def chromium():
    """Playwright's browser, driving an installed Chromium. Skips, with the reason, where either is missing.

    While it lives, an event loop counts as running in this thread: not for longer than a module.
    """
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install -e '.[test]'")
    program = os.environ.get("AUTOTUNE_CHROMIUM") or next(
        (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
    )
    if program is None:
        pytest.skip("no Chromium here: apt install chromium, or set AUTOTUNE_CHROMIUM")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page(chromium):
    """A page that must log no error and open no dialog; ``page.problems`` has what it did."""
    opened = chromium.new_page(viewport={"width": 1200, "height": 900})
    opened.problems = []
    opened.on("pageerror", lambda error: opened.problems.append(str(error)))
    opened.on("dialog", lambda dialog: (opened.problems.append(dialog.message), dialog.dismiss()))
    yield opened
    opened.close()


def free_port():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


def start_server(folder):
    port = free_port()
    command = [sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    stored = ["--backend-store-uri", f"sqlite:///{folder}/server.db", "--artifacts-destination", str(folder / "files")]
    quiet = {"MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "true", "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(
            [*command, *stored], env=os.environ | quiet, cwd=folder, stdout=log, stderr=log, start_new_session=True
        )
    return process, f"http://127.0.0.1:{port}"


def await_server(process, uri, limit_s=90.0):
    until = time.monotonic() + limit_s
    while time.monotonic() < until and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{uri}/health", timeout=2):
                return
        except OSError:
            time.sleep(0.2)
    raise AssertionError("the server did not start")


def stop_server(process):
    os.killpg(process.pid, signal.SIGKILL)  # asked to end, it waits for its clients first: for half a minute
    process.wait(30)


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("server")
    process, uri = start_server(folder)
    try:
        await_server(process, uri)
        yield uri
    finally:
        stop_server(process)
