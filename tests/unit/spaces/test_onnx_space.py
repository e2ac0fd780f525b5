from __future__ import annotations

from pathlib import Path

import pytest

from autotune.core.batching import batching_of
from autotune.core.candidate import Candidate
from autotune.core.deployment import Batching
from autotune.core.errors import UserError
from autotune.core.model import ModelFacts
from autotune.core.space import Offer, Omission, Parameter, SearchSpace
from autotune.core.workload import BUILT_IN
from autotune_search_spaces.onnx import onnx_space

MODEL = ModelFacts(
    path=Path("m.onnx"), format="onnx", sha256="0", files=("m.onnx",), size_bytes=1, inputs=(), outputs=()
)
INT8 = {"precision": ("int8_dynamic", "int8_static")}
DYNAMIC, STATIC, BLOCKS = ("int8_dynamic",), ("int8_static",), ("int8_weights", "int4_weights")
PARAMETERS = (
    Parameter(name="precision", choices=("fp32", *DYNAMIC, *STATIC, *BLOCKS), calibrated=STATIC, affects="build"),
    Parameter(name="int8_per_channel", choices=(False, True), requires=INT8, affects="build"),
    Parameter(name="int8_operators", choices=("all", "matmul"), requires={"precision": DYNAMIC}, affects="build"),
    Parameter(
        name="int8_static_operators", choices=("all", "products"), requires={"precision": STATIC}, affects="build"
    ),
    Parameter(name="weight_block", choices=(32, 64, 128), requires={"precision": BLOCKS}, affects="build"),
    Parameter(
        name="fusion", choices=("none", "transformer"), requires={"precision": ("fp32", *DYNAMIC)}, affects="build"
    ),
    Parameter(name="graph_optimization", choices=("disabled", "basic", "extended", "all")),
    Parameter(name="intra_op_threads", choices=(1, 2, 4)),
    Parameter(name="execution_mode", choices=("sequential", "parallel")),
    Parameter(name="inter_op_threads", choices=(2, 4), requires={"execution_mode": ("parallel",)}),
    Parameter(name="spinning", choices=(True, False), requires={"intra_op_threads": (2, 4)}),
    Parameter(name="memory", choices=("pattern", "arena", "system")),
    Parameter(name="batch_size", choices=(1, 2, 4, 8, 16, 32, 64), affects="run"),
)
OFFER = Offer(
    backend="onnxruntime",
    device="cpu",
    parameters=PARAMETERS,
    omissions=(Omission(parameter="int8_reduce_range", reason="no saturation"),),
)


def space(*offers: Offer, workload: str = "default") -> SearchSpace:
    return onnx_space(MODEL, offers or (OFFER,), BUILT_IN[workload])


def test_runtime_comes_first() -> None:
    assert space().parameters[0].name == "runtime"
    assert space().parameters[0].choices == ("onnxruntime",)


def test_baseline_is_the_model_as_it_is_with_every_counted_cpu() -> None:
    assert dict(space().baseline) == {
        "runtime": "onnxruntime",
        "precision": "fp32",
        "fusion": "none",
        "graph_optimization": "all",
        "intra_op_threads": 4,
        "execution_mode": "sequential",
        "spinning": True,
        "memory": "pattern",
        "batch_size": 1,
    }


def test_reference_is_not_optimised_and_has_one_thread() -> None:
    reference = space().reference
    assert (reference["graph_optimization"], reference["intra_op_threads"]) == ("disabled", 1)
    assert "spinning" not in reference


@pytest.mark.parametrize("workload", sorted(BUILT_IN))
@pytest.mark.parametrize("dropped", [None, *(parameter.name for parameter in PARAMETERS)])
def test_named_candidates_are_points_of_the_space(workload: str, dropped: str | None) -> None:
    kept = tuple(p for p in PARAMETERS if p.name != dropped and dropped not in p.requires)
    found = space(OFFER.model_copy(update={"parameters": kept}), workload=workload)
    for candidate in (found.baseline, found.reference, *found.experts):
        assert found.fault(candidate) is None


def test_experts_are_distinct_and_leave_the_baseline_out() -> None:
    experts = space().experts
    assert len(set(experts)) == len(experts) >= 8
    assert space().baseline not in experts


def test_the_most_promising_candidates_come_first() -> None:
    first = [expert["precision"] for expert in space().experts[:3]]
    assert first == ["int8_static", "int8_dynamic", "int8_dynamic"]
    assert [expert.get("fusion") for expert in space().experts[1:3]] == ["none", "transformer"]


def test_every_format_that_is_offered_is_tried_once_at_least() -> None:
    assert {expert["precision"] for expert in space().experts} == {"fp32", *DYNAMIC, *STATIC, *BLOCKS}


def test_wishes_for_a_format_that_is_not_offered_are_left_out() -> None:
    fewer = PARAMETERS[0].model_copy(update={"choices": ("fp32", *DYNAMIC)})
    experts = space(OFFER.model_copy(update={"parameters": (fewer, *PARAMETERS[1:])})).experts
    assert experts[0]["precision"] == "int8_dynamic"
    alone = [expert for expert in experts if expert["intra_op_threads"] == 1 and expert["batch_size"] == 16]
    assert [expert["precision"] for expert in alone] == ["int8_dynamic"]


def test_without_int8_no_expert_is_lost_to_a_repeat_of_the_baseline() -> None:
    plain = tuple(p for p in PARAMETERS if not p.name.startswith(("int8", "weight", "fusion")))
    only = plain[0].model_copy(update={"choices": ("original",)})
    found = space(OFFER.model_copy(update={"parameters": (only, *plain[1:])}))
    assert found.baseline["precision"] == "original"
    assert {expert["precision"] for expert in found.experts} == {"original"}


