"""Kernels: their measured latencies, predicted on a device, and the shares and floors of a device fitted to them.

A device has, for each format, a share of its arithmetic peak, one of its bandwidth, and a floor; the same for attention; and for
each number of devices the latency and rate of an all-reduce. Nothing else of it is fitted: peaks and bandwidths are its maker's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import fmean

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from autotune_backends.simulated.devices import SimulatedDevice
from autotune_backends.simulated.devices.device import Efficiency
from autotune_backends.simulated.operators import all_reduce_cost, attention_cost, gemm_cost
from autotune_backends.simulated.precision import precision_named
from benchmarks.simulator_rows import Row

__all__ = [
    "KERNELS",
    "all_reduce_error",
    "attention_error",
    "fitted_device",
    "gemm_error",
    "robust",
    "unmeasured_device",
]

DTYPES = {"bfloat16": "bf16", "int8_wo": "int8_weights", "int4_wo": "int4"}
_TYPICAL = 0.1
"""Errors (of logarithms) beyond this count less and less: a soft L1 loss, as a few rows are of another kernel than the rest."""
_HIGHEST_SHARE = 0.95
_SHARE, _FLOOR = math.log(1.25), math.log(1.6)
"""Shares and floors of kernels are known within these factors before a row is seen."""
_READ_FROM_CACHE = ("a100-sxm",)  # whose decode attention reached more than its memory gives
_PLAIN_FLOOR_S, _QUANTISING_FLOOR_S = 4e-6, 1.1e-5

Error = Callable[[Row, SimulatedDevice], float]


def gemm_error(row: Row, device: SimulatedDevice) -> float:
    """One matrix product: predicted / measured."""
    cost = gemm_cost(device, precision_named(_format(row)), int(row["n"]), int(row["k"]))
    return cost.seconds(int(row["m"])) * 1e3 / float(row["latency_ms"])


def attention_error(row: Row, device: SimulatedDevice) -> float:
    """One attention kernel over a batch: predicted / measured."""
    heads, kv_heads, width, batch, tokens = (
        int(row[name]) for name in ("heads", "kv_heads", "head_dim", "batch", "seq_len")
    )
    kv_bytes = 2 * kv_heads * width * (2 if row["kv_dtype"] == "bfloat16" else 1)
    cost = attention_cost(device, heads, width, kv_bytes)
    prefill = cost.prefill_floor_s + batch * cost.prefill(tokens, 0)
    seconds = prefill if row["phase"] == "prefill" else cost.decode(batch * tokens)
    return seconds * 1e3 / float(row["latency_ms"])


def all_reduce_error(row: Row, device: SimulatedDevice) -> float:
    """One all-reduce in bf16: predicted / measured."""
    cost = all_reduce_cost(device, int(row["num_gpus"]))
    return cost.seconds(2 * int(row["message_elements"])) * 1e3 / float(row["latency_ms"])


KERNELS: Mapping[str, Error] = {
    "gemm": gemm_error,
    "attention": attention_error,
    "allreduce": all_reduce_error,
}


def _format(row: Row) -> str:
    return DTYPES.get(row["dtype"], row["dtype"])


def robust(
    residuals: Callable[[NDArray[np.float64]], Sequence[float]],
    start: Sequence[float],
    *,
    typical: float = _TYPICAL,
    known: float | Sequence[float],
) -> list[float]:
    """Positive parameters that make ``residuals`` (of logarithms) small: least squares with a soft L1 loss.

    ``typical``: errors beyond it count less and less. ``known``: the parameters are ``start`` within a factor of e to this power
    before any row is seen, which holds those that the rows say little of.
    """
    at = np.log(start)

    def all_residuals(logs: NDArray[np.float64]) -> NDArray[np.float64]:
        found = np.asarray(residuals(np.exp(logs)))
        return np.concatenate([found, (logs - at) * typical / np.asarray(known)])

    found = least_squares(all_residuals, at, loss="soft_l1", f_scale=typical)
    return [float(value) for value in np.exp(found.x)]


def fitted_device(device: SimulatedDevice, found: Mapping[str, Sequence[Row]]) -> SimulatedDevice:
    """The device with its shares, floors and all-reduce fitted to these rows of it, by kind of kernel."""
    for name in dict.fromkeys(_format(row) for row in found["gemm"]):
        device = _fit_products(device, name, [row for row in found["gemm"] if _format(row) == name])
    phases = ("prefill",) if device.name in _READ_FROM_CACHE else ("prefill", "decode")
    for phase in phases:
        device = _fit_attention(device, phase, [row for row in found["attention"] if row["phase"] == phase])
    for count in sorted({int(row["num_gpus"]) for row in found["allreduce"]}):
        device = _fit_reduce(device, count, [row for row in found["allreduce"] if int(row["num_gpus"]) == count])
    return device


def _fit_products(device: SimulatedDevice, name: str, found: Sequence[Row]) -> SimulatedDevice:
    def at(values: Sequence[float]) -> SimulatedDevice:
        gemm, memory, floor = values
        shares = replace(
            device.efficiency,
            gemm={**device.efficiency.gemm, name: min(gemm, _HIGHEST_SHARE)},
            memory={**device.efficiency.memory, name: min(memory, _HIGHEST_SHARE)},
        )
        return replace(device, efficiency=shares, gemm_floor_s={**device.gemm_floor_s, name: floor})

    floor = _PLAIN_FLOOR_S if name == "bf16" else _QUANTISING_FLOOR_S
    return _fit(at, gemm_error, found, (0.75, 0.82, floor), (_SHARE, _SHARE, _FLOOR))


def _fit_attention(device: SimulatedDevice, phase: str, found: Sequence[Row]) -> SimulatedDevice:
    def at(values: Sequence[float]) -> SimulatedDevice:
        share, floor = min(values[0], _HIGHEST_SHARE), values[1]
        if phase == "prefill":
            shares = replace(device.efficiency, attention_prefill=share)
            return replace(device, efficiency=shares, attention_prefill_floor_s=floor)
        shares = replace(device.efficiency, attention_decode=share)
        return replace(device, efficiency=shares, attention_floor_s=floor)

    start = (0.45, 2.5e-5) if phase == "prefill" else (0.82, 1e-5)
    return _fit(at, attention_error, found, start, (_SHARE, _FLOOR))


def _fit_reduce(device: SimulatedDevice, count: int, found: Sequence[Row]) -> SimulatedDevice:
    link = device.link
    assert link is not None

    def at(values: Sequence[float]) -> SimulatedDevice:
        return replace(device, link=replace(link, all_reduce={**link.all_reduce, count: (values[0], values[1])}))

    return _fit(at, all_reduce_error, found, (link.latency_s, link.bandwidth / 4), (_FLOOR, 3 * _FLOOR))


def _fit(
    at: Callable[[Sequence[float]], SimulatedDevice],
    error: Error,
    found: Sequence[Row],
    start: Sequence[float],
    known: Sequence[float],
) -> SimulatedDevice:
    """As it is where no row says anything."""

    def residuals(values: NDArray[np.float64]) -> list[float]:
        device = at(values.tolist())
        return [math.log(error(row, device)) for row in found]

    return at(robust(residuals, start, known=known)) if found else at(start)


def unmeasured_device(device: SimulatedDevice, others: Sequence[SimulatedDevice]) -> SimulatedDevice:
    """The device as if no kernel of it had been measured: the geometric means of ``others``' shares and floors, and a ring over
    its own link in place of measured all-reduces.
    """
    shares = [other.efficiency for other in others]
    efficiency = Efficiency(
        gemm=_means([one.gemm for one in shares]),
        memory=_means([one.memory for one in shares]),
        attention_prefill=_mean(one.attention_prefill for one in shares),
        attention_decode=_mean(one.attention_decode for one in shares),
    )
    return replace(
        device,
        efficiency=efficiency,
        launch_s=_mean(other.launch_s for other in others),
        gemm_floor_s=_means([other.gemm_floor_s for other in others]),
        attention_floor_s=_mean(other.attention_floor_s for other in others),
        attention_prefill_floor_s=_mean(other.attention_prefill_floor_s for other in others),
        link=None if device.link is None else replace(device.link, all_reduce={}),
    )


def _means(tables: Sequence[Mapping[str, float]]) -> dict[str, float]:
    names = dict.fromkeys(name for table in tables for name in table)
    return {name: _mean(table[name] for table in tables if name in table) for name in names}


def _mean(values: Iterator[float] | Sequence[float | None]) -> float:
    return math.exp(fmean(math.log(value) for value in values if value is not None))
