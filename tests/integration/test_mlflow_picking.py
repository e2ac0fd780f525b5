"""MLflow's own UI in a real browser: the link opens on the front, and a run is picked there in three clicks."""

from __future__ import annotations

import pytest

from autotune.testing.sample_search import sample_front, sample_records, sample_search
from autotune_trials import mlflow_writer
from autotune_trials.mlflow_tracker import MlflowTracker

pytestmark = pytest.mark.filterwarnings(
    "ignore:The ``noload`` loader strategy is deprecated"
)  # mlflow 3.17, SQLAlchemy 2.1

_LOADING_MS = 60_000
_COUNTING = "window.clicks = 0; addEventListener('pointerdown', () => window.clicks += 1, true)"
_WINDOW = {"width": 1700, "height": 1400}


@pytest.fixture
def ui(chromium):
    """A page that counts clicks."""
    page = chromium.new_page(viewport=_WINDOW)
    page.set_default_timeout(_LOADING_MS)
    page.add_init_script(_COUNTING)
    yield page
    page.close()


def tracked(folder, server, search_id):
    search = sample_search(folder / "run", search_id=search_id, stem=search_id)
    MlflowTracker.sync(search, sample_records(), sample_front(search), "**Use t0002**", {}, server, folder / "run")
    return MlflowTracker.reader(server)


def tick(ui, name):
    """Click the box before the run of that name."""
    row = ui.locator(".ag-row", has=ui.get_by_role("link", name=name)).first.get_attribute("row-index")
    ui.locator(f".ag-row[row-index='{row}'] input[type=checkbox]").first.click()


def rename_to(ui, name):
    ui.get_by_role("button", name="Rename").click()
    dialog = ui.get_by_role("dialog")
    dialog.get_by_test_id("rename-modal-input").wait_for()
    ui.keyboard.type(name)
    dialog.get_by_role("button", name="Save").click()
    dialog.wait_for(state="hidden")


def test_the_link_opens_on_the_front_and_a_run_is_picked_in_three_clicks(ui, tmp_path, server):
    reader = tracked(tmp_path, server, "looked-at")
    ui.goto(reader.ui_link(server, "looked-at"))
    ui.wait_for_selector(".scatterlayer path.point")
    names = [name for name in ui.locator("a[href*='/runs/']").all_inner_texts() if name.strip()]
    assert set(names) == {"baseline", "t0001 · front", "t0002 · knee"}
    tick(ui, "t0002 · knee")
    rename_to(ui, "*")
    assert [picked.point for picked in reader.picked("looked-at")] == ["t0002"]
    assert ui.evaluate("window.clicks") == 3


def test_without_a_format_of_views_that_is_known_the_runs_are_listed_and_picked_all_the_same(
    ui, tmp_path, server, monkeypatch
):
    monkeypatch.setattr(mlflow_writer, "views_work", lambda version: False)
    reader = tracked(tmp_path, server, "plain")
    link = reader.ui_link(server, "plain")
    assert "viewState" not in link
    ui.goto(link)
    tick(ui, "t0001 · front")
    rename_to(ui, "t0001 *")
    assert [picked.point for picked in reader.picked("plain")] == ["t0001"]
    assert ui.evaluate("window.clicks") == 3