def test_batch_belongs_to_offline_and_server_loads() -> None:
    found = space(workload="latency")
    assert found.parameter("batch_size") is None
    assert "batch_size" not in found.baseline
    reason = next(omission.reason for omission in found.omissions if omission.parameter == "batch_size")
    assert "'latency'" in reason


def test_omissions_of_the_offers_are_kept() -> None:
    assert Omission(parameter="int8_reduce_range", reason="no saturation") in space().omissions


def test_no_willing_backend_is_a_persons_error_with_every_refusal() -> None:
    refusals = [Offer(backend=name, device="cpu", refusal=f"{name} cannot") for name in ("one", "two")]
    with pytest.raises(UserError, match=r"one on cpu: one cannot; two on cpu: two cannot"):
        space(*refusals)


def test_a_refusing_backend_is_an_omission_beside_a_willing_one() -> None:
    found = space(OFFER, Offer(backend="other", device="cpu", refusal="too old"))
    assert found.parameters[0].choices == ("onnxruntime",)
    assert Omission(parameter="runtime", values=("other",), reason="cpu: too old") in found.omissions


def test_parameters_of_unknown_kind_are_kept() -> None:
    extra = Parameter(name="tile", low=1, high=8)
    found = space(OFFER.model_copy(update={"parameters": (*PARAMETERS, extra)}))
    assert found.parameter("tile") == extra
    assert found.baseline["tile"] == 1


def test_a_parameter_of_one_runtime_requires_that_runtime() -> None:
    other = Offer(backend="other", device="cpu", parameters=(PARAMETERS[0], PARAMETERS[-1]))
    found = space(OFFER, other)
    assert found.parameter("spinning").requires["runtime"] == ("onnxruntime",)  # type: ignore[union-attr]
    assert "runtime" not in found.parameter("precision").requires  # type: ignore[union-attr]
    assert found.fault(found.baseline) is None


def test_values_that_not_every_runtime_allows_are_left_out_with_the_reason() -> None:
    fewer = PARAMETERS[-1].model_copy(update={"choices": (1, 2, 128)})
    found = space(OFFER, Offer(backend="other", device="cpu", parameters=(fewer,)))
    assert found.parameter("batch_size").choices == (1, 2)  # type: ignore[union-attr]
    lost = next(o for o in found.omissions if o.parameter == "batch_size")
    assert set(lost.values) == {4, 8, 16, 32, 64, 128}


def test_a_batch_policy_is_searched_under_a_server_load_alone() -> None:
    served = space(workload="server")
    names = [parameter.name for parameter in served.parameters]
    assert {"max_batch", "queue_delay_s", "instances"} <= set(names)
    assert "batch_size" not in names
    assert not {"max_batch", "queue_delay_s", "instances"} & {one.name for one in space().parameters}
    assert "queue_delay_s" not in served.baseline
    assert served.baseline["max_batch"] == 1


def test_instances_share_the_counted_cpus_and_never_exceed_them() -> None:
    served = space(workload="server")
    instances = served.parameter("instances")
    assert instances is not None
    assert instances.requires["intra_op_threads"] == (1, 2)
    assert instances.choices == (1, 2, 4)
    assert {int(one["instances"]) * int(one["intra_op_threads"]) for one in served.experts if "instances" in one} >= {4}
    tried = {(one["intra_op_threads"], one["instances"]) for one in policies_of(served) if "instances" in one}
    assert tried == {(1, 1), (1, 2), (1, 4), (2, 1), (2, 2)}


def policies_of(found: SearchSpace) -> list[Candidate]:
    """Every candidate of the space, as far as threads and the policy tell them apart."""
    kept = ("runtime", "intra_op_threads", "max_batch", "queue_delay_s", "instances")
    parameters = tuple(one for one in found.parameters if one.name in kept)
    return found.model_copy(update={"parameters": parameters}).candidates()


@pytest.mark.parametrize(
    ("threads", "instances"),
    [
        ((1, 2), (1, 2)),
        ((1, 2, 3), (1, 3)),
        ((1, 2, 4, 6), (1, 2, 3, 6)),
        ((1, 2, 4, 7), (1, 3, 7)),
        ((1, 2, 4, 8, 12), (1, 2, 3, 4, 6, 12)),
    ],
)
def test_instances_are_even_shares_of_any_count_of_cpus(threads: tuple[int, ...], instances: tuple[int, ...]) -> None:
    changed = [one.model_copy(update={"choices": threads}) for one in PARAMETERS if one.name == "intra_op_threads"]
    found = space(OFFER.model_copy(update={"parameters": (*changed, PARAMETERS[-1])}), workload="server")
    assert found.parameter("instances").choices == instances  # type: ignore[union-attr]
    for one in (*policies_of(found), *found.experts):
        assert int(one.get("instances", 1)) * int(one["intra_op_threads"]) <= threads[-1]
        assert found.fault(one) is None


def test_the_policy_that_is_measured_is_the_candidates() -> None:
    policy = batching_of({"max_batch": 8, "queue_delay_s": 0.001, "intra_op_threads": 2, "instances": 2})
    assert policy == Batching(max_batch=8, delay_s=0.001, instances=2)
    assert batching_of({"batch_size": 8}) is None


def test_without_batches_a_server_still_has_instances() -> None:
    single = OFFER.model_copy(
        update={"parameters": tuple(one for one in PARAMETERS if one.name != "batch_size"), "omissions": ()}
    )
    served = space(single, workload="server")
    assert served.parameter("max_batch") is None
    assert served.parameter("instances") is not None
    assert any(omission.parameter == "max_batch" for omission in served.omissions)
