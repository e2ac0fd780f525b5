"""The page of odd models names tests: they must be there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_test_that_the_page_names_is_there() -> None:
    named = set(re.findall(r"`(test_\w+)`", (ROOT / "docs/robustness.md").read_text(encoding="utf-8")))
    files = (ROOT / "tests").rglob("test_*.py")
    defined = {name for file in files for name in re.findall(r"def (test_\w+)\(", file.read_text(encoding="utf-8"))}
    assert named
    assert named <= defined, named - defined
