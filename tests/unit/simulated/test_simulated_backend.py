from __future__ import annotations

from pathlib import Path

import pytest

from autotune.core.candidate import Candidate
from autotune.core.errors import BuildError, UserError
from autotune.core.limits import parse_limit
from autotune.core.ownership import Ownership
from autotune.core.ports import Simulating
from autotune.core.workload import BUILT_IN
from autotune_backends.simulated import SimulatedBackend
from autotune_search_spaces.language import language_space

BACKEND = SimulatedBackend()
CHAT = BUILT_IN["chat"].for_users(8)
SMALL = BACKEND.language_model("llama-3.1-8b")
LARGE = BACKEND.language_model("llama-3.1-70b")
A100, H100 = BACKEND.simulated_device("a100-sxm"), BACKEND.simulated_device("h100-sxm")


def test_it_simulates() -> None:
    assert isinstance(BACKEND, Simulating)


def test_devices_are_simulated_and_say_how_sure_their_figures_are() -> None:
    assert all(device.kind == "simulated" and device.confidence and device.figures for device in BACKEND.devices())


def test_a_model_that_nobody_knows_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UserError, match=r"llama-3\.1-70b"):
        BACKEND.language_model("llama-3.1-71b")


def test_owning_costs_what_was_paid_and_the_electricity_and_stands_beside_the_rent() -> None:
    own = Ownership(years=3, electricity_usd_per_kwh=0.12, pue=1.3)
    found = BACKEND.simulate(SMALL, Candidate(tp=2), H100, CHAT, own=own)
    hourly = 60_000 / (3 * 8766) + found["power"].value / 1000 * 1.3 * 0.12
    assert found["cost_per_month"].value == pytest.approx(hourly * 8766 / 12)
    assert "owned over 3 years" in found["cost_per_month"].basis
    assert "rent would be 2 to 5 USD" in found["cost_per_month"].basis
    assert found["cost_per_month"].low < found["cost_per_month"].high
    rented = BACKEND.simulate(SMALL, Candidate(tp=2), H100, CHAT)
    assert "mercatus" in rented["cost_per_month"].basis


def test_a_price_that_nobody_gave_is_unknown_and_not_the_rent() -> None:
    found = BACKEND.simulate(SMALL, Candidate(tp=1), BACKEND.simulated_device("l40s"), CHAT, own=Ownership())
    assert "cost_per_month" not in found
    assert "cost_per_million_tokens" not in found


def test_a_folder_is_read_by_its_configuration_and_has_its_hash(tmp_path: Path) -> None:
    folder = tmp_path / "my-model.v1"
    folder.mkdir()
    text = (
        '{"model_type": "llama", "hidden_size": 512, "num_hidden_layers": 4, "num_attention_heads": 8, '
        '"intermediate_size": 1024, "vocab_size": 32000}'
    )
    (folder / "config.json").write_text(text)
    (folder / "model.safetensors").write_bytes(b"not looked at")
    facts = BACKEND.language_model(str(folder))
    assert (facts.stem, facts.format) == ("my-model.v1", "transformer")
    assert facts.sha256 == BACKEND.language_model(str(folder / "config.json")).sha256


def test_precisions_are_those_that_the_device_has() -> None:
    assert "fp8" not in BACKEND.offers(LARGE, A100).parameter("precision").choices
    assert "fp8" in BACKEND.offers(LARGE, H100).parameter("precision").choices
    assert any(omission.values == ("fp8",) for omission in BACKEND.offers(LARGE, A100).omissions)


def test_the_usual_values_are_the_fewest_devices_on_which_the_model_fits() -> None:
    assert BACKEND.offers(SMALL, H100).usual["tp"] == 1
    assert BACKEND.offers(LARGE, H100).usual["tp"] == 4


def test_the_space_holds_what_any_device_offers_and_starts_where_the_model_fits() -> None:
    space = language_space(LARGE, [BACKEND.offers(LARGE, A100), BACKEND.offers(LARGE, H100)], CHAT)
    assert "fp8" in space.parameter("precision").choices
    assert space.fault(space.baseline) is None
    assert all(space.fault(expert) is None for expert in space.experts)
    assert BACKEND.simulate(LARGE, space.baseline, A100, CHAT)["device_count"].value == 4


def test_weights_that_do_not_fit_fail_with_what_they_need_and_what_there_is() -> None:
    with pytest.raises(BuildError, match=r"needs .* GiB, has .* GiB") as caught:
        BACKEND.simulate(LARGE, Candidate(precision="bf16", tp=1), H100, CHAT)
    assert caught.value.cause == "out_of_memory"


def test_a_precision_that_the_device_lacks_fails_as_unsupported() -> None:
    with pytest.raises(BuildError) as caught:
        BACKEND.simulate(SMALL, Candidate(precision="fp8"), A100, CHAT)
    assert caught.value.cause == "unsupported"


def test_every_value_is_simulated_and_its_interval_holds_it() -> None:
    metrics = BACKEND.simulate(SMALL, Candidate(precision="bf16"), H100, CHAT)
    for name in ("ttft_p90", "tpot_p50", "output_throughput", "energy_per_token", "cost_per_million_tokens"):
        low, high = metrics[name].interval()
        assert low <= metrics[name].value <= high, name
    assert {value.provenance for name, value in metrics.items() if name not in ("fidelity", "lead_time")} == {
        "simulated"
    }


def test_what_a_precision_keeps_of_the_accuracy_is_published_or_unknown() -> None:
    plain, small = (BACKEND.simulate(SMALL, Candidate(precision=name), H100, CHAT) for name in ("bf16", "int4"))
    assert plain["fidelity"].value == 1.0
    assert small["fidelity"].provenance == "published"
    assert small["fidelity"].low < small["fidelity"].value < small["fidelity"].high
    assert "fidelity" not in BACKEND.simulate(SMALL, Candidate(precision="ternary"), H100, CHAT)


def test_more_confidence_is_a_wider_interval() -> None:
    narrow, wide = (
        BACKEND.simulate(SMALL, Candidate(precision="bf16"), H100, CHAT, confidence=confidence)["tpot_p50"]
        for confidence in (0.6, 0.95)
    )
    assert wide.high - wide.low > narrow.high - narrow.low
    assert wide.value == narrow.value


def test_the_same_simulation_gives_the_same_values() -> None:
    first, second = (BACKEND.simulate(SMALL, Candidate(tp=1), A100, CHAT, seed=3) for _ in range(2))
    assert first == second


def test_a_battery_lasts_as_long_as_what_it_holds_at_that_power() -> None:
    phone = BACKEND.simulated_device("apple-m4-ane")
    tiny = BACKEND.language_model("llama-3.2-1b")
    found = BACKEND.simulate(tiny, Candidate(precision="int8"), phone, BUILT_IN["chat"].for_users(1))
    life = found["battery_life"]
    assert life.value == pytest.approx(113e3 / found["power"].value)
    assert life.low < life.value < life.high
    assert "battery_life" not in BACKEND.simulate(SMALL, Candidate(), A100, CHAT)


def test_the_lead_time_is_that_of_the_device_that_comes_last() -> None:
    day = 86400.0
    alone = BACKEND.simulate(SMALL, Candidate(), A100, CHAT)["lead_time"]
    assert (alone.value, alone.provenance) == (30 * day, "estimated")
    pair = BACKEND.simulate(SMALL, Candidate(decode_device="h200-sxm"), A100, CHAT)["lead_time"]
    assert pair.value == 90 * day
    assert parse_limit("lead_time<=45d").standing(pair) == "broken"
