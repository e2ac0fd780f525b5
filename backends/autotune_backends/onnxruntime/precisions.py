"""Which number formats onnxruntime's CPU provider can give a model, with the choices of each."""

from __future__ import annotations

from autotune.core.device import DeviceSpec
from autotune.core.model import ModelFacts
from autotune.core.space import Parameter
from autotune_backends.offering import Choices
from autotune_backends.onnxruntime.choices import ModelTraits

__all__ = ["as_is", "has_vnni", "offer_precision"]

_MATMUL = frozenset({"MatMul", "Gemm"})
_X86 = frozenset({"avx2", "avx512f"})
_VNNI = frozenset({"avx_vnni", "avx512_vnni", "amx_int8"})
_HALF = frozenset({"asimdhp"})
_DYNAMIC, _STATIC, _BLOCKS = "int8_dynamic", "int8_static", ("int8_weights", "int4_weights")
_FORMATS = (_DYNAMIC, _STATIC, *_BLOCKS, "fp16", "bf16")

_SHARES = (1.0, 0.9, 0.75, 0.5)
_FEWEST_MIXED = 4


def offer_precision(found: Choices, model: ModelFacts, device: DeviceSpec, traits: ModelTraits) -> None:
    """Offer ``precision``, the model as it is first, and what each of its values leaves to choose."""
    own = as_is(model, traits)
    refused = _refused(model, device, traits)
    formats = tuple(name for name in _FORMATS if name not in refused and name != own)
    found.parameters.append(
        Parameter(
            name="precision",
            choices=(own, *formats),
            calibrated=(_STATIC,) if _STATIC in formats else (),
            affects="build",
            doc="number format of weights and products",
        )
    )
    for reason in dict.fromkeys(refused.values()):
        found.omit("precision", reason, *(name for name, why in refused.items() if why == reason))
    int8 = tuple(name for name in (_DYNAMIC, _STATIC) if name in formats)
    if int8:
        _int8(found, int8, device)
        _shares(found, int8, traits)
    if _DYNAMIC in formats:
        _dynamic(found, traits)
    if _STATIC in formats:
        _static(found, device)
    if blocks := tuple(name for name in _BLOCKS if name in formats):
        _blocks(found, blocks)


def as_is(model: ModelFacts, traits: ModelTraits) -> str:
    """The name of the model's own format."""
    if model.quantised:
        return "original"
    return {"float32": "fp32", "float16": "fp16"}.get(traits.weights or "", "original")


def has_vnni(device: DeviceSpec) -> bool:
    """Whether u8 × s8 products are summed without saturation. Only x86 without VNNI saturates."""
    flags = set(device.isa)
    return not flags & _X86 or bool(flags & _VNNI)


def _refused(model: ModelFacts, device: DeviceSpec, traits: ModelTraits) -> dict[str, str]:
    """Formats that are left out, each with its reason."""
    bfloat = {"bf16": "onnxruntime's CPU provider has no bfloat16 products"}
    if model.quantised:
        return dict.fromkeys(_FORMATS, "the model is quantised already")
    if traits.weights not in (None, "float32"):
        reason = f"its weights are {traits.weights}, and onnxruntime's tools convert float32 only"
        return {name: reason for name in _FORMATS if name != as_is(model, traits)} | bfloat
    return _int8_refused(traits) | _blocks_refused(traits) | _half_refused(device, traits) | bfloat


def _int8_refused(traits: ModelTraits) -> dict[str, str]:
    refused: dict[str, str] = {}
    if not traits.quantisable:
        refused[_DYNAMIC] = "the model has no operator that dynamic int8 reaches"
    if not traits.products:
        refused[_STATIC] = "the model has no Conv, MatMul or Gemm outside control flow"
    return refused


def _blocks_refused(traits: ModelTraits) -> dict[str, str]:
    if not _MATMUL & set(traits.quantisable):
        return dict.fromkeys(_BLOCKS, "weights alone are quantised in MatMul and Gemm, and the model has neither")
    if not traits.block_tool:
        return dict.fromkeys(
            _BLOCKS, "onnxruntime's tool needs the package onnx-ir: pip install 'autotune-inference[int4]'"
        )
    return {}


def _half_refused(device: DeviceSpec, traits: ModelTraits) -> dict[str, str]:
    """Arm with half-precision arithmetic has kernels.

    x86 gains nothing, AVX512-FP16 included: onnxruntime 1.32 casts weights back to float32 when it loads the model.
    """
    if traits.weights is None:
        return {"fp16": "the model has no float32 weights"}
    if _HALF & set(device.isa):
        return {}
    return {"fp16": "onnxruntime computes float16 in float32 on this CPU: the same speed, and less exact"}


def _int8(found: Choices, int8: tuple[str, ...], device: DeviceSpec) -> None:
    found.add("int8_per_channel", (False, True), "build", "a scale for each output channel", precision=int8)
    if has_vnni(device):
        found.omit("int8_reduce_range", "this CPU multiplies u8 by s8 without saturation")
    else:
        found.add("int8_reduce_range", (False, True), "build", "7-bit weights against saturation", precision=int8)


def _shares(found: Choices, int8: tuple[str, ...], traits: ModelTraits) -> None:
    """Without the user's data nothing tells which layers are sensitive."""
    if traits.products.total() < _FEWEST_MIXED:
        found.omit("quantised_share", f"with fewer than {_FEWEST_MIXED} products there is little to choose between")
        return
    doc = "share of Conv, MatMul and Gemm that become int8, the least sensitive on the calibration data first"
    parameter = Parameter(
        name="quantised_share",
        choices=_SHARES,
        requires={"precision": int8},
        calibrated=_SHARES,
        affects="build",
        doc=doc,
    )
    found.parameters.append(parameter)


def _dynamic(found: Choices, traits: ModelTraits) -> None:
    others = sorted(set(traits.quantisable) - _MATMUL)
    matmuls = sorted(set(traits.quantisable) & _MATMUL)
    if others and matmuls:
        doc = f"which operators become int8; all: {', '.join([*matmuls, *others])}"
        found.add("int8_operators", ("all", "matmul"), "build", doc, precision=(_DYNAMIC,))
    else:
        found.omit("int8_operators", f"{' and '.join(others or matmuls)} alone can become int8 here")


def _static(found: Choices, device: DeviceSpec) -> None:
    needed = {"precision": (_STATIC,)}
    doc = "which operators become int8: all that can, or Conv, MatMul and Gemm alone"
    found.add("int8_static_operators", ("all", "products"), "build", doc, **needed)
    types = ("u8s8", "s8s8") if has_vnni(device) else ("u8s8", "u8u8", "s8s8")
    found.add("int8_types", types, "build", "signedness of activations and weights", **needed)
    if "u8u8" not in types:
        found.omit("int8_types", "only against saturation, which this CPU does not have", "u8u8")
    found.omit("int8_types", "onnxruntime has no such products", "s8u8")
    doc = "how ranges are chosen from the calibration data"
    found.add("int8_calibration", ("minmax", "percentile", "entropy"), "build", doc, **needed)


def _blocks(found: Choices, blocks: tuple[str, ...]) -> None:
    found.add("weight_block", (32, 64, 128), "build", "weights of a column that share a scale", precision=blocks)
    found.omit("weight_block", "16 was no faster than 32, and 256 no faster than 128 but less exact", 16, 256)
    doc = "type that activations are multiplied in (MatMulNBits' accuracy level 4 or 1)"
    found.add("weight_products", ("int8", "fp32"), "build", doc, precision=blocks)
