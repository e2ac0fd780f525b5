"""What does not fit says what would."""

from __future__ import annotations

import pytest

from autotune.core.candidate import Candidate, Scalar
from autotune.core.errors import BuildError
from autotune.core.workload import BUILT_IN
from autotune_backends.simulated import SimulatedBackend
from autotune_backends.simulated.devices import device_named
from autotune_backends.simulated.nearest_fit import nearest_fit
from autotune_backends.simulated.transformers import model_named


@pytest.mark.parametrize(
    ("model", "device", "candidate", "said"),
    [
        ("llama-3.1-70b", "a100-sxm", {}, "it fits with tp=4, or with precision=int4"),
        ("llama-3.1-70b", "l4", {"precision": "int4", "tp": 1}, "it fits with tp=2"),
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
