"""``autotune simulate`` as it is typed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from autotune.cli.main import run

CHAT = "{model: llama-3-8b, device: a100-sxm, workload: {base: chat, rate: 4/s, duration: 60s, limits: [ttft_p90<=1s]}}"


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[object, str, str]:
    with pytest.raises(SystemExit) as ended:
        run(["simulate", *arguments])
    captured = capsys.readouterr()
    return ended.value.code, captured.out, captured.err


def written(folder: Path, text: str) -> str:
    path = folder / "scenario.yaml"
    path.write_text(text)
    return str(path)


def test_every_metric_has_a_value_an_interval_and_where_it_is_from(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = said(capsys, written(tmp_path, CHAT), "--json")
    found = json.loads(out)
    assert code == 0
    assert found["schema"] == "autotune/simulation/1"
    metrics = found["metrics"]
    assert {"ttft_p50", "ttft_p99", "tpot_p90", "itl_p50", "latency_p90", "output_throughput", "goodput"} <= set(
        metrics
    )
    assert {"utilisation", "kv_waste", "power", "energy_per_token", "cost_per_million_tokens"} <= set(metrics)
    assert all(value["basis"] for value in metrics.values())
    assert {value["provenance"] for value in metrics.values()} == {"simulated", "published", "estimated"}
    ttft = metrics["ttft_p50"]
    assert ttft["low"] < ttft["value"] < ttft["high"]
    assert found["limits"] == [{"limit": "ttft_p90<=1s", "standing": "held"}]


def test_people_read_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = said(capsys, written(tmp_path, CHAT))
    assert code == 0
    assert "llama-3-8b on a100-sxm" in out
    assert "ttft_p90" in out
    assert "ttft_p90<=1s: held" in out


@pytest.mark.parametrize(
    ("text", "code", "problem"),
    [
        ("{model: llama-3-8c, device: a100-sxm, workload: {base: chat, rate: 4/s}}", 2, "did you mean 'llama-3-8b'"),
        ("{model: llama-3-8b, device: a100-smx, workload: {base: chat, rate: 4/s}}", 2, "did you mean"),
        ("{model: llama-3-8b, device: a100-sxm, workload: chat}", 2, "has no rate"),
        ("{model: llama-3.1-405b, device: a100-sxm, workload: {base: chat, rate: 4/s}}", 3, "is not feasible"),
        ("{model: llama-3-8b, device: a100-sxm, workload: {base: chat, trace: t.csv}}", 2, "row 3: input_tokens is 0"),
    ],
)
def test_bad_input_is_two_lines_and_the_right_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, code: int, problem: str
) -> None:
    (tmp_path / "t.csv").write_text("arrived_at,input_tokens,output_tokens\n0,5,5\n1,0,5\n")
    found, out, err = said(capsys, written(tmp_path, text))
    assert (found, out) == (code, "")
    assert problem in err
    assert err.count("\n") <= 2


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ((), "there is nothing to simulate"),
        (("SCENARIO", "--points", "in.csv", "-o", "out.csv"), "goes with neither --points nor -o"),
        (("SCENARIO", "-o", "out.csv"), "goes with neither --points nor -o"),
        (("--points", "in.csv"), "--points needs -o"),
        (("SCENARIO", "--next-measurement", "run"), "goes with a run folder alone"),
        (("--next-measurement", "nowhere"), "nowhere"),
        (("SCENARIO", "--calibrate", "nowhere.csv"), "nowhere.csv"),
        (("SCENARIO", "--confidence", "1"), "--confidence 1 is no share of cases"),
        (("nowhere.yaml",), "nowhere.yaml cannot be read"),
    ],
)
def test_one_command_simulates_one_thing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], problem: str
) -> None:
    scenario = written(tmp_path, CHAT)
    code, out, err = said(capsys, *(scenario if argument == "SCENARIO" else argument for argument in arguments))
    assert (code, out) == (2, "")
    assert problem in err


def test_points_that_were_measured_correct_a_scenario_and_it_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    points = tmp_path / "points.csv"
    points.write_text(
        "system,model,precision,tp,concurrency,isl,osl,tpot_ms_measured\na100_sxm,llama-3-8b,bf16,1,8,1024,128,25\n"
    )
    scenario = written(tmp_path, CHAT)
    before = json.loads(said(capsys, scenario, "--json")[1])
    after = json.loads(said(capsys, scenario, "--json", "--calibrate", str(points))[1])
    assert (before["calibrated_on"], after["calibrated_on"]) == (0, 1)
    assert after["metrics"]["tpot_p50"]["value"] > before["metrics"]["tpot_p50"]["value"]
    assert "calibrated on 1 point" in after["metrics"]["tpot_p50"]["basis"]
