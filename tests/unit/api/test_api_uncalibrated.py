from __future__ import annotations

from pathlib import Path

from autotune.api.uncalibrated import legal_with, without_calibrated
from autotune.core.dataset import DataFacts, Split
from autotune.core.space import Offer, Parameter

BOTH = ("dynamic", "static")
OFFER = Offer(
    backend="one",
    device="cpu",
    parameters=(
        Parameter(name="precision", choices=("fp32", *BOTH), calibrated=("static",), affects="build"),
        Parameter(name="shared", choices=(False, True), requires={"precision": BOTH, "runtime": ("one",)}),
        Parameter(name="method", choices=("minmax", "entropy"), requires={"precision": ("static",)}),
        Parameter(name="depth", choices=(1, 2), requires={"method": ("entropy",)}),
        Parameter(name="threads", low=1, high=4),
    ),
)


def data(path: Path | None) -> DataFacts:
    split = Split(calibrate=(0,), select=(0,), confirm=(0,), whole=True)
    return DataFacts(path=path, sha256="0", count=1, labels=False, split=split)


def test_with_the_users_data_everything_is_legal() -> None:
    assert legal_with(data(Path("x.npz")), [OFFER]) == [OFFER]


def test_without_data_calibrated_choices_and_what_hangs_on_them_are_gone() -> None:
    (rest,) = legal_with(data(None), [OFFER])
    assert [parameter.name for parameter in rest.parameters] == ["precision", "shared", "threads"]
    assert rest.parameter("precision").choices == ("fp32", "dynamic")  # type: ignore[union-attr]
    assert rest.parameter("shared").requires == {  # type: ignore[union-attr]
        "precision": ("dynamic",),
        "runtime": ("one",),
    }


def test_what_is_left_out_is_said_with_the_remedy() -> None:
    omitted = {omission.parameter: omission for omission in without_calibrated(OFFER).omissions}
    assert omitted.keys() == {"precision", "method", "depth"}
    assert omitted["precision"].values == ("static",)
    assert all("--data" in omission.reason for omission in omitted.values())


def test_a_parameter_that_is_all_calibrated_is_left_out() -> None:
    alone = Parameter(name="scales", choices=("a", "b"), calibrated=("a", "b"))
    rest = without_calibrated(OFFER.model_copy(update={"parameters": (alone,)}))
    assert rest.parameters == ()
    assert len(rest.omissions) == 1
