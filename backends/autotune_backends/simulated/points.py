"""A table of served points, predicted: what ``autotune simulate --points`` writes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from autotune.core.errors import UserError
from autotune_backends.simulated.calibration import calibrated, calibrated_on, correction_of
from autotune_backends.simulated.devices import Residual, device_named
from autotune_backends.simulated.fitted import interval_of, sigma_of
from autotune_backends.simulated.nearest_fit import nearest_fit, with_change
from autotune_backends.simulated.refusals import DoesNotFit, Infeasible
from autotune_backends.simulated.served_point import measured, read_point

__all__ = ["PREDICTED", "predict_points"]

_ENDS = ("", "_low", "_high")
PREDICTED = (
    *(f"{name}{end}" for name in ("ttft_s", "tpot_s", "output_throughput_per_gpu") for end in _ENDS),
    *("provenance", "basis", "error_ttft", "error_tpot", "reason"),
)


def predict_points(rows: Iterable[Mapping[str, str]], calibration: Path | None = None) -> list[dict[str, str]]:
    """Each row with ``PREDICTED`` columns added; ``error_…`` is predicted over measured less 1, empty where not measured.

    ``calibration``: a table of measured points that corrects those of their devices.
    Raises ``UserError`` with the number of a row that cannot be read (the first after the head is 2, as editors count).
    """

    @cache
    def residuals(device: str) -> tuple[Residual, ...]:
        return calibrated(device_named(device), calibration).residuals

    return [_predicted(number, row, residuals) for number, row in enumerate(rows, start=2)]


def _predicted(number: int, row: Mapping[str, str], residuals: Callable[[str], Sequence[Residual]]) -> dict[str, str]:
    point = read_point(number, row)
    added = dict.fromkeys(PREDICTED, "")
    try:
        costs = point.costs()
        found = point.loop(costs)
    except (DoesNotFit, ValueError) as refusal:  # the latter: weights fit, and not one request's cache beside them
        tokens = point.input_tokens + point.output_tokens
        nearest = nearest_fit(point.model, point.device, point.candidate, tokens)
        return {**row, **added, "reason": with_change(str(refusal), nearest)}
    except Infeasible as refusal:
        return {**row, **added, "reason": refusal.problem}
    except UserError as error:
        raise UserError(f"row {number}: {error.problem}", error.remedy) from error
    served = point.model.name, costs.engine.name
    known = correction_of(residuals(row["system"].strip()), served, sigma_of(costs.interval))
    values = {
        "ttft_s": (found.ttft_s * known.step.factor * known.first.factor, (known.step.sigma, known.first.sigma)),
        "tpot_s": (found.tpot_s * known.step.factor, (known.step.sigma,)),
        "output_throughput_per_gpu": (
            found.output_throughput / costs.devices / known.step.factor,
            (known.step.sigma,),
        ),
    }
    return {
        **row,
        **added,
        **{name: text for key, value in values.items() for name, text in _ends(key, *value).items()},
        "provenance": "simulated",
        "basis": f"{costs.basis}{calibrated_on(known.count)}",
        "error_ttft": _error(number, row, "ttft_ms_measured", values["ttft_s"][0]),
        "error_tpot": _error(number, row, "tpot_ms_measured", values["tpot_s"][0]),
    }


def _ends(name: str, value: float, sigmas: tuple[float, ...]) -> dict[str, str]:
    """``sigmas`` of independent errors."""
    wide = 1 + interval_of(math.hypot(*sigmas))
    factors = zip(_ENDS, (1.0, 1.0 / wide, wide), strict=True)
    return {f"{name}{end}": f"{value * factor:.6g}" for end, factor in factors}


def _error(number: int, row: Mapping[str, str], name: str, seconds: float) -> str:
    told = measured(number, row, name)
    return "" if told is None else f"{seconds * 1e3 / told - 1:.4f}"
