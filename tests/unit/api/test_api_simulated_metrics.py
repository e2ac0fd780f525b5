"""What no simulation tells is refused before a simulated search begins, as an objective and as a limit."""

from __future__ import annotations

import pytest

from autotune.api.simulated import simulated_limits, simulated_objectives
from autotune.core.errors import UserError


@pytest.mark.parametrize("metric", ["accuracy", "accuracy_drop"])
def test_accuracy_is_neither_an_objective_nor_a_limit(metric: str):
    with pytest.raises(UserError, match=f"{metric} is not simulated"):
        simulated_objectives([metric], None)
    with pytest.raises(UserError, match=f"{metric} is unknown"):
        simulated_limits([f"{metric}<=1"], None)


def test_what_a_simulation_tells_is_taken():
    assert [one.metric for one in simulated_objectives(["ttft_p99"], None)] == ["ttft_p99"]
    assert [limit.metric for limit in simulated_limits(["ttft_p99<=1s"], None)] == ["ttft_p99"]
