"""Loads of language models, as people write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from autotune.core.errors import UserError
from autotune.core.token_load import TokenCounts
from autotune.searching.workload_file import parse_workload


def test_a_built_in_load_at_a_rate_is_one_line() -> None:
    workload = parse_workload("{base: chat, rate: 6.5/s, duration: 1h}", "here.yaml")
    phase = workload.phases[0]
    assert (workload.name, phase.scenario, phase.rate_per_s, phase.duration_s) == ("chat", "server", 6.5, 3600.0)
    assert phase.tokens is not None
    assert phase.tokens.input_tokens == TokenCounts(mean=1155, p90=1932)


def test_every_key_of_the_contract_is_read(tmp_path: Path) -> None:
    text = """
name: mine
phases:
  - scenario: closed_loop
    users: 8
    input_tokens: {mean: 500, p90: 900}
    output_tokens: [64, 128]
    shared_prefix_tokens: 192
    turns: 4
    think_time: 2s
    priorities: [0.2, 0.8]
    limits: ["ttft_p90<=2s"]
    seed: 3
"""
    phase = parse_workload(text, str(tmp_path / "w.yaml")).phases[0]
    tokens = phase.tokens
    assert tokens is not None
    assert (phase.scenario, tokens.users, tokens.turns, tokens.think_time_s, tokens.seed) == (
        "closed_loop",
        8,
        4,
        2.0,
        3,
    )
    assert (tokens.shared_prefix_tokens, tokens.output_tokens.values, tokens.priorities) == (192, (64, 128), (0.2, 0.8))
    assert phase.limits == ("ttft_p90<=2s",)


def test_a_trace_lies_beside_its_workload(tmp_path: Path) -> None:
    tokens = parse_workload("{input_tokens: 5, trace: t.csv}", str(tmp_path / "w.yaml")).phases[0].tokens
    assert tokens is not None
    assert tokens.trace == str(tmp_path / "t.csv")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{base: chatt, rate: 1/s}", "did you mean 'chat'"),
        ("{base: chat, rat: 1/s}", "unknown key 'rat'.*did you mean 'rate'"),
        ("{base: chat, rate: 0/s}", "rate 0/s is not above 0"),
        ("{base: chat, users: 0}", "users 0 is no whole number"),
        ("{base: chat, users: 4, rate: 1/s}", "neither rate nor trace"),
        ("{base: chat, scenario: offline}", "scenario offline knows no tokens"),
        ("{input_tokens: {mean: 100, p90: 900}, rate: 1/s}", "no log-normal has mean 100 and p90 900"),
        ("{input_tokens: {mean: 100, p90: 50}, rate: 1/s}", "no log-normal"),
        ("{input_tokens: lots}", "lots is no number of tokens"),
        ("{input_tokens: 100, shared_prefix_tokens: 100, rate: 1/s}", "leave nothing of the input's own"),
        ("{base: chat, arrivals: burst, rate: 1/s}", "did you mean 'bursty'"),
        ("{base: chat, turns: 0, rate: 1/s}", "turns 0"),
        ("{base: chat, arrivals: diurnal, peak: 3, rate: 1/s}", "reaches twice the mean"),
        ("{base: chat, limits: [ttft_p90<2s]}", "cannot be read"),
        ("{base: chat, priorities: [0, 0], rate: 1/s}", "no shares"),
    ],
)
def test_what_makes_no_sense_is_said_in_one_line(text: str, problem: str) -> None:
    with pytest.raises(UserError, match=problem):
        parse_workload(text, "here.yaml")
