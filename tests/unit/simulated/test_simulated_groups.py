from __future__ import annotations

import pytest

from autotune.core.candidate import Candidate, Scalar
from autotune.core.errors import BuildError, UserError
from autotune.core.ownership import Ownership
from autotune.core.values import Value
from autotune.core.workload import BUILT_IN
from autotune_backends.simulated import SimulatedBackend
from autotune_backends.simulated.devices import device_named
from autotune_backends.simulated.step_costs import step_costs
from autotune_backends.simulated.transformers import model_named

BACKEND = SimulatedBackend()
MODEL = BACKEND.language_model("llama-3.1-8b")
H100 = BACKEND.simulated_device("h100-sxm")
CHAT = BUILT_IN["chat"].for_users(8)


def found(device: str = "h100-sxm", **parameters: Scalar) -> dict[str, Value]:
    return dict(BACKEND.simulate(MODEL, Candidate(**parameters), BACKEND.simulated_device(device), CHAT))


def test_devices_costs_and_power_of_both_groups_count() -> None:
    alone, pair = found(), found(decode_device="a100-sxm", decode_tp=2)
    assert pair["device_count"].value == 3
    assert pair["size"].value == 2 * alone["size"].value
    assert pair["cost_per_month"].value > alone["cost_per_month"].value
    assert "1 × h100-sxm" in pair["device_count"].basis
    assert "2 × a100-sxm" in pair["device_count"].basis
    idle_w = 110 + 2 * 90
    assert pair["power"].value > idle_w


def test_what_no_measurement_has_is_less_sure_than_its_parts() -> None:
    def width(value: Value) -> float:
        return (value.high - value.low) / value.value

    alone, pair = found()["tpot_p50"], found(decode_device="h100-sxm")["tpot_p50"]
    assert width(pair) > 1.5 * width(alone)
    assert "interpolated" in pair.basis
    assert "fitted" in alone.basis


def test_a_group_without_a_price_leaves_the_cost_unknown() -> None:
    parts = Candidate(decode_device="l40s")
    assert "cost_per_month" in BACKEND.simulate(MODEL, parts, H100, CHAT)
    assert "cost_per_month" not in BACKEND.simulate(MODEL, parts, H100, CHAT, own=Ownership())


def test_a_slower_transfer_makes_the_answer_later_and_not_the_first_token() -> None:
    fast = found(decode_device="a100-sxm", transfer_bandwidth=1e12)
    slow = found(decode_device="a100-sxm", transfer_bandwidth=1e9)
    assert slow["latency_p50"].value > fast["latency_p50"].value
    assert slow["ttft_p50"].value == pytest.approx(fast["ttft_p50"].value, rel=0.2)


@pytest.mark.parametrize(
    ("device", "parameters", "words"),
    [
        ("tpu-v5p", {"decode_device": "h100-sxm"}, "give transfer_bandwidth"),
        ("h100-sxm", {"decode_device": "h100-sxm", "batching": "static"}, "batching: continuous"),
        ("h100-sxm", {"decode_device": "h100-sxm", "decode_kv_precision": "fp8"}, "one format"),
        ("tpu-v5p", {"preemption": "swap"}, "must be recompute"),
    ],
)
def test_what_cannot_be_served_so_says_why(device: str, parameters: dict[str, Scalar], words: str) -> None:
    with pytest.raises(BuildError, match=words):
        found(device, **parameters)


@pytest.mark.parametrize(
    "parameters",
    [
        {"decode_device": "h200-sxn"},
        {"decode_device": "h100-sxm", "transfer_bandwidth": 0},
        {"preemption": "swop"},
        {"preemption": "swap", "swap_space_bytes": -1},
    ],
)
def test_a_mistake_is_told(parameters: dict[str, Scalar]) -> None:
    with pytest.raises(UserError):
        found(**parameters)


def test_less_memory_on_the_host_never_makes_swapping_faster() -> None:
    tight: dict[str, Scalar] = {"preemption": "swap", "memory_share": 0.25, "max_num_seqs": 32}
    users = BUILT_IN["chat"].for_users(24)
    ends = [
        BACKEND.simulate(MODEL, Candidate(**tight, swap_space_bytes=size), H100, users)["latency_p50"].value
        for size in (4 << 30, 1 << 20)
    ]
    assert ends[0] <= ends[1] * 1.02


def test_small_pages_are_copied_slowly_and_large_ones_at_the_links_rate() -> None:
    model, device = model_named("llama-3.1-8b"), device_named("h100-sxm")
    rates = [
        4096 / step_costs(model, device, {"preemption": "swap", "page_tokens": tokens}).swap_s(4096)
        for tokens in (1, 16, 64, 256)
    ]
    assert rates == sorted(rates)
    assert rates[0] < 0.1 * rates[-1]
    per_token = step_costs(model, device, {}).kv_bytes_per_token
    assert rates[-1] * per_token == pytest.approx(0.8 * 64e9)
