"""A candidate's parameters, read and checked against the model and the device."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatch

from autotune.core.candidate import Scalar
from autotune.core.errors import UserError, nearest
from autotune_backends.simulated.devices.device import SimulatedDevice
from autotune_backends.simulated.engines import Engine, engine_named
from autotune_backends.simulated.operators.efficiency import compute_peak, lacking
from autotune_backends.simulated.precision import KV_BITS, Precision, precision_named
from autotune_backends.simulated.refusals import Unsupported
from autotune_backends.simulated.transformers.model import TransformerModel

__all__ = ["Layout", "layout_of"]

_SPARSITY = ("none", "2:4", "unstructured")


@dataclass(frozen=True, slots=True)
class Layout:
    """How the model lies on its devices. ``kv_bits`` of a value in the cache; ``memory_share`` of the memory is used."""

    precision: Precision
    kv_bits: float
    tp: int
    pp: int
    page_tokens: int
    max_num_seqs: int
    max_batched_tokens: int
    sparsity: str
    memory_share: float
    engine: Engine

    @property
    def devices(self) -> int:
        """All of one replica."""
        return self.tp * self.pp


def layout_of(model: TransformerModel, device: SimulatedDevice, candidate: Mapping[str, Scalar]) -> Layout:
    """Read the candidate. Raises ``Unsupported`` for what cannot run there, ``UserError`` for values that nobody knows."""
    precision = precision_named(str(candidate.get("precision", "bf16")))
    default_page = device.kv_pages[0] if device.kv_pages else 16
    layout = Layout(
        precision=precision,
        kv_bits=_kv_bits(str(candidate.get("kv_precision", "auto"))),
        tp=_count(candidate, "tp", 1),
        pp=_count(candidate, "pp", 1),
        page_tokens=_count(candidate, "page_tokens", default_page),
        max_num_seqs=_count(candidate, "max_num_seqs", 256),
        max_batched_tokens=_count(candidate, "max_batched_tokens", 8192),
        sparsity=_sparsity(str(candidate.get("sparsity", "none"))),
        memory_share=float(candidate.get("memory_share", device.usable_share)),
        engine=engine_named(str(candidate.get("engine", "vllm"))),
    )
    _runs(model, device)
    _arithmetic(device, layout)
    _parallel(model, device, layout)
    return layout


def _kv_bits(name: str) -> float:
    if name == "auto":
        return 16.0
    if name not in KV_BITS:
        raise UserError(f"unknown kv_precision {name!r}{nearest(name, KV_BITS)}", f"known: auto, {', '.join(KV_BITS)}")
    return KV_BITS[name]


def _sparsity(name: str) -> str:
    if name not in _SPARSITY:
        raise UserError(f"unknown sparsity {name!r}{nearest(name, _SPARSITY)}", f"known: {', '.join(_SPARSITY)}")
    return name


def _count(candidate: Mapping[str, Scalar], name: str, default: int) -> int:
    value = candidate.get(name, default)
    if isinstance(value, bool | str) or value != int(value) or value < 1:
        raise UserError(f"{name}={value!r} is no count", f"{name} is a whole number from 1")
    return int(value)


def _runs(model: TransformerModel, device: SimulatedDevice) -> None:
    patterns = device.supports.get("models")
    if not isinstance(patterns, list | tuple):
        return
    if not any(fnmatch(word, str(pattern)) for pattern in patterns for word in (model.name, model.family)):
        raise Unsupported(f"{device.name} cannot run {model.name}: it supports {', '.join(map(str, patterns))} only")


def _arithmetic(device: SimulatedDevice, layout: Layout) -> None:
    if compute_peak(device, layout.precision) is None:
        raise Unsupported(lacking(device, layout.precision))
    if layout.sparsity != "none" and layout.sparsity not in device.sparsity:
        raise Unsupported(f"{device.name} has no hardware for {layout.sparsity} sparsity")
    if device.kv_pages and layout.page_tokens not in device.kv_pages:
        pages = ", ".join(map(str, device.kv_pages))
        raise Unsupported(f"{device.name} has kernels for KV pages of {pages} tokens, not {layout.page_tokens}")


def _parallel(model: TransformerModel, device: SimulatedDevice, layout: Layout) -> None:
    if model.heads % layout.tp:
        raise Unsupported(f"tp={layout.tp} does not divide the {model.heads} attention heads of {model.name}")
    if layout.pp > model.layers:
        raise Unsupported(f"pp={layout.pp} is more than the {model.layers} layers of {model.name}")
    if layout.devices > 1 and device.link is None:
        raise Unsupported(f"{device.name} has no link to others of its kind: tp and pp must be 1")
    if layout.tp > device.max_devices:
        raise Unsupported(f"tp={layout.tp} is more than the {device.max_devices} {device.name} that one group links")
