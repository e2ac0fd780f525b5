from __future__ import annotations

from autotune.searching.tally import Tally
from autotune.testing.sample_search import sample_records


def test_trials_are_counted_by_how_they_ended_and_the_fronts_not_at_all() -> None:
    tally = Tally(sample_records())
    assert tally.trials == 5
    assert tally.failures == {"unsupported": 1}
    assert tally.same == 1
