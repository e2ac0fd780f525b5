from __future__ import annotations

from pathlib import Path

import pytest

from autotune.api.options import parse_dims
from autotune.api.shapes import distinct_shapes, fixed_sizes, mixing, refuse_unfit_shapes, usual_sizes
from autotune.core.errors import UserError
from autotune.core.model import BatchAxis, ModelFacts, TensorFacts
from autotune.core.workload import BUILT_IN, Phase, Shape, Workload

FACTS = ModelFacts(
    path=Path("m.onnx"), format="onnx", sha256="0", files=("m.onnx",), size_bytes=1,
    inputs=(TensorFacts(name="ids", dtype="int64", shape=("N", "past + seq")),), outputs=(),
    batch=BatchAxis(works=True, symbol="N"), dims={"N": 1, "seq": 8, "past": 0, "past + seq": 8},
)  # fmt: skip
MIXED = Workload(
    name="mixed",
    phases=(Phase(scenario="offline", shapes=(Shape(dims={"seq": 16}), Shape(dims={"seq": 64}, weight=3))),),
)


def test_several_sizes_of_a_dimension_are_a_mixture_of_equal_parts() -> None:
    dims = parse_dims(["seq=64,128", "N=4"])
    assert fixed_sizes(dims) == {"N": 4}
    load = mixing(BUILT_IN["default"], dims)
    for phase in load.phases:
        assert [(shape.label, shape.weight) for shape in phase.shapes] == [("seq=64", 1.0), ("seq=128", 1.0)]


def test_several_dimensions_are_combined() -> None:
    load = mixing(BUILT_IN["latency"], parse_dims(["h=1,2", "w=3,4"]))
    assert [shape.label for shape in load.phases[0].shapes] == ["h=1 w=3", "h=1 w=4", "h=2 w=3", "h=2 w=4"]


def test_one_size_each_leaves_the_workload_as_it_is() -> None:
    assert mixing(BUILT_IN["default"], parse_dims(["seq=64"])) == BUILT_IN["default"]


def test_the_model_is_described_at_the_commonest_sizes() -> None:
    assert usual_sizes(MIXED) == {"seq": 64}
    assert [shape.label for shape in distinct_shapes(MIXED)] == ["seq=64", "seq=16"]
    assert usual_sizes(BUILT_IN["default"]) == {}


@pytest.mark.parametrize("dims", [["seq=8"], ["seq=8,16"], ["past=1,2"]])
def test_sizes_are_given_in_one_place(dims: list[str]) -> None:
    with pytest.raises(UserError, match="mixes shapes itself"):
        mixing(MIXED, parse_dims(dims))


@pytest.mark.parametrize(("name", "says"), [("sq", "did you mean 'seq'?"), ("N", "is the batch")])
def test_a_shape_that_the_model_does_not_have_is_refused(name: str, says: str) -> None:
    load = Workload(name="w", phases=(Phase(scenario="offline", shapes=(Shape(dims={name: 8}),)),))
    with pytest.raises(UserError) as caught:
        refuse_unfit_shapes(load, FACTS)
    assert says in str(caught.value)
    refuse_unfit_shapes(MIXED, FACTS)


@pytest.mark.parametrize("text", ["seq", "seq=", "seq=8,", "seq=-1", "seq=8,8", "seq=2147483648"])
def test_a_dimension_that_cannot_be_read_is_told(text: str) -> None:
    with pytest.raises(UserError):
        parse_dims([text])


def test_an_empty_cache_may_be_asked_for() -> None:
    assert parse_dims(["past=0", "seq=1,0"]) == {"past": (0,), "seq": (1, 0)}


def test_a_dimension_is_given_once() -> None:
    with pytest.raises(UserError, match="given twice"):
        parse_dims(["seq=8", "seq=16"])
