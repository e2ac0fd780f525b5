"""A model that does not run as it is: what may help is told."""

from __future__ import annotations

from autotune.core.errors import Stage
from autotune.core.trial import Failure
from autotune.searching.unrunnable import does_not_run
from autotune.testing.fake_search import fake_search


def remedy(stage: Stage, data: str | None) -> str:
    search = fake_search(max_trials=4)
    model = search.context.model.model_copy(update={"dims": {"batch": 1, "sequence": 128}})
    context = search.context.model_copy(update={"model": model})
    asked = search.model_copy(update={"context": context, "data": search.data.model_copy(update={"path": data})})
    return does_not_run(Failure(stage=stage, cause="other", message="axes differ"), asked).remedy


def test_sizes_of_made_up_inputs_are_told() -> None:
    assert "--dim batch=1 --dim sequence=128" in remedy("check", None)


def test_what_took_too_long_needs_time_and_not_another_model() -> None:
    assert "--budget" in remedy("timeout", None)
    error = does_not_run(
        Failure(stage="timeout", cause="timeout", message="not done after 30 s"), fake_search(max_trials=4)
    )
    assert str(error).startswith("the unmodified model does not run: it timed out: not done after 30 s")


def test_sizes_are_not_blamed_for_what_does_not_open_or_for_the_users_own_data() -> None:
    assert "sequence" not in remedy("open", None)
    assert "sequence" not in remedy("check", "samples.npz")
