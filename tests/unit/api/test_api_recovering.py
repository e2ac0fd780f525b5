from __future__ import annotations

import pytest

from autotune.api.recovering import recovery_s, refuse_no_recovery, with_recovery
from autotune.core.errors import UserError
from autotune.core.recovery import RECOVERY
from autotune.core.space import Offer, Omission, Parameter

PRUNED = Parameter(name="pruning_ratio", choices=(0.0, 0.5), calibrated=(0.0, 0.5), affects="build")
ANY_TIME = Parameter(name=RECOVERY, low=0.0, high=1e6, requires={"pruning_ratio": (0.5,)}, affects="build")
ABLE = Offer(backend="one", device="cpu", parameters=(PRUNED, ANY_TIME))
UNABLE = Offer(backend="two", device="cpu", omissions=(Omission(parameter=RECOVERY, reason="needs PyTorch"),))


def test_the_asked_time_is_offered_beside_none_at_all() -> None:
    (offer,) = with_recovery(300.0, [ABLE])
    parameter = offer.parameter(RECOVERY)
    assert parameter is not None
    assert parameter.choices == parameter.calibrated == (0.0, 300.0)
    assert parameter.requires == {"pruning_ratio": (0.5,)}


def test_unasked_it_is_left_out_and_how_to_ask_is_said() -> None:
    (offer,) = with_recovery(0.0, [ABLE])
    assert offer.parameter(RECOVERY) is None
    assert "--recover 5m" in offer.omissions[0].reason


def test_what_no_backend_can_do_is_refused_with_the_reason() -> None:
    with pytest.raises(UserError, match="--recover: needs PyTorch"):
        refuse_no_recovery(300.0, with_recovery(300.0, [UNABLE]))
    refuse_no_recovery(0.0, [UNABLE])
    refuse_no_recovery(300.0, with_recovery(300.0, [UNABLE, ABLE]))


@pytest.mark.parametrize(
    ("text", "budget_s", "seconds"), [(None, 60.0, 0.0), ("5m", 3600.0, 300.0), ("1h", None, 3600.0)]
)
def test_times_are_read_as_budgets_are(text: str | None, budget_s: float | None, seconds: float) -> None:
    assert recovery_s(text, budget_s) == seconds


@pytest.mark.parametrize(("text", "problem"), [("5", "--recover '5' is not a time"), ("5m", "a quarter of the budget")])
def test_what_is_no_time_and_what_eats_the_budget_is_refused(text: str, problem: str) -> None:
    with pytest.raises(UserError, match=problem):
        recovery_s(text, 600.0)
