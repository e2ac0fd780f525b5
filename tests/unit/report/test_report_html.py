from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from autotune.core.front import Dropped
from autotune.core.trial import Failure
from autotune.core.values import Value
from autotune.report import ReportContent, answer_sentence, report_html
from autotune.report.html.charted import charted
from autotune.report.html.summaries import budget_shares, failure_groups
from autotune.testing.sample_search import sample_front, sample_record, sample_records, sample_search

HOSTILE = """</script><script>alert(1)</script>"><img src=x onerror=alert(2)>{{7*7}}'&"""


class Page(HTMLParser):
    """Every tag with its attributes, and the text of each script."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.text = ""
        self._in_script = False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self._in_script = tag == "script"
        if self._in_script:
            self.scripts.append("")

    def handle_endtag(self, tag):
        self._in_script = False

    def handle_data(self, data):
        if self._in_script:
            self.scripts[-1] += data
        else:
            self.text += data


def content(folder: Path, **changed: object) -> ReportContent:
    search = sample_search(folder)
    made = {
        "search": search,
        "front": sample_front(search),
        "records": sample_records(),
        "run": "autotune-runs/digits",
        "spent_s": 30.0,
    }
    return ReportContent(**{**made, **changed})


def hostile(folder: Path) -> ReportContent:
    """Everything that a person names or a runtime says is markup."""
    search = sample_search(folder)
    model = search.model.model_copy(update={"path": Path(HOSTILE)})
    search = search.model_copy(update={"model": model, "remarks": (HOSTILE,), "limits": (HOSTILE,), "metric": HOSTILE})
    front = sample_front(search)
    named = front.points[0].candidate.with_(**{HOSTILE: HOSTILE})
    point = front.points[0].model_copy(update={"candidate": named, "device": HOSTILE})
    front = front.model_copy(update={"points": (point,), "dropped": (Dropped(id=HOSTILE, reason=HOSTILE),)})
    failed = sample_record(9, Failure(stage="open", cause="other", message=HOSTILE))
    shares = {"latency_p50": {HOSTILE: 1.0}}
    return content(
        folder,
        search=search,
        front=front,
        records=[*sample_records(), failed],
        run=f"runs/{HOSTILE}",
        importances=shares,
    )


def test_it_is_one_file_that_fetches_nothing(tmp_path: Path) -> None:
    page = Page(report_html(content(tmp_path)))
    fetching = [attributes for _, attributes in page.tags if {"src", "href", "srcset"} & attributes.keys()]
    assert not fetching
    assert "default-src 'none'" in next(a["content"] for _, a in page.tags if a.get("http-equiv"))


def test_markup_in_names_and_messages_is_shown_and_never_run(tmp_path: Path) -> None:
    plain, page = Page(report_html(content(tmp_path))), Page(report_html(hostile(tmp_path)))
    assert {tag for tag, _ in page.tags} <= {tag for tag, _ in plain.tags} | {"details", "ul", "h3", "meter", "div"}
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on")]
    assert len(page.scripts) == 2
    assert HOSTILE in page.text
    assert json.loads(page.scripts[0])["points"][1]["device"] == HOSTILE


def test_the_front_reads_without_scripts(tmp_path: Path) -> None:
    made = content(tmp_path, importances={"latency_p50": {"threads": 0.8, "block": 0.002}})
    text = re.sub(r"\s+", " ", Page(report_html(made)).text)
    assert answer_sentence(made.front) in text
    for part in (
        "t0001",
        "t0002",
        "knee",
        "No kernel for",
        "threads80 %",
        "autotune search --from autotune-runs/digits/search.json",
    ):
        assert part.replace(" ", "") in text.replace(" ", "")
    assert "block" not in text.partition("What each parameter contributed")[2].partition("Where the time went")[0]


def test_every_measured_candidate_is_charted_once_and_points_of_the_front_can_be_exported(tmp_path: Path) -> None:
    data = charted(content(tmp_path))
    ids = [point["id"] for point in data["points"]]
    assert ids[:3] == ["baseline", "t0001", "t0002"]
    keys = [(point["device"], point["key"]) for point in data["points"]]
    assert len(set(keys)) == len(keys)
    chosen = {point["id"]: point for point in data["points"]}
    assert chosen["t0002"]["export"] == "autotune export autotune-runs/digits --point t0002 -o DIR"
    assert chosen["t0002"]["values"]["latency_p50"]["ratio"]
    assert "memory" not in data["metrics"]  # it is unknown everywhere
    assert data["parameters"][0] == "precision"


def test_simulated_searches_say_so_and_offer_no_export(tmp_path: Path) -> None:
    search = sample_search(tmp_path).model_copy(update={"kind": "simulated"})
    cost = Value(value=0.4, unit="USD", provenance="simulated")
    first = Value(value=0.12, unit="s", provenance="simulated")
    front = sample_front(search)
    points = tuple(
        point.model_copy(
            update={"metrics": {**point.metrics, "cost_per_million_tokens": cost, "ttft_p99": first}, "artifact": None}
        )
        for point in front.points
    )
    front = front.model_copy(update={"points": points})
    text = report_html(content(tmp_path, search=search, front=front))
    assert "nothing here was measured" in text
    assert "autotune export" not in text
    values = charted(content(tmp_path, search=search, front=front))["points"][1]["values"]
    assert values["cost_per_million_tokens"]["text"] == "0.400 USD simulated"
    assert values["ttft_p99"]["at"] == pytest.approx(120.0)


def test_metrics_that_this_version_does_not_know_are_left_out(tmp_path: Path) -> None:
    made = content(tmp_path)
    odd = made.front.points[0].model_copy(update={"metrics": {"warmth": Value(value=1.0, unit="K")}})
    front = made.front.model_copy(update={"points": (odd,)})
    assert "warmth" not in charted(content(tmp_path, front=front))["metrics"]


def test_shares_of_the_time_add_up() -> None:
    parts, _ = budget_shares(sample_records(), 30.0)
    assert sum(part.share for part in parts) == pytest.approx(1.0)
    assert [part.trials for part in parts] == [1, 4, 3, None]


def test_failures_are_grouped_by_stage_and_cause_the_commonest_first() -> None:
    timeouts = [sample_record(n, Failure(stage="measure", cause="timeout", message="too slow")) for n in (8, 9)]
    groups = failure_groups([*sample_records(), *timeouts])
    assert [(group.cause, group.count, group.trials) for group in groups] == [
        ("timeout", 2, ("t0008", "t0009")),
        ("unsupported", 1, ("t0003",)),
    ]
