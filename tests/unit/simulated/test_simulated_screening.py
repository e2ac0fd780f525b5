from __future__ import annotations

from pathlib import Path

import pytest

from autotune.api.prepare import prepare
from autotune.api.settings import SearchSettings
from autotune.core.candidate import Candidate
from autotune.core.ports import Screening
from autotune.core.workload import BUILT_IN
from autotune_backends.simulated import SimulatedBackend

BACKEND = SimulatedBackend()
CHAT = BUILT_IN["chat"].for_users(32)
FITS, TOO_LARGE = Candidate(precision="fp8", tp=4), Candidate(precision="bf16", tp=1)


def test_the_simulating_backend_screens() -> None:
    assert isinstance(BACKEND, Screening)


def test_what_cannot_run_has_no_estimate() -> None:
    model, device = BACKEND.language_model("llama-3.1-70b"), BACKEND.simulated_device("h100-sxm")
    one, none = BACKEND.screen(model, [FITS, TOO_LARGE], device, CHAT)
    assert none is None
    assert one is not None
    assert all(value > 0 for value in one.values())


def test_an_estimate_is_near_what_the_event_simulator_finds() -> None:
    model, device = BACKEND.language_model("llama-3.1-70b"), BACKEND.simulated_device("h100-sxm")
    (rough,) = BACKEND.screen(model, [FITS], device, CHAT)
    found = BACKEND.simulate(model, FITS, device, CHAT)
    assert rough is not None
    for family, metric in (("tpot", "tpot_p50"), ("output_throughput",) * 2, ("cost_per_million_tokens",) * 2):
        assert rough[family] == pytest.approx(found[metric].value, rel=0.3)


@pytest.mark.parametrize("changes", [{}, {"rate": "50/s", "limits": ("ttft_p90<=2s",)}])
def test_a_simulated_search_starts_with_what_the_estimate_proposes(changes: dict[str, object]) -> None:
    asked = SearchSettings(
        **{"model": Path("llama-3.1-8b"), "devices": ("a100-sxm", "l40s"), "tracking": False, **changes}
    )
    space = prepare(asked).search.space
    assert 0 < len(space.screened) <= 36
    assert all(device in ("a100-sxm", "l40s") and space.fault(one) is None for device, one in space.screened)
    assert prepare(asked).search.space.screened == space.screened
