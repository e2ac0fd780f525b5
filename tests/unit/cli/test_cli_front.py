from __future__ import annotations

from pathlib import Path

import pytest

from autotune.cli.front import front
from autotune.core.errors import NothingFeasible
from autotune.runs.folder import RunFolder
from autotune.testing.sample_search import sample_front, sample_search


@pytest.mark.parametrize("as_json", [True, False])
def test_a_front_without_points_is_shown_and_ends_as_its_search_did(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], as_json: bool
) -> None:
    search = sample_search(tmp_path / "run")
    folder = RunFolder.create(tmp_path / "run", search)
    folder.write_front(
        sample_front(search).model_copy(update={"points": (), "knee": None, "limits": ("fidelity>=0.99",)})
    )
    with pytest.raises(NothingFeasible, match=r"fidelity>=0\.99"):
        front(folder.path, as_json=as_json)
    assert capsys.readouterr().out


def test_a_front_with_points_is_done(tmp_path: Path) -> None:
    search = sample_search(tmp_path / "run")
    folder = RunFolder.create(tmp_path / "run", search)
    folder.write_front(sample_front(search))
    assert front(folder.path) == 0
