from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.core.candidate import Candidate, Scalar
from autotune.core.errors import BuildError, UserError
from autotune.core.values import Value
from autotune.core.workload import BUILT_IN
from autotune_backends.simulated import SimulatedBackend
from autotune_backends.simulated.speculation import expected_tokens

BACKEND = SimulatedBackend()
MODEL = BACKEND.language_model("llama-3.1-70b")
H100 = BACKEND.simulated_device("h100-sxm")
FEW = BUILT_IN["chat"].for_users(2)
DRAFT: dict[str, Scalar] = {"draft_model": "llama-3.2-1b", "speculative_tokens": 4, "acceptance": 0.8}


def found(**parameters: Scalar) -> dict[str, Value]:
    return dict(BACKEND.simulate(MODEL, Candidate({"precision": "fp8", "tp": 4, **parameters}), H100, FEW))


@given(acceptance=st.floats(0, 1), proposed=st.integers(1, 16))
def test_a_step_yields_one_token_to_all_that_were_proposed_and_one(acceptance: float, proposed: int) -> None:
    assert 1 <= expected_tokens(acceptance, proposed) <= proposed + 1 + 1e-9


def test_the_formula_is_the_published_one() -> None:
    assert expected_tokens(0.8, 4) == pytest.approx(1 + 0.8 + 0.64 + 0.512 + 0.4096)
    assert expected_tokens(1.0, 4) == 5
    assert expected_tokens(0.0, 4) == 1


def test_for_few_users_a_good_draft_makes_tokens_faster_and_a_bad_one_slower() -> None:
    plain, good, bad = found(), found(**DRAFT), found(**{**DRAFT, "acceptance": 0.0})
    assert good["tpot_p50"].value < 0.8 * plain["tpot_p50"].value
    assert bad["tpot_p50"].value > plain["tpot_p50"].value
    assert good["size"].value > plain["size"].value


def test_where_the_acceptance_is_from_stands_with_the_numbers() -> None:
    assert "as given, not measured here" in found(**DRAFT)["tpot_p50"].basis
    assert "my bench" in found(**DRAFT, acceptance_source="my bench")["tpot_p50"].basis


def test_gaps_between_single_tokens_are_unknown() -> None:
    assert not any(name.startswith("itl") for name in found(**DRAFT))


@pytest.mark.parametrize(
    "change", [{"acceptance": 1.5}, {"acceptance": "good"}, {"speculative_tokens": 0}, {"draft_model": "llama-3.2-1c"}]
)
def test_a_mistake_is_told(change: dict[str, Scalar]) -> None:
    with pytest.raises(UserError):
        found(**{**DRAFT, **change})


def test_an_acceptance_is_never_assumed() -> None:
    with pytest.raises(UserError, match="needs acceptance"):
        found(draft_model="llama-3.2-1b")


def test_a_draft_that_does_not_fit_beside_the_model_says_so() -> None:
    with pytest.raises(BuildError, match="draft model does not fit"):
        found(draft_model="llama-3.1-70b", draft_precision="fp8", acceptance=0.9, tp=2)
