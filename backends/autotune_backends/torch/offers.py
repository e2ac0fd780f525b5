"""What PyTorch can do with an exported program on a CPU: parameters, and the reason for whatever is left out."""

from __future__ import annotations

from autotune.core.device import DeviceSpec
from autotune.core.model import ModelFacts
from autotune.core.package import Package
from autotune.core.space import Offer
from autotune_backends.offering import Choices, offer_batch, thread_counts
from autotune_backends.torch.traits import ProgramTraits

__all__ = ["offer", "refusal"]

_BFLOAT = frozenset({"avx512_bf16", "amx_bf16", "bf16"})
_EXCHANGED = frozenset(
    {"bool", "float16", "float32", "float64", "uint8", "uint16", "uint32", "uint64"}
    | {f"int{bits}" for bits in (8, 16, 32, 64)}
)
_EAGER, _INDUCTOR, _ONNX = "eager", "inductor", "onnxruntime"


def refusal(model: ModelFacts, device: DeviceSpec, missing: Package | None) -> str | None:
    """Why PyTorch does not run this model there; None: only a try can tell."""
    if model.format != "pt2":
        return f"the PyTorch backend reads exported programs (.pt2), not {model.format}"
    if device.kind != "real" or device.device_class != "cpu":
        return f"this backend runs on the CPU, not on {device.name} ({device.kind} {device.device_class})"
    if missing is not None:
        return f"{missing.absent}: {missing.install}"
    strange = [one.name for one in (*model.inputs, *model.outputs) if one.dtype not in _EXCHANGED]
    return f"{', '.join(strange)}: numpy has no such type" if strange else None


def offer(device: DeviceSpec, traits: ProgramTraits) -> Offer:
    """Return the offer for a program that runs. Pure: everything that must be tried or read is in ``traits``."""
    found = Choices()
    _kernels(found, traits)
    _precision(found, device, traits)
    _layout(found, traits)
    _attention(found, traits)
    _threads(found, device.cpus or 1)
    if traits.onnx_tool:
        _onnxruntime(found, traits)
    offer_batch(found, traits.batch, traits.largest_batch)
    return Offer(
        backend="torch", device=device.name, parameters=tuple(found.parameters), omissions=tuple(found.omissions)
    )


def _kernels(found: Choices, traits: ProgramTraits) -> None:
    kernels = [_EAGER]
    if traits.compiler:
        kernels.append(_INDUCTOR)
    else:
        found.omit("kernels", "inductor writes C++, and there is no compiler (g++, or what CXX names)", _INDUCTOR)
    if traits.onnx_tool:
        kernels.append(_ONNX)
    else:
        found.omit("kernels", "PyTorch's ONNX exporter needs the package onnxscript: pip install onnxscript", _ONNX)
    doc = "PyTorch's own kernels (eager), code that inductor compiled ahead, or the program exported to onnxruntime"
    found.add("kernels", kernels, "build", doc)


def _precision(found: Choices, device: DeviceSpec, traits: ProgramTraits) -> None:
    formats = ["fp32"]
    if not traits.products:
        found.omit("inference_precision", "the program has no products", "bf16")
    elif not _BFLOAT & set(device.isa):
        found.omit("inference_precision", "this CPU has no bfloat16 products", "bf16")
    else:
        formats.append("bf16")
    own = tuple(kernel for kernel in (_EAGER, _INDUCTOR) if kernel == _EAGER or traits.compiler)
    doc = "number format of products (PyTorch's autocast); weights stay as they are in the file"
    found.add("inference_precision", formats, "build", doc, kernels=own)
    if traits.linear:
        doc = "weights of linear layers, a scale for each output; activations are quantised as they come"
        found.add("linear_weights", ("float", "int8"), "build", doc, kernels=(_EAGER,), inference_precision=("fp32",))
    else:
        found.omit("linear_weights", "the program has no linear layer", "int8")


def _layout(found: Choices, traits: ProgramTraits) -> None:
    if traits.convolutions:
        doc = "images and filters with the channels innermost (inductor chooses layouts itself)"
        found.add("channels_last", (False, True), "load", doc, kernels=(_EAGER,))
    else:
        found.omit("channels_last", "the program has no convolution of images")


def _attention(found: Choices, traits: ProgramTraits) -> None:
    if traits.attention:
        doc = "kernel of attention: fused (flash), or product by product (math)"
        found.add("attention", ("flash", "math"), "load", doc, kernels=(_EAGER,))
    else:
        found.omit("attention", "the program has no scaled_dot_product_attention")


def _threads(found: Choices, cpus: int) -> None:
    counts = thread_counts(cpus)
    found.add("intra_op_threads", counts, "load", "threads inside one operator")
    if several := [count for count in counts if count > 1]:
        doc = "idle threads wait busily for the next operator"
        found.add("spinning", (True, False), "load", doc, intra_op_threads=several)
    else:
        found.omit("spinning", "with one thread there is nobody to wait for")


def _onnxruntime(found: Choices, traits: ProgramTraits) -> None:
    """The two choices that matter most there. All others are for a search of the exported ``.onnx`` itself."""
    needed = {"kernels": (_ONNX,)}
    if traits.products:
        doc = "number format of weights and products in onnxruntime"
        found.add("precision", ("fp32", "int8_dynamic"), "build", doc, **needed)
        found.add(
            "int8_per_channel", (False, True), "build", "a scale for each output channel", precision=("int8_dynamic",)
        )
    else:
        found.omit("precision", "the program has no products")
