"""What can be chosen for a language model on a simulated device: pure functions from figures to parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from autotune.core.candidate import Scalar
from autotune.core.space import Offer, Omission, Parameter
from autotune_backends.simulated.devices import SimulatedDevice
from autotune_backends.simulated.operators.efficiency import compute_peak, lacking
from autotune_backends.simulated.precision import PRECISIONS
from autotune_backends.simulated.step_costs import Infeasible, step_costs
from autotune_backends.simulated.transformers import TransformerModel
from autotune_backends.simulated.transformers.kept_accuracy import OWN_ACCURACY

__all__ = ["language_offer"]

_FORMATS = ("bf16", "fp16", "fp32", "fp8", "int8", "int8_weights", "int4", "fp4")
_WIDE = ("bf16", "fp16", "fp32")
_SIZES = (1, 2, 4, 8, 16, 32, 64)
_STAGES = (1, 2, 4)
_KV_ROOM_TOKENS = 16_384  # what a deployment that is worth a trial holds at least: a few conversations


def language_offer(backend: str, model: TransformerModel, device: SimulatedDevice) -> Offer:
    """Every parameter with the values that exist there; a refusal when the model does not fit in any way."""
    formats, lacks = _formats(device)
    sizes = [
        size for size in _SIZES if size <= device.max_devices and model.heads % size == 0 and _linked(device, size)
    ]
    stages = [stage for stage in _STAGES if stage <= model.layers and _linked(device, stage)]
    usual, refusal = _usual(model, device, formats, sizes, stages)
    if refusal is not None:
        return Offer(backend=backend, device=device.name, refusal=refusal)
    if usual["pp"] == 1:
        stages = [1]
        lacks.append(
            Omission(parameter="pp", values=_STAGES[1:], reason=f"the model fits {device.name} without stages")
        )
    sparse, unknown = _sparsity(model, device)
    lacks += unknown
    parameters = (
        Parameter(name="precision", choices=formats, affects="build", doc="format of weights and products"),
        *sparse,
        Parameter(name="kv_precision", choices=_kv_formats(device), doc="format of the KV cache; auto: 16 bits"),
        Parameter(name="tp", choices=tuple(sizes), doc="devices that every layer is divided over"),
        Parameter(name="pp", choices=tuple(stages), doc="stages that the layers are divided into"),
        Parameter(name="batching", choices=("continuous", "static"), doc="when a batch is formed"),
        Parameter(name="max_num_seqs", choices=(16, 32, 64, 128, 256, 512), doc="requests in a batch at most"),
        Parameter(name="max_batched_tokens", choices=(2048, 4096, 8192, 16384), doc="tokens in a step at most"),
        Parameter(
            name="chunked_prefill",
            choices=(True, False),
            requires={"batching": ("continuous",)},
            doc="whether long prompts are split and share steps with decoding",
        ),
        Parameter(name="page_tokens", choices=device.kv_pages or (16, 32), doc="tokens in a page of the KV cache"),
        Parameter(name="prefix_caching", choices=(True, False), doc="whether texts that come again are kept"),
    )
    return Offer(backend=backend, device=device.name, parameters=parameters, omissions=tuple(lacks), usual=usual)


def _formats(device: SimulatedDevice) -> tuple[tuple[Scalar, ...], list[Omission]]:
    """The first is what models come in: the widest 16-bit format that the device multiplies natively."""
    wide = next((name for name in _WIDE if name in device.peak), "bf16")
    able: list[Scalar] = []
    lacks = []
    for name in (wide, *(name for name in _FORMATS if name not in _WIDE)):
        if compute_peak(device, PRECISIONS[name]) is not None:
            able.append(name)
        else:
            lacks.append(Omission(parameter="precision", values=(name,), reason=lacking(device, PRECISIONS[name])))
    return tuple(able), lacks


def _sparsity(model: TransformerModel, device: SimulatedDevice) -> tuple[list[Parameter], list[Omission]]:
    """Patterns that the device has units for and the model's owner has pruned it to.

    What others published is of other models, pruned without training, which lost half of what they knew: it prices a question
    (``autotune simulate``) and is no reason to offer a model that nobody has.
    """
    pruned = {row.sparsity for row in model.kept}
    known = tuple(pattern for pattern in device.sparsity if pattern in pruned)
    lacks = [
        Omission(
            parameter="sparsity", values=(pattern,), reason=f"{OWN_ACCURACY} of the model does not say what it keeps"
        )
        for pattern in device.sparsity
        if pattern not in known
    ]
    doc = "pattern of the weights that were pruned"
    return [Parameter(name="sparsity", choices=("none", *known), affects="build", doc=doc)] if known else [], lacks


def _kv_formats(device: SimulatedDevice) -> tuple[Scalar, ...]:
    narrow = tuple(name for name in ("fp8", "int8") if name in device.peak)
    return ("auto", *narrow[:1])


def _linked(device: SimulatedDevice, count: int) -> bool:
    return count == 1 or device.link is not None


def _usual(
    model: TransformerModel,
    device: SimulatedDevice,
    formats: Sequence[Scalar],
    sizes: Sequence[int],
    stages: Sequence[int],
) -> tuple[dict[str, Scalar], str | None]:
    """The widest format on the fewest devices on which it fits with room for a cache, and vLLM's defaults; or why none does."""
    why = "no format that it multiplies in is known"
    for values in _layouts(formats, sizes, stages):
        try:
            costs = step_costs(model, device, values)
        except Infeasible as error:
            why = error.problem
            continue
        if costs.kv_capacity_tokens >= _KV_ROOM_TOKENS:
            return {**values, "kv_precision": "auto", "max_num_seqs": 256, "max_batched_tokens": 8192}, None
        why = f"{device.name}: beside the weights there is room for {costs.kv_capacity_tokens} tokens of KV cache only"
    return {}, why


def _layouts(formats: Sequence[Scalar], sizes: Sequence[int], stages: Sequence[int]) -> Iterator[dict[str, Scalar]]:
    for precision in formats:
        for stage in stages:
            for size in sizes:
                yield {"precision": precision, "tp": size, "pp": stage}
