"""What onnxruntime can do with a model on a device: parameters, and the reason for whatever is left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from autotune.core.candidate import Scalar
from autotune.core.device import DeviceSpec
from autotune.core.model import BatchAxis, ModelFacts
from autotune.core.space import Affects, Offer, Omission, Parameter

__all__ = ["BATCH_SIZES", "ModelTraits", "has_vnni", "offer", "thread_counts"]

BATCH_SIZES = (1, 2, 4, 8, 16, 32, 64)
_MATMUL = frozenset({"MatMul", "Gemm"})
_INT8 = ("int8_dynamic",)
_X86 = frozenset({"avx2", "avx512f"})
_VNNI = frozenset({"avx_vnni", "avx512_vnni", "amx_int8"})


@dataclass(frozen=True)
class ModelTraits:
    """What only the graph, or a run, can tell. ``weights``: the floats' type, None when there are none.

    ``quantisable`` counts the operators that dynamic int8 may reach, by kind. ``batch`` was seen by running.
    """

    weights: str | None
    quantisable: Counter[str]
    batch: BatchAxis


@dataclass
class _Choices:
    """Parameters and omissions as they are gathered."""

    parameters: list[Parameter] = field(default_factory=list)
    omissions: list[Omission] = field(default_factory=list)

    def add(
        self, name: str, choices: Sequence[Scalar], affects: Affects, doc: str, **requires: Sequence[Scalar]
    ) -> None:
        needed = {other: tuple(values) for other, values in requires.items()}
        parameter = Parameter(name=name, choices=tuple(choices), requires=needed, affects=affects, doc=doc)
        self.parameters.append(parameter)

    def omit(self, name: str, reason: str, *values: Scalar) -> None:
        self.omissions.append(Omission(parameter=name, values=values, reason=reason))


def offer(model: ModelFacts, device: DeviceSpec, traits: ModelTraits) -> Offer:
    """Return the offer. Pure: everything that must be tried or read is in ``traits``."""
    found = _Choices()
    _precision(found, model, device, traits)
    _graph(found, traits)
    _threads(found, model, device.cpus or 1)
    _batch(found, traits.batch)
    return Offer(
        backend="onnxruntime",
        device=device.name,
        parameters=tuple(found.parameters),
        omissions=tuple(found.omissions),
    )


def thread_counts(cpus: int) -> tuple[int, ...]:
    """Powers of two up to ``cpus``, and ``cpus`` itself."""
    return tuple(sorted({2**power for power in range(cpus.bit_length())} | {cpus}))


def has_vnni(device: DeviceSpec) -> bool:
    """Whether u8 × s8 products are summed without saturation. Only x86 without VNNI saturates."""
    flags = set(device.isa)
    return not flags & _X86 or bool(flags & _VNNI)


def _precision(found: _Choices, model: ModelFacts, device: DeviceSpec, traits: ModelTraits) -> None:
    as_is = _as_is(model, traits)
    reason = _why_no_int8(model, traits)
    found.add("precision", (as_is, *(() if reason else _INT8)), "build", "number format of weights and products")
    if reason:
        found.omit("precision", reason, *_INT8)
        return
    found.add("int8_per_channel", (False, True), "build", "a scale for each output channel", precision=_INT8)
    others = sorted(set(traits.quantisable) - _MATMUL)
    matmuls = sorted(set(traits.quantisable) & _MATMUL)
    if others and matmuls:
        doc = f"which operators become int8; all: {', '.join([*matmuls, *others])} too"
        found.add("int8_operators", ("all", "matmul"), "build", doc.removesuffix(" too"), precision=_INT8)
    else:
        found.omit("int8_operators", f"{' and '.join(others or matmuls)} alone can become int8 here")
    if has_vnni(device):
        found.omit("int8_reduce_range", "this CPU multiplies u8 by s8 without saturation")
    else:
        found.add("int8_reduce_range", (False, True), "build", "7-bit weights against saturation", precision=_INT8)


def _as_is(model: ModelFacts, traits: ModelTraits) -> str:
    if model.quantised:
        return "original"
    return {"float32": "fp32", "float16": "fp16"}.get(traits.weights or "", "original")


def _why_no_int8(model: ModelFacts, traits: ModelTraits) -> str | None:
    if model.quantised:
        return "the model is quantised already"
    if not traits.quantisable:
        return "the model has no operator that dynamic int8 reaches"
    if traits.weights not in (None, "float32"):
        return f"its weights are {traits.weights}, and onnxruntime quantises activations from float32 only"
    return None


def _graph(found: _Choices, traits: ModelTraits) -> None:
    """``layout`` and ``all`` gave byte-identical graphs for float32 and int8 models (onnxruntime 1.32)."""
    levels = ["disabled", "basic", "extended", "all"]
    if traits.weights == "float16":
        levels.insert(3, "layout")
    else:
        found.omit("graph_optimization", "the same as all for a model without float16 weights", "layout")
    found.add("graph_optimization", levels, "load", "how far the runtime rewrites the graph when it loads it")


def _threads(found: _Choices, model: ModelFacts, cpus: int) -> None:
    counts = thread_counts(cpus)
    found.add("intra_op_threads", counts, "load", "threads inside one operator")
    several = [count for count in counts if count > 1]
    if several and model.branching:
        found.add("execution_mode", ("sequential", "parallel"), "load", "whether branches of the graph run in parallel")
        found.add("inter_op_threads", several, "load", "branches that run at once", execution_mode=("parallel",))
    else:
        alone = "there is one CPU" if not several else "no two nodes of the graph could run at once"
        found.omit("execution_mode", alone, "parallel")
        found.omit("inter_op_threads", alone)
    if several:
        doc = "idle threads wait busily for the next operator"
        found.add("spinning", (True, False), "load", doc, intra_op_threads=several)
    else:
        found.omit("spinning", "with one thread there is nobody to wait for")


def _batch(found: _Choices, batch: BatchAxis) -> None:
    if batch.works:
        found.add("batch_size", BATCH_SIZES, "run", "samples a run, where the load allows it")
    else:
        found.omit("batch_size", batch.reason)
