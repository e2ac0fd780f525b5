"""What does not fit says what would."""

from __future__ import annotations

import pytest

from autotune.core.candidate import Candidate, Scalar
from autotune.core.errors import BuildError, MeasureError
from autotune.core.workload import BUILT_IN
from autotune_backends.simulated import SimulatedBackend
from autotune_backends.simulated.devices import device_named
from autotune_backends.simulated.nearest_fit import nearest_fit
from autotune_backends.simulated.transformers import model_named

SMALL_DECODER: dict[str, Scalar] = {"decode_device": "l40s", "decode_tp": 2}
EQUAL_PAIR: dict[str, Scalar] = {"decode_device": "a100-sxm", "tp": 1, "decode_tp": 1}


@pytest.mark.parametrize(
    ("model", "device", "candidate", "said"),
    [
        ("llama-3.1-70b", "a100-sxm", {}, "it fits with tp=4, or with precision=int4"),
        ("llama-3.1-70b", "l4", {"precision": "int4", "tp": 1}, "it fits with tp=2"),
        ("llama-3.1-70b", "a100-sxm", {**SMALL_DECODER, "tp": 4}, "it fits with decode_tp=4, or with precision=int8"),
        ("llama-3.1-70b", "a100-sxm", EQUAL_PAIR, "it fits with tp=4 decode_tp=4, or with precision=int4"),
        ("llama-3.1-70b", "alveo-u280", {"precision": "int8"}, ""),
        ("llama-3.1-70b", "snapdragon-8gen3", {"precision": "fp16"}, ""),
    ],
)
def test_the_least_change_that_fits_is_named(model: str, device: str, candidate: dict[str, Scalar], said: str) -> None:
    assert nearest_fit(model_named(model), device_named(device), candidate) == said


def test_a_trial_that_does_not_fit_ends_with_what_would() -> None:
    backend = SimulatedBackend()
    with pytest.raises(BuildError, match=r"needs .* GiB, has .* GiB; it fits with tp="):
        backend.simulate(
            backend.language_model("llama-3.1-70b"),
            Candidate(),
            backend.simulated_device("l40s"),
            BUILT_IN["chat"].for_users(1),
        )


def test_a_request_that_is_too_long_names_what_has_room_for_it() -> None:
    model, device = model_named("llama-3.1-8b"), device_named("l4")
    assert nearest_fit(model, device, {}, tokens=60_000) == "it fits with tp=2, or with precision=fp8"
    assert nearest_fit(model, device, {}, tokens=10_000_000) == ""


def test_a_trial_with_requests_that_are_too_long_ends_with_what_has_room_for_them() -> None:
    backend = SimulatedBackend()
    with pytest.raises(MeasureError, match=r"a request of \d+ tokens does not fit .*; it fits with tp=") as caught:
        backend.simulate(
            backend.language_model("llama-3.1-8b"),
            Candidate(memory_share=0.72),
            backend.simulated_device("l4"),
            BUILT_IN["rag"].for_users(1),
        )
    assert caught.value.cause == "out_of_memory"
