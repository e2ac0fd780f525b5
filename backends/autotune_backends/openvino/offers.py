"""What OpenVINO can do with a model on a CPU: parameters, and the reason for whatever is left out."""

from __future__ import annotations

from autotune.core.device import DeviceSpec
from autotune.core.model import BatchAxis, ModelFacts
from autotune.core.package import Package
from autotune.core.space import Offer
from autotune_backends.offering import Choices, offer_batch, thread_counts

__all__ = ["offer", "refusal"]

_BFLOAT = frozenset({"avx512_bf16", "amx_bf16", "bf16"})
_HALF = frozenset({"asimdhp"})


def refusal(model: ModelFacts, device: DeviceSpec, missing: Package | None) -> str | None:
    """Why OpenVINO does not run this model there; None: only a try can tell."""
    if model.format != "onnx":
        return f"the OpenVINO backend reads ONNX models, not {model.format}"
    if device.kind != "real" or device.device_class != "cpu":
        return f"this backend runs on the CPU, not on {device.name} ({device.kind} {device.device_class})"
    if missing is not None:
        return f"{missing.absent}: {missing.install}"
    if model.custom_op_library is not None:
        return "OpenVINO cannot load onnxruntime's custom operators"
    strange = [one.name for one in (*model.inputs, *model.outputs) if one.kind != "tensor" or one.dtype == "str"]
    return f"{', '.join(strange)}: neither strings nor sequences pass this backend" if strange else None


def offer(device: DeviceSpec, batch: BatchAxis) -> Offer:
    """Return the offer for a model that runs. Pure: ``batch`` was tried.

    Its precision has a name of its own: a hint to the runtime, where onnxruntime's changes the model.
    """
    found = Choices()
    flags = set(device.isa)
    lower = ["bf16"] if flags & _BFLOAT else ["fp16"] if flags & _HALF else []
    doc = "number format that OpenVINO computes in (INFERENCE_PRECISION_HINT); weights stay as they are in the file"
    found.add("inference_precision", ["fp32", *lower], "build", doc)
    if "bf16" in lower:
        found.omit("inference_precision", "bf16 is as fast here, and has the range of fp32", "fp16")
    else:
        found.omit("inference_precision", "this CPU has no bfloat16 products", "bf16")
    found.add("intra_op_threads", thread_counts(device.cpus or 1), "load", "threads inside one operator")
    offer_batch(found, batch.model_copy(update={"reason": f"openvino: {batch.reason}"}))
    return Offer(
        backend="openvino",
        device=device.name,
        parameters=tuple(found.parameters),
        omissions=tuple(found.omissions),
    )
