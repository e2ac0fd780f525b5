from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune_backends.simulated.devices import SimulatedDevice, device_named, device_names
from autotune_backends.simulated.step_costs import DoesNotFit, Infeasible, StepCosts, Unsupported, step_costs
from autotune_backends.simulated.transformers import model_named

EIGHT, SEVENTY = model_named("llama-3.1-8b"), model_named("llama-3.1-70b")
H100 = device_named("h100-sxm")
steps = st.tuples(st.integers(0, 2048), st.integers(0, 4096), st.integers(0, 200), st.integers(1, 3000))


def costs(device: SimulatedDevice = H100, **candidate: str | int) -> StepCosts:
    return step_costs(EIGHT, device, candidate)


def seconds(one: StepCosts, step: tuple[int, int, int, int]) -> float:
    new, cached, decodes, context = step
    return one.step_s([(new, cached)] if new else [], decodes, decodes * context)


@settings(deadline=None)
@given(steps, st.floats(1.0, 8.0))
def test_more_bandwidth_never_slows_a_step(step: tuple[int, int, int, int], times: float) -> None:
    faster = costs(replace(H100, bandwidth=H100.bandwidth * times))
    assert seconds(faster, step) <= seconds(costs(), step) * (1 + 1e-12)


@settings(deadline=None)
@given(steps, st.integers(1, 500))
def test_more_work_never_takes_less_time(step: tuple[int, int, int, int], more: int) -> None:
    new, cached, decodes, context = step
    one = costs()
    assert seconds(one, (new + more, cached, decodes, context)) >= seconds(one, step)
    assert seconds(one, (new, cached, decodes + more, context)) >= seconds(one, step)


@settings(deadline=None)
@given(steps, st.sampled_from(["bf16", "fp8", "int4", "ternary"]))
def test_utilisation_is_at_most_one_and_power_is_between_idle_and_the_limit(
    step: tuple[int, int, int, int], precision: str
) -> None:
    one = costs(precision=precision)
    new, cached, decodes, context = step
    compute, memory = one.utilisation([(new, cached)] if new else [], decodes, decodes * context)
    assert 0 <= compute <= 1
    assert 0 <= memory <= 1
    power = one.power_w(compute, memory)
    assert power is not None
    assert H100.power is not None
    assert H100.power.idle_w <= power <= H100.power.peak_w


@settings(deadline=None)
@given(st.integers(1, 400), st.integers(1, 400_000))
def test_a_line_gives_what_steps_of_decoding_give(decodes: int, kv_tokens: int) -> None:
    one = costs()
    a, b = one.decode_line(decodes)
    assert a + b * kv_tokens == pytest.approx(one.step_s([], decodes, kv_tokens), rel=1e-9)


stages = st.sampled_from([2, 3, 4, 8])


@settings(deadline=None)
@given(stages, st.integers(1, 100_000), st.integers(0, 8192))
def test_stages_never_make_a_lone_request_faster(pp: int, context: int, cached: int) -> None:
    one, staged = costs(), costs(pp=pp)
    assert staged.step_s([], 1, context) > one.step_s([], 1, context)
    assert staged.step_s([(context, cached)], 0, 0) > one.step_s([(context, cached)], 0, 0)
    line, long = staged.decode_line(1), one.decode_line(1)
    assert line[0] + line[1] * context > long[0] + long[1] * context


@settings(deadline=None)
@given(stages, steps)
def test_a_step_in_stages_takes_at_least_as_long_as_its_longest_sequence_alone(
    pp: int, step: tuple[int, int, int, int]
) -> None:
    new, cached, decodes, context = step
    staged = costs(pp=pp)
    if new:
        assert seconds(staged, step) >= staged.step_s([(new, cached)], 0, 0) * (1 - 1e-12)
    if decodes:
        assert seconds(staged, step) >= staged.step_s([], 1, context) * (1 - 1e-12)


@settings(deadline=None)
@given(stages, st.integers(1, 400), st.integers(1, 400_000))
def test_a_line_gives_what_steps_of_decoding_in_stages_give(pp: int, decodes: int, kv_tokens: int) -> None:
    a, b = costs(pp=pp).decode_line(decodes)
    assert a + b * kv_tokens == pytest.approx(costs(pp=pp).step_s([], decodes, kv_tokens), rel=1e-9)


def test_stages_serve_a_full_batch_in_less_time_than_one_device() -> None:
    busy = ([(512, 0)] * 8, 256, 256 * 2000)
    assert 0.25 < costs(pp=4).step_s(*busy) / costs().step_s(*busy) < 0.6


def test_every_microbatch_reads_the_weights_again() -> None:
    alone, many = (costs(pp=4).work([], decodes, 0) for decodes in (1, 64))
    assert many.bytes == pytest.approx(4 * alone.bytes)


def test_fewer_bits_never_need_more_memory() -> None:
    order = [
        costs(precision=name).weight_bytes
        for name in ("fp32", "bf16", "int8_weights", "fp8", "int4", "ternary", "binary")
    ]
    assert order == sorted(order, reverse=True)
    kv = [costs(kv_precision=name).kv_capacity_tokens for name in ("bf16", "fp8", "int4")]
    assert kv == sorted(kv)


def test_a_model_that_does_not_fit_says_what_it_needs_and_what_there_is() -> None:
    with pytest.raises(DoesNotFit, match=r"needs 1\d\d\.\d GiB, has 6\d\.\d GiB"):
        step_costs(SEVENTY, H100, {})


@pytest.mark.parametrize(
    ("device", "candidate", "reason"),
    [
        ("a100-sxm", {"precision": "fp8"}, "no fp8 arithmetic"),
        ("h100-sxm", {"sparsity": "unstructured"}, "no hardware for unstructured"),
        ("h100-sxm", {"tp": 3}, "does not divide"),
        ("h100-sxm", {"tp": 16}, "one group links"),
    ],
)
def test_what_a_device_lacks_is_said(device: str, candidate: dict[str, str | int], reason: str) -> None:
    with pytest.raises(Unsupported, match=reason):
        step_costs(EIGHT, device_named(device), candidate)


def test_eight_over_a_slow_bus_are_slower_than_four() -> None:
    busy = ([(2048, 0)], 32, 32 * 1000)
    four, eight = (step_costs(SEVENTY, device_named("l40s"), {"tp": tp, "precision": "fp8"}) for tp in (4, 8))
    assert eight.step_s(*busy) > four.step_s(*busy)


@pytest.mark.parametrize("name", device_names())
@pytest.mark.parametrize("precision", ["fp32", "bf16", "fp8", "int8", "int4", "ternary"])
def test_every_device_prices_a_model_or_says_why_not(name: str, precision: str) -> None:
    one: StepCosts | str
    try:
        one = step_costs(model_named("llama-3.2-1b"), device_named(name), {"precision": precision})
    except Infeasible as refusal:
        one = refusal.problem
    assert name in one if isinstance(one, str) else 0 < one.step_s((), 1, 500) < 1


@pytest.mark.parametrize("name", device_names())
def test_every_device_of_the_catalogue_says_where_its_figures_are_from(name: str) -> None:
    device = device_named(name)
    assert device.sources
    assert device.confidence in ("high", "medium", "low")
    if device.power is not None:
        assert device.power.idle_w < device.power.peak_w
