from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotune.core.device import DeviceSpec
from autotune.core.model import BatchAxis, ModelFacts
from autotune.core.space import Offer
from autotune_backends.offering import thread_counts
from autotune_backends.onnxruntime.choices import ModelTraits
from autotune_backends.onnxruntime.offers import offer
from autotune_backends.onnxruntime.precisions import has_vnni

WORKS = BatchAxis(works=True, symbol="N")
CPU = DeviceSpec(name="cpu", cpus=4, isa=("avx2", "avx512f", "avx512_vnni"))


def facts(**known: Any) -> ModelFacts:
    return ModelFacts(
        path=Path("m.onnx"), format="onnx", sha256="0", files=("m.onnx",), size_bytes=1, inputs=(), outputs=(), **known
    )


def offered(
    device: DeviceSpec = CPU,
    kinds: str = "MatMul Conv",
    weights: str | None = "float32",
    batch: BatchAxis = WORKS,
    traits: dict[str, Any] | None = None,
    **known: Any,
) -> Offer:
    counted = Counter(kinds.split())
    products = Counter({kind: count for kind, count in counted.items() if kind in {"MatMul", "Gemm", "Conv"}})
    return offer(
        facts(**known), device, ModelTraits(weights, counted, batch, **{"products": products, **(traits or {})})
    )


def choices(found: Offer, name: str) -> tuple[Any, ...] | None:
    parameter = found.parameter(name)
    return parameter.choices if parameter else None


def reason(found: Offer, name: str, value: Any = None) -> str:
    of_it = (omission for omission in found.omissions if omission.parameter == name)
    return next(omission.reason for omission in of_it if value is None or value in omission.values)


def requires(found: Offer, name: str) -> dict[str, tuple[Any, ...]]:
    parameter = found.parameter(name)
    assert parameter is not None
    return parameter.requires


def test_float32_model_is_offered_int8_per_tensor_and_per_channel() -> None:
    found = offered()
    assert choices(found, "precision") == ("fp32", "int8_dynamic", "int8_static", "int8_weights", "int4_weights")
    assert choices(found, "int8_per_channel") == (False, True)
    assert requires(found, "int8_per_channel") == {"precision": ("int8_dynamic", "int8_static")}


def test_static_int8_is_said_to_need_data() -> None:
    parameter = offered().parameter("precision")
    assert parameter is not None
    assert parameter.calibrated == ("int8_static",)


def test_static_int8_brings_its_own_choices() -> None:
    found = offered()
    for name in ("int8_static_operators", "int8_types", "int8_calibration"):
        assert requires(found, name) == {"precision": ("int8_static",)}
    assert choices(found, "int8_calibration") == ("minmax", "percentile", "entropy")
    inside = offered(traits={"products": Counter()})
    assert "int8_static" not in (choices(inside, "precision") or ())
    assert "control flow" in reason(inside, "precision", "int8_static")


def test_weights_alone_are_for_matrix_products() -> None:
    found = offered(kinds="MatMul")
    for name in ("weight_block", "weight_products"):
        assert requires(found, name) == {"precision": ("int8_weights", "int4_weights")}
    alone = offered(kinds="Conv")
    assert choices(alone, "weight_block") is None
    assert "MatMul" in reason(alone, "precision", "int4_weights")


def test_a_missing_tool_is_named_with_its_command() -> None:
    found = offered(traits={"block_tool": False})
    assert "autotune-inference[int4]" in reason(found, "precision", "int4_weights")
    assert "int4_weights" not in (choices(found, "precision") or ())


def test_float16_is_for_cpus_that_compute_in_it() -> None:
    amx = DeviceSpec(name="cpu", cpus=4, isa=("avx512f", "avx512_fp16", "amx_int8"))
    assert "in float32 on this CPU" in reason(offered(amx), "precision", "fp16")
    arm = DeviceSpec(name="cpu", cpus=4, isa=("asimd", "asimdhp"))
    assert "fp16" in (choices(offered(arm), "precision") or ())
    assert reason(offered(arm), "precision", "bf16")


def test_fusion_is_for_transformers_and_what_is_quantised_after_it() -> None:
    found = offered(traits={"transformer": ("attention", "GELU")})
    assert choices(found, "fusion") == ("none", "transformer")
    assert requires(found, "fusion") == {"precision": ("fp32", "int8_dynamic")}
    assert "no attention" in reason(offered(), "fusion")


def test_fusion_without_its_package_is_left_out_with_the_command_that_brings_it() -> None:
    assert "autotune-inference[fusion]" in reason(
        offered(traits={"transformer": ("attention",), "fusion_tool": False}), "fusion"
    )


