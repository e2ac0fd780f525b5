"""A parameter that shares something out with an earlier one: what is proposed, drawn, walked and written never exceeds it."""

from __future__ import annotations

import random

import pytest

from autotune.core.candidate import Candidate
from autotune.core.errors import UserError
from autotune.core.space import Parameter, SearchSpace, Share
from autotune.core.trial import Measurement, Trial
from autotune.core.values import Value
from autotune.searching import Plans
from autotune.searching.optuna_sampler import OptunaSampler
from autotune.searching.space_file import narrow
from autotune.searching.unseen import draw_candidate
from autotune.testing.fake_search import fake_search
from autotune.testing.sampler_suite import drive

CPUS = 16
COUNTS = (1, 2, 4, 8, 16)
THREADS = Parameter(name="threads", choices=COUNTS)
INSTANCES = Parameter(
    name="instances", choices=COUNTS, requires={"threads": COUNTS[:-1]}, share=Share(by="threads", total=CPUS)
)


def space(*others: Parameter) -> SearchSpace:
    baseline = Candidate(threads=CPUS, **{one.name: one.low or 0 for one in others})
    return SearchSpace(
        name="s", parameters=(THREADS, INSTANCES, *others), baseline=baseline, reference=baseline, experts=()
    )


def used(candidate: Candidate) -> int:
    return int(candidate["threads"]) * int(candidate.get("instances", 1))


def test_what_is_walked_and_what_is_drawn_fits() -> None:
    walked = space().candidates()
    assert len(walked) == len(set(walked)) == 5 + 4 + 3 + 2 + 1
    draw = random.Random(0)
    assert {draw_candidate(space(), draw) for _ in range(500)} == set(walked)
    assert max(map(used, walked)) == CPUS


def test_what_is_proposed_fits_and_reaches_the_best_share() -> None:
    search = fake_search(
        space(*(Parameter(name=f"x{i}", low=0, high=9) for i in range(3))), objectives=("latency_p50",)
    )

    def answer(trial: Trial) -> Measurement:
        one = trial.candidate
        seconds = 20.0 - used(one) + (one["threads"] != 2) + 0.1 * sum(int(one[f"x{i}"]) for i in range(3))
        return Measurement(metrics={"latency_p50": Value(value=seconds, unit="s")})

    records = drive(OptunaSampler(search.space, search.context, Plans(600.0)), answer, 60)
    candidates = [record.trial.candidate for record in records]
    assert all(search.space.fault(candidate) is None for candidate in candidates)
    assert any((one["threads"], one.get("instances")) == (2, 8) for one in candidates)


def test_more_than_there_is_is_a_fault_that_says_so() -> None:
    fault = space().fault(Candidate(threads=8, instances=4))
    assert fault == "instances=4 is not in the space (times threads it is at most 16)"


@pytest.mark.parametrize(
    ("wanted", "instances", "most"), [("[1, 3]", (1, 3), 12), ("2", (2,), 16), ("[1, 32]", (1, 32), 8 * 32)]
)
def test_a_number_that_is_asked_for_is_taken_and_more_than_all_lifts_the_bound(
    wanted: str, instances: tuple[int, ...], most: int
) -> None:
    found = narrow(space(), f"set: {{instances: {wanted}}}", "s.yaml")
    assert found.parameter("instances").choices == instances  # type: ignore[union-attr]
    assert max(used(one) for one in found.candidates() if "instances" in one) == most


def test_what_is_no_number_is_refused() -> None:
    with pytest.raises(UserError, match="instances cannot be 'fill' here"):
        narrow(space(), "set: {instances: [1, fill]}", "s.yaml")


def test_a_share_is_written_where_there_is_one_alone() -> None:
    assert "share" not in THREADS.model_dump()
    assert Parameter.model_validate_json(INSTANCES.model_dump_json()) == INSTANCES
