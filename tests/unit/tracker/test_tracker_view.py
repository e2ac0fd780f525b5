from __future__ import annotations

import base64
import json
import zlib

import pytest

from autotune.testing.sample_search import sample_search
from autotune_trials.mlflow_note import NOTE_LENGTH, search_note
from autotune_trials.mlflow_view import experiment_link, share_key, view_tag, views_work


@pytest.fixture
def state(tmp_path):
    _, value = view_tag(sample_search(tmp_path), 7)
    return json.loads(zlib.decompress(base64.b64decode(json.loads(value)["state"].removeprefix("deflate;"))))


def test_the_view_is_a_tag_that_its_link_names(tmp_path):
    search = sample_search(tmp_path, search_id="a/b c")
    name, value = view_tag(search, 7)
    assert name == "mlflow.sharedViewState." + share_key(search.id)
    assert share_key(search.id) in experiment_link("http://h:1/", "3", search.id)
    assert len(value) < 20_000  # MAX_EXPERIMENT_TAG_VAL_LENGTH


def test_the_view_shows_this_searchs_front_and_baseline_only(state):
    assert state["searchFilter"] == "tags.`autotune.search` = 's1' and tags.`autotune.shown` = 'true'"


def test_the_view_plots_the_first_objective_against_each_other(state):
    scatters = [chart for chart in state["compareRunCharts"] if chart["type"] == "SCATTER"]
    assert [chart["xaxis"]["key"] for chart in scatters] == ["latency_p50_ms"] * 3
    assert [chart["yaxis"]["key"] for chart in scatters] == ["throughput_per_s", "energy_mj", "fidelity"]


def test_parallel_coordinates_leave_out_what_mixes_words_with_numbers_or_never_varies(state):
    (parallel,) = [chart for chart in state["compareRunCharts"] if chart["type"] == "PARALLEL"]
    assert parallel["selectedParams"] == ["precision", "threads", "spinning"]


def test_every_chart_lies_in_a_section(state):
    sections = {section["uuid"] for section in state["compareRunSections"]}
    assert {chart["metricSectionId"] for chart in state["compareRunCharts"]} == sections


def test_a_link_without_a_view_still_opens_the_runs():
    assert experiment_link("http://h", "3", None) == "http://h/#/experiments/3/runs?workflowType=machine_learning"


@pytest.mark.parametrize(
    ("version", "works"), [("3.14.9", False), ("3.15.0", True), ("3.17.2", True), ("4.0.0", False), ("x", False)]
)
def test_views_are_made_for_versions_whose_format_is_known(version, works):
    assert views_work(version) is works


def test_the_note_ends_with_links_to_the_runs():
    note = search_note("# Use t0002", "3", {"baseline": "aa", "t0002": "bb"}, "t0002")
    assert note.startswith("# Use t0002\n\n**Runs:** [baseline](#/experiments/3/runs/aa) · ")
    assert "[t0002](#/experiments/3/runs/bb) (knee)\n\nTo pick one" in note


def test_a_long_summary_is_cut_at_a_line_and_says_so():
    note = search_note("\n".join(f"line {number}" for number in range(2000)), "3", {"baseline": "aa"}, None)
    assert len(note) <= NOTE_LENGTH
    assert "the rest is in summary.md" in note
    assert "runs/aa)\n\nTo pick one" in note