def test_threads_are_pinned_nowhere_and_why() -> None:
    assert "one NUMA node" in reason(offered(), "affinity")
    assert "numactl" in reason(offered(traits={"numa_nodes": 2}), "affinity")


def test_every_format_is_offered_or_omitted_with_a_reason() -> None:
    formats = {"int8_dynamic", "int8_static", "int8_weights", "int4_weights", "fp16", "bf16"}
    for found in (offered(), offered(weights="float16"), offered(weights=None), offered(quantised=True)):
        omitted = {value for one in found.omissions if one.parameter == "precision" for value in one.values}
        assert omitted | set(choices(found, "precision") or ()) >= formats
        assert not omitted & set(choices(found, "precision") or ())


def test_operators_are_a_choice_only_beside_matmuls() -> None:
    assert choices(offered(kinds="MatMul Gather"), "int8_operators") == ("all", "matmul")
    assert reason(offered(kinds="MatMul Gemm"), "int8_operators") == "Gemm and MatMul alone can become int8 here"
    assert reason(offered(kinds="Conv"), "int8_operators") == "Conv alone can become int8 here"


def test_quantised_model_is_not_quantised_again() -> None:
    found = offered(quantised=True)
    assert choices(found, "precision") == ("original",)
    assert "quantised already" in reason(found, "precision")
    assert choices(found, "int8_per_channel") is None


def test_model_without_quantisable_operators_says_so() -> None:
    assert "no operator" in reason(offered(kinds=""), "precision")


@pytest.mark.parametrize(
    ("weights", "name"), [("float16", "fp16"), ("float32", "fp32"), ("float64", "original"), (None, "original")]
)
def test_the_model_as_it_is_is_named_by_its_weights(weights: str | None, name: str) -> None:
    assert choices(offered(weights=weights), "precision")[0] == name  # type: ignore[index]


def test_half_precision_weights_leave_int8_out() -> None:
    found = offered(weights="float16")
    assert choices(found, "precision") == ("fp16",)
    assert "float16" in reason(found, "precision")
    assert "layout" in choices(found, "graph_optimization")  # type: ignore[operator]


def test_reduced_range_is_for_x86_without_vnni() -> None:
    old = DeviceSpec(name="cpu", cpus=4, isa=("avx2", "avx512f"))
    assert choices(offered(old), "int8_reduce_range") == (False, True)
    assert "u8u8" in (choices(offered(old), "int8_types") or ())
    assert choices(offered(), "int8_reduce_range") is None
    assert choices(offered(), "int8_types") == ("u8s8", "s8s8")
    assert has_vnni(DeviceSpec(name="arm", isa=("asimd", "asimddp")))


def test_branches_run_in_parallel_only_where_there_are_any() -> None:
    found = offered(branching=True)
    assert choices(found, "execution_mode") == ("sequential", "parallel")
    assert found.parameter("inter_op_threads").requires == {"execution_mode": ("parallel",)}  # type: ignore[union-attr]
    assert "no two nodes" in reason(offered(branching=False), "execution_mode")


def test_spinning_needs_a_second_thread() -> None:
    assert offered().parameter("spinning").requires == {"intra_op_threads": (2, 4)}  # type: ignore[union-attr]
    alone = offered(DeviceSpec(name="cpu", cpus=1), branching=True)
    assert choices(alone, "spinning") is None
    assert choices(alone, "intra_op_threads") == (1,)
    assert reason(alone, "execution_mode") == "there is one CPU"


def test_batch_that_failed_is_omitted_with_what_was_seen() -> None:
    found = offered(batch=BatchAxis(works=False, reason="batch 2 was tried and failed: boom"))
    assert choices(found, "batch_size") is None
    assert reason(found, "batch_size") == "batch 2 was tried and failed: boom"


def test_only_batch_size_affects_the_run_alone() -> None:
    affects = {parameter.name: parameter.affects for parameter in offered(branching=True).parameters}
    assert {name for name, what in affects.items() if what == "run"} == {"batch_size"}
    assert {name for name, what in affects.items() if what == "build"} == {
        "precision",
        "int8_per_channel",
        "int8_operators",
        "int8_static_operators",
        "int8_types",
        "int8_calibration",
        "weight_block",
        "weight_products",
    }


@given(st.integers(1, 512))
def test_thread_counts_end_at_the_counted_cpus(cpus: int) -> None:
    counts = thread_counts(cpus)
    assert counts[0] == 1
    assert counts[-1] == cpus
    assert list(counts) == sorted(set(counts))
    assert all(count == cpus or count & (count - 1) == 0 for count in counts)
