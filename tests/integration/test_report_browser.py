"""The report in a real browser: what is clicked is what is shown."""

from __future__ import annotations

import html

import pytest

from autotune.report import ReportContent, report_html
from autotune.testing.sample_search import sample_front, sample_record, sample_records, sample_search

HOSTILE = "</script><img src=x onerror=alert(1)>"


@pytest.fixture
def report(tmp_path):
    search = sample_search(tmp_path)
    records = [*sample_records(), sample_record(8)]
    made = ReportContent(search, sample_front(search), records, "autotune-runs/digits", 30.0)
    file = tmp_path / "report.html"
    file.write_text(report_html(made))
    return file


def test_a_point_that_is_clicked_stands_beside_the_original_with_its_export_command(page, report):
    page.goto(report.as_uri())
    page.click('#scatter [data-point="t0001"] .mark')
    shown = page.inner_text("#chosen")
    for part in ("t0001", "the original", "latency p50", "autotune export autotune-runs/digits --point t0001 -o DIR"):
        assert part in shown
    assert page.locator("#chosen tr.differs").count() > 0
    page.click('#front tr[data-point="baseline"]')
    assert page.inner_text("#chosen h3") == "baseline"
    assert page.problems == []


def test_any_two_objectives_can_be_drawn_and_the_keyboard_chooses(page, report):
    page.goto(report.as_uri())
    page.select_option("#across", "energy")
    page.select_option("#up", "fidelity")
    assert "energy per item [mJ] ←" in page.locator("#scatter .title").all_text_contents()
    assert page.locator("#scatter .front .interval").count() == 4
    page.focus('#scatter [data-point="t0001"]')
    page.keyboard.press("Enter")
    assert page.inner_text("#chosen h3").startswith("t0001")
    tried = page.locator("#scatter .tried").count()
    page.uncheck("#tried")
    assert (tried > 0, page.locator("#scatter .tried").count()) == (True, 0)
    assert page.problems == []


def test_dragging_along_an_axis_filters_the_lines(page, report):
    page.goto(report.as_uri())
    axis = page.locator("#parallel .axis-area").first
    axis.scroll_into_view_if_needed()
    box = axis.bounding_box()
    lines = page.locator("#parallel [data-point]:not(.is-out)")
    before = lines.count()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=4)
    page.mouse.up()
    assert 0 < lines.count() < before
    axis.click()
    assert lines.count() == before
    assert page.problems == []


def test_a_line_that_is_clicked_is_the_point_that_is_shown_and_marked_in_the_scatter(page, report):
    page.goto(report.as_uri())
    drawn = page.locator("#parallel [data-point]")
    assert drawn.evaluate_all("lines => lines.at(-1).classList.contains('front')")  # above those that were only tried
    page.dispatch_event('#parallel [data-point="t0001"] .thread', "click")
    assert page.inner_text("#chosen h3").startswith("t0001")
    assert page.locator('#scatter [data-point="t0001"].is-chosen').count() == 1
    assert page.problems == []


def test_the_page_follows_the_readers_colours(page, report):
    page.emulate_media(color_scheme="dark")
    page.goto(report.as_uri())
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.emulate_media(color_scheme="light")
    assert dark != page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def test_a_hostile_name_runs_nothing_even_where_a_tracker_sandboxes_the_page(page, tmp_path):
    search = sample_search(tmp_path)
    model = search.model.model_copy(update={"path": tmp_path / HOSTILE.replace("/", "∕")})
    front = sample_front(search)
    points = tuple(
        point.model_copy(update={"candidate": point.candidate.with_(**{HOSTILE: HOSTILE})}) for point in front.points
    )
    made = ReportContent(
        search.model_copy(update={"model": model, "remarks": (HOSTILE,)}),
        front.model_copy(update={"points": points}),
        sample_records(),
        HOSTILE,
        30.0,
    )
    text = html.escape(report_html(made), quote=True)
    page.set_content(f'<iframe sandbox="allow-scripts" srcdoc="{text}" width="1100" height="800"></iframe>')
    frame = page.frame_locator("iframe")
    frame.locator('#scatter [data-point="t0001"] .mark').click()
    assert HOSTILE in frame.locator("#chosen").inner_text()
    assert frame.locator("img").count() == 0
    assert page.problems == []
