"""What a user's commands run in, and what they leave."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def environment() -> Mapping[str, str]:
    """Variables of a process: this one's, without settings of MLflow's or Ray's, and a terminal of 100 columns."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MLFLOW_", "RAY_"))}
    return kept | {"COLUMNS": "100"}


@pytest.fixture(scope="session")
def journal() -> Callable[[Path], list[dict[str, Any]]]:
    """Reads the records of a run folder's journal, as anybody's script does."""

    def read(run: Path) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (run / "journal.jsonl").read_text().splitlines()[1:]]

    return read
