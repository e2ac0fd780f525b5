"""From a workload to requests."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from autotune.core.errors import UserError
from autotune.core.token_load import TokenCounts, TokenLoad
from autotune.core.workload import BUILT_IN, Phase, Workload
from autotune_backends.simulated.serving.policy import policy_of
from autotune_backends.simulated.serving.sending import requests_of
from autotune_backends.simulated.serving.trace import read_trace


def made(load: TokenLoad, rate: float = 10.0) -> Workload:
    return Workload(name="made", phases=(Phase(scenario="server", rate_per_s=rate, tokens=load),))


@pytest.mark.parametrize(
    ("name", "inputs", "outputs"),
    [("chat", (1155, 1932), (211, 460)), ("code", (2048, 4124), (28, 63)), ("summarise", (2588, 3702), (291, 372))],
)
def test_built_in_loads_have_their_mean_and_p90(name: str, inputs: tuple[int, int], outputs: tuple[int, int]) -> None:
    phase = BUILT_IN[name].at_rate(100.0).phases[0]
    requests = requests_of(Workload(name=name, phases=(phase,)))
    for drawn, (mean, p90) in ((requests.inputs, inputs), (requests.outputs, outputs)):
        assert np.mean(drawn) == pytest.approx(mean, rel=0.03)
        assert np.percentile(drawn, 90) == pytest.approx(p90, rel=0.04)


@pytest.mark.parametrize("arrivals", ["poisson", "steady", "bursty", "diurnal"])
def test_arrivals_come_at_the_rate_asked_for(arrivals: str) -> None:
    load = TokenLoad(arrivals=arrivals, requests=20_000, period_s=100.0)
    times = requests_of(made(load, 50.0)).arrived_s
    assert times == sorted(times)
    assert len(times) / times[-1] == pytest.approx(50.0, rel=0.05)


def test_bursts_are_as_uneven_as_asked() -> None:
    gaps = np.diff(requests_of(made(TokenLoad(arrivals="bursty", burstiness=3.0, requests=40_000))).arrived_s)
    assert gaps.std() / gaps.mean() == pytest.approx(3.0, rel=0.06)


def test_a_day_has_its_peak_in_the_middle() -> None:
    load = TokenLoad(arrivals="diurnal", period_s=100.0, peak=1.9, requests=10_000)
    middle = np.asarray(requests_of(made(load, 100.0)).arrived_s) % 100.0
    assert np.mean((middle > 40) & (middle < 60)) == pytest.approx(0.2 * (1 + 0.9 * 0.935), rel=0.05)


def test_the_same_seed_sends_the_same_requests_and_another_others() -> None:
    load = made(BUILT_IN["chat"].phases[0].tokens or TokenLoad())
    assert requests_of(load, 3) == requests_of(load, 3)
    assert requests_of(load, 3) != requests_of(load, 4)


def test_each_turn_holds_all_that_was_said_before() -> None:
    load = TokenLoad(input_tokens=TokenCounts(mean=10), output_tokens=TokenCounts(mean=5), turns=3, requests=6)
    requests = requests_of(made(load))
    assert requests.inputs == [10, 25, 40, 10, 25, 40]
    assert requests.follower == [1, 2, -1, 4, 5, -1]


def test_a_load_without_a_rate_or_without_tokens_is_refused() -> None:
    with pytest.raises(UserError, match="'chat' has no rate"):
        requests_of(BUILT_IN["chat"])
    with pytest.raises(UserError, match="says nothing of tokens"):
        requests_of(BUILT_IN["default"])


def test_a_trace_is_read_in_order_of_arrival(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    path.write_text("arrived_at,input_tokens,output_tokens,priority,prefix_id\n105,7,3,1,a\n100,9,2,,a\n101,4,1,0,\n")
    requests = requests_of(made(TokenLoad(trace=str(path))))
    assert requests.arrived_s == [0.0, 1.0, 5.0]
    assert (requests.inputs, requests.outputs, requests.priority) == ([9, 4, 7], [2, 1, 3], [0, 0, 1])
    assert (requests.prefix, requests.prefix_tokens) == ([0, -1, 0], [6, 0, 6])


def test_bad_rows_of_a_trace_are_named(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    path.write_text("arrived_at,input_tokens,output_tokens\n0,5,5\nsoon,5,5\n1,0,5\n2,5,2.5\n3,5,\n-1,5,5\n")
    with pytest.raises(UserError) as raised:
        read_trace(path)
    assert raised.value.problem.endswith(
        "row 3: arrived_at is 'soon', no number; row 4: input_tokens is 0, no whole number of 1 or more; "
        "row 5: output_tokens is 2.5, no whole number of 1 or more; and 2 more"
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a,b\n1,2\n", "no column arrived_at"),
        ("arrived_at,input_tokens,output_tokens\n", "has no rows"),
        ("", "no column"),
    ],
)
def test_a_trace_without_requests_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "trace.csv"
    path.write_text(text)
    with pytest.raises(UserError, match=problem):
        read_trace(path)


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("batching", "continous", "did you mean 'continuous'"),
        ("max_num_seqs", 0, "is no count"),
        ("max_num_seqs", True, "is no count"),
        ("chunked_prefill", "yes", "neither true nor false"),
        ("batch_delay_s", -1.0, "is no time"),
    ],
)
def test_parameters_that_no_server_has_are_refused(name: str, value: object, problem: str) -> None:
    with pytest.raises(UserError, match=problem):
        policy_of({name: value})
