"""MLflow's own UI in a real browser: the link opens on the front, and a tag set there is a pick."""

from __future__ import annotations

import pytest
from mlflow import MlflowClient

from autotune.testing.sample_search import sample_front, sample_records, sample_search
from autotune_trials.mlflow_tracker import MlflowTracker

pytestmark = pytest.mark.filterwarnings(
    "ignore:The ``noload`` loader strategy is deprecated"
)  # mlflow 3.17, SQLAlchemy 2.1

_LOADING_MS = 60_000


def test_the_link_opens_on_the_front_and_a_run_is_picked_by_hand(chromium, tmp_path, server):
    search = sample_search(tmp_path / "run", search_id="looked-at", stem="looked-at")
    MlflowTracker.sync(search, sample_records(), sample_front(search), "**Use t0002**", {}, server, tmp_path / "run")
    reader = MlflowTracker.reader(server)
    page = chromium.new_page(viewport={"width": 1700, "height": 1400})
    page.set_default_timeout(_LOADING_MS)
    page.goto(reader.ui_link(server, search.id))
    page.wait_for_selector(".scatterlayer path.point")
    names = page.locator("a[href*='/runs/']").all_inner_texts()
    assert {name.partition(" ")[0] for name in names if name.strip()} == {"baseline", "t0001", "t0002"}
    assert "t0002 · knee" in names

    page.get_by_role("link", name="t0002 · knee").first.click()
    tags = page.get_by_text("autotune.picked")
    tags.locator("xpath=ancestor::*[.//button][1]").locator("button").last.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("combobox").fill("autotune.picked")
    page.keyboard.press("Enter")
    dialog.get_by_label("Value").fill("yes")
    dialog.get_by_label("Add tag").click()
    dialog.get_by_role("button", name="Save tags").click()
    dialog.wait_for(state="hidden")
    page.close()
    (picked,) = reader.picked(search.id)
    assert picked.point == "t0002"
    MlflowClient(server).delete_tag(picked.run_id, "autotune.picked")  # others use this server
