from __future__ import annotations

from pathlib import Path

import pytest

from autotune.api.prepare import prepare
from autotune.api.settings import SearchSettings
from autotune.core.errors import UserError
from autotune.core.limits import parse_limit
from autotune.core.values import Value
from autotune.searching.feasibility import holds, violation


def asked(**changes: object) -> SearchSettings:
    return SearchSettings(**{"model": Path("llama-3.1-8b"), "devices": ("a100-sxm",), "tracking": False, **changes})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"model": Path("lama-3.1-8b")}, "llama-3.1-8b"),
        ({"devices": ()}, "only simulated devices"),
        ({"devices": ("a100-sxm", "cpu")}, "cannot be searched together"),
        ({"devices": ("a100-sxx",)}, "a100-sxm"),
        ({"workload": "latency"}, "says nothing of tokens"),
        ({"rate": "0/s"}, "is no rate"),
        ({"rate": "fast"}, "is not a number"),
        ({"spare": 1}, "--spare needs a --rate"),
        ({"confidence": 1.5}, "is no confidence"),
        ({"objectives": ("perplexity",)}, "is not simulated"),
        ({"limits": ("accuracy_drop<=0.01",)}, "fidelity>=0.98"),
        ({"limits": ("cost_per_month<=100USD",)}, "--rate"),
        ({"years": 3.0}, "give --own with it"),
        ({"own": True, "pue": 0.5}, "--pue 0.5"),
        ({"own": True, "electricity": -1.0}, "--electricity -1"),
        ({"metric": "top1"}, "is for what is measured"),
        ({"devices": ("missing.yaml",)}, "missing.yaml"),
    ],
)
def test_a_mistake_is_named_before_anything_runs(changes: dict[str, object], words: str) -> None:
    with pytest.raises(UserError) as caught:
        prepare(asked(**changes))
    assert words in str(caught.value)


def test_rate_is_for_simulated_devices(tmp_path: Path) -> None:
    from autotune.testing.onnx_models import mlp

    model = mlp(tmp_path / "model.onnx")
    with pytest.raises(UserError, match="--rate is for"):
        prepare(SearchSettings(model=model, rate="5/s", tracking=False))


def test_a_search_is_of_the_kind_of_its_devices_and_says_so() -> None:
    search = prepare(asked()).search
    assert search.kind == "simulated"
    assert any("nothing is measured" in remark for remark in search.remarks)
    assert search.objectives[0].metric == "ttft_p90"
    assert search.context.fleet is None


def test_a_rate_makes_a_fleet_whose_cost_counts() -> None:
    search = prepare(asked(rate="50/s", spare=1)).search
    assert search.context.fleet.rate_per_s == 50
    assert "cost_per_month" in {goal.metric for goal in search.objectives}


def test_what_is_bought_says_its_prices_and_what_is_not_in_them() -> None:
    search = prepare(asked(devices=("h100-sxm", "l40s"), own=True, years=4.0)).search
    told = "\n".join(search.remarks)
    assert search.context.ownership.years == 4
    assert "no quote" in told
    assert "l40s: rent 0.8 to 1.9 USD a device-hour (a range, recalled, not verified); purchase unknown" in told
    assert "without host, network, space, staff or interest" in told


def test_a_search_takes_in_what_was_measured_on_one_of_its_devices(tmp_path: Path) -> None:
    table = tmp_path / "points.csv"
    table.write_text(
        "system,model,precision,tp,concurrency,isl,osl,tpot_ms_measured\na100,llama-3.1-8b,bf16,1,8,1024,128,15\n"
    )
    search = prepare(asked(calibrate=table, devices=("a100-sxm", "l40s"))).search
    assert [device.calibrated_on for device in search.devices] == [1, None]
    assert "a100-sxm: calibrated on 1 point" in search.remarks
    with pytest.raises(UserError, match="no row is of l40s"):
        prepare(asked(calibrate=table, devices=("l40s",)))


def test_a_space_of_the_user_s_adds_what_only_the_simulator_knows(tmp_path: Path) -> None:
    space = tmp_path / "mine.yaml"
    space.write_text(
        "base: language\n"
        "add:\n"
        "  draft_model: {choices: [none, llama-3.2-1b]}\n"
        "  acceptance: {choices: [0.7], requires: {draft_model: [llama-3.2-1b]}}\n"
        "  preemption: {choices: [recompute, swap]}\n"
    )
    search = prepare(asked(space=str(space))).search
    candidates = [candidate for _, candidate in search.space.screened]
    assert all(("acceptance" in one) == (one["draft_model"] != "none") for one in candidates if "draft_model" in one)
    assert any("draft_model" in one for one in candidates)


@pytest.mark.parametrize("goal", ["latency", "throughput", "cost", "energy"])
def test_a_goal_is_pursued_under_a_load_of_tokens(goal: str) -> None:
    search = prepare(asked(goal=goal)).search
    assert search.workload.serving is not None
    assert len(search.objectives) == 2


def test_the_baseline_runs_on_the_first_device() -> None:
    search = prepare(asked(model=Path("llama-3.1-70b"), devices=("l4", "h100-sxm"))).search
    assert search.space.baseline["tp"] in search.space.parameter("tp").choices
    first = search.devices[0].name
    assert first in ("l4", "h100-sxm")


def test_a_simulated_limit_holds_at_the_pessimistic_end_only() -> None:
    limit = parse_limit("ttft_p90<=2s")
    value = Value(value=1.5, low=1.0, high=2.5, unit="s", provenance="simulated")
    assert not holds(limit, {"ttft_p90": value})
    assert violation(limit, {"ttft_p90": value}) == pytest.approx(0.25)
    assert holds(limit, {"ttft_p90": value.model_copy(update={"provenance": "measured"})})
    assert holds(limit, {"ttft_p90": value.model_copy(update={"high": 1.9})})
