"""A headless Chromium, where there is one."""

from __future__ import annotations

import os
import shutil

import pytest


@pytest.fixture(scope="session")
def chromium():
    """Playwright's browser, driving an installed Chromium. Skips, with the reason, where either is missing."""
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
