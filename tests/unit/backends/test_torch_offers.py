from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from autotune.core.device import DeviceSpec
from autotune.core.model import BatchAxis, ModelFacts, TensorFacts
from autotune.core.package import Package
from autotune.core.space import Offer
from autotune.core.workload import BUILT_IN
from autotune_backends.torch import TorchBackend
from autotune_backends.torch.offers import offer, refusal
from autotune_backends.torch.settings import build_options, session_settings
from autotune_backends.torch.traits import ProgramTraits, traits_of
from autotune_search_spaces.torch import torch_space

WORKS = BatchAxis(works=True, symbol="batch")
CPU = DeviceSpec(name="cpu", cpus=4, isa=("avx2", "avx512f", "avx512_bf16"))
EVERYTHING = {
    "convolutions": 1,
    "linear": 1,
    "products": 2,
    "attention": 1,
    "compiler": "g++",
    "onnx_tool": True,
    "largest_batch": None,
}


def facts(**known: Any) -> ModelFacts:
    required = {"path": Path("m.pt2"), "format": "pt2", "sha256": "0", "files": ("m.pt2",), "size_bytes": 1}
    return ModelFacts(**{**required, "inputs": (), "outputs": (), **known})


def offered(device: DeviceSpec = CPU, **changes: Any) -> Offer:
    return offer(device, ProgramTraits(**{**EVERYTHING, "batch": WORKS, **changes}))


def choices(found: Offer, name: str) -> tuple[Any, ...]:
    parameter = found.parameter(name)
    return () if parameter is None else parameter.choices


def reason(found: Offer, name: str) -> str:
    return " ".join(one.reason for one in found.omissions if one.parameter == name)


def test_everything_is_offered_where_everything_is_there() -> None:
    found = offered()
    assert choices(found, "kernels") == ("eager", "inductor", "onnxruntime")
    assert choices(found, "inference_precision") == ("fp32", "bf16")
    assert choices(found, "intra_op_threads") == (1, 2, 4)
    assert not found.omissions


@pytest.mark.parametrize(
    ("changes", "name", "why"),
    [
        ({"compiler": None}, "kernels", "no compiler"),
        ({"onnx_tool": False}, "kernels", "onnxscript"),
        ({"linear": 0}, "linear_weights", "no linear layer"),
        ({"convolutions": 0}, "channels_last", "no convolution"),
        ({"attention": 0}, "attention", "scaled_dot_product_attention"),
        ({"products": 0}, "inference_precision", "no products"),
        ({"device": CPU.model_copy(update={"isa": ("avx2",)})}, "inference_precision", "no bfloat16"),
        ({"batch": BatchAxis(works=False, reason="fixed at 1")}, "batch_size", "fixed at 1"),
    ],
)
def test_what_is_left_out_says_why(changes: dict[str, Any], name: str, why: str) -> None:
    assert why in reason(offered(**changes), name)


def test_batches_end_where_the_export_does() -> None:
    assert choices(offered(largest_batch=8), "batch_size") == (1, 2, 4, 8)


def test_operators_are_counted_whatever_the_overload() -> None:
    operators = {"aten.conv2d": 2, "aten.linear": 3, "aten.scaled_dot_product_attention": 1, "aten.relu": 9}
    found = traits_of(facts(operators=operators), WORKS, None)
    assert (found.convolutions, found.linear, found.products, found.attention) == (2, 3, 5, 1)


@pytest.mark.parametrize(
    ("model", "device", "missing", "why"),
    [
        (facts(format="onnx"), CPU, None, "not onnx"),
        (facts(), CPU.model_copy(update={"kind": "simulated"}), None, "simulated"),
        (facts(), CPU, TorchBackend.package, "autotune-inference[torch]"),
        (facts(inputs=(TensorFacts(name="x", dtype="bfloat16", shape=(1,)),)), CPU, None, "numpy"),
    ],
)
def test_what_cannot_run_is_refused_with_the_reason(
    model: ModelFacts, device: DeviceSpec, missing: Package | None, why: str
) -> None:
    assert why in (refusal(model, device, missing) or "")


def test_the_space_begins_with_the_program_in_pytorchs_own_kernels() -> None:
    space = torch_space(facts(), [offered()], BUILT_IN["default"])
    assert [parameter.name for parameter in space.parameters][:2] == ["runtime", "kernels"]
    assert space.baseline["kernels"] == space.reference["kernels"] == "eager"
    assert (space.baseline["intra_op_threads"], space.reference["intra_op_threads"]) == (4, 1)
    assert not any(space.fault(one) for one in (space.baseline, space.reference, *space.experts))
    assert {one["kernels"] for one in space.experts} == {"eager", "inductor", "onnxruntime"}


def test_parameters_of_load_are_no_part_of_what_is_built() -> None:
    space = torch_space(facts(), [offered()], BUILT_IN["default"])
    affects = {parameter.name: parameter.affects for parameter in space.parameters}
    for one in (space.baseline, *space.experts):
        plain = {name: value for name, value in one.items() if affects[name] == "build"}
        assert build_options(one) == build_options(type(one)(plain))


def test_each_kernel_is_opened_by_its_own_runtime() -> None:
    space = torch_space(facts(), [offered()], BUILT_IN["default"])
    runtimes = {one["kernels"]: session_settings(one, 4).runtime for one in (space.baseline, *space.experts)}
    assert runtimes == {"eager": "torch", "inductor": "torch", "onnxruntime": "onnxruntime"}
