"""Scenarios, as people write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from autotune.core.errors import UserError
from autotune.searching.scenario_file import parse_scenario, read_scenario_file

WHOLE = """
model: llama-3.1-70b
device: [{device: h100-sxm, count: 4}]
candidate: {precision: fp8, max_num_seqs: 64, chunked_prefill: true}
workload: {base: chat, rate: 6.5/s, limits: ["ttft_p90<=2s"]}
seed: 7
"""


def test_a_scenario_names_everything() -> None:
    scenario = parse_scenario(WHOLE, "s.yaml")
    assert (scenario.model, scenario.device, scenario.seed) == ("llama-3.1-70b", "h100-sxm", 7)
    assert dict(scenario.candidate) == {"precision": "fp8", "max_num_seqs": 64, "chunked_prefill": True, "tp": 4}
    assert scenario.workload.phases[0].rate_per_s == 6.5
    assert [limit.text for limit in scenario.limits] == ["ttft_p90<=2s"]


def test_files_are_looked_for_beside_the_scenario(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("name: mine\n")
    (tmp_path / "load.yaml").write_text("{base: code, users: 4}")
    (tmp_path / "s.yaml").write_text("{model: llama-3-8b, device: mine.yaml, workload: load.yaml}")
    scenario = read_scenario_file(tmp_path / "s.yaml")
    assert scenario.device == str(tmp_path / "mine.yaml")
    assert scenario.workload.phases[0].scenario == "closed_loop"


def test_two_groups_are_one_that_computes_prompts_and_one_that_decodes() -> None:
    scenario = parse_scenario(
        """
model: m
device: [{device: slow, count: 4, role: decode}, {device: fast, count: 2, role: prefill}]
interconnect: {bandwidth: 50e9, latency: 2e-3}
candidate: {precision: fp8, decode_precision: bf16}
workload: chat
""",
        "s.yaml",
    )
    assert scenario.device == "fast"
    assert dict(scenario.candidate) == {
        "decode_device": "slow",
        "decode_tp": 4,
        "decode_pp": 1,
        "transfer_bandwidth": 50e9,
        "transfer_latency_s": 2e-3,
        "precision": "fp8",
        "decode_precision": "bf16",
        "tp": 2,
    }


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{device: a100-sxm, workload: chat}", "names no model"),
        ("{model: m, device: a, workload: chat, candiate: {}}", "did you mean 'candidate'"),
        ("{model: m, device: a, workload: chta}", "did you mean 'chat'"),
        ("{model: m, device: [{device: a, role: prefill}, {device: b}], workload: chat}", "one of two 'prefill'"),
        ("{model: m, device: {device: a, role: decode}, workload: chat}", "role 'both'"),
        ("{model: m, device: a, interconnect: {bandwidth: 1e9}, workload: chat}", "there is one"),
        (
            "{model: m, device: [{device: a, role: prefill}, {device: b, role: decode}], interconnect: {bandwith: 1},"
            " workload: chat}",
            "did you mean 'bandwidth'",
        ),
        (
            "{model: m, device: [{device: a, role: prefill}, {device: b, role: decode}], interconnect: {bandwidth: fast},"
            " workload: chat}",
            "is no number",
        ),
        ("{model: m, device: {device: a, count: 0}, workload: chat}", "is no group of devices"),
        ("{model: m, device: {device: a, count: 4}, candidate: {tp: 2}, workload: chat}", "uses 2 devices of 4"),
        ("{model: m, device: a, candidate: {tp: [1, 2]}, workload: chat}", "tp has no single value"),
        ("{model: m, device: a, workload: chat, seed: -1}", "seed -1"),
        ("{model: m, device: a, workload: chat, limits: [fast]}", "cannot be read"),
        ("- a\n", "expected names with values"),
        ("a: [", "is no YAML at line"),
        ("model: m\ndevice: a\nmodel: n\nworkload: chat", "line 3: the key 'model' comes twice"),
        ("{model: m, device: a, workload: {base: chat, rate: 1, rate: 2}}", "the key 'rate' comes twice"),
        ("{model: m, device: a, workload: {base: chat, rate: .nan}}", "s.yaml: workload: rate: 'nan' is not a number"),
        ("{model: m, device: a, workload: {base: chat, duration: .inf}}", "s.yaml: workload: duration: 'inf'"),
        ("{model: m, device: a, workload: {base: chat, rate: fast}}", "s.yaml: workload: rate: 'fast'"),
        ("{model: m, device: a, workload: {base: chat, limits: [fast]}}", "s.yaml: workload: limits: "),
        ("{model: m, device: a, workload: chat, limits: [fast]}", "s.yaml: limits: "),
    ],
)
def test_what_is_wrong_is_said_in_one_line(text: str, problem: str) -> None:
    with pytest.raises(UserError, match=problem):
        parse_scenario(text, "s.yaml")
