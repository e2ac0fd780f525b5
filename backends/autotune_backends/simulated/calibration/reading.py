"""A device with what was measured on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from autotune.core.errors import UserError
from autotune_backends.simulated.calibration.residual import residual_of
from autotune_backends.simulated.devices import Residual, SimulatedDevice
from autotune_backends.simulated.served_point import read_point
from autotune_backends.simulated.table import read_table

__all__ = ["calibrated"]


def calibrated(device: SimulatedDevice, extra: Path | None = None) -> SimulatedDevice:
    """The device with the residuals of its own table and of ``extra``; rows of other devices are left to those.

    Raises ``UserError`` for a table or a row that cannot be read.
    """
    tables = [path for path in (device.calibration and Path(device.calibration), extra) if path]
    plain = replace(device, residuals=())
    found = [
        _residual(plain, path, number, row) for path in tables for number, row in enumerate(read_table(path)[1], 2)
    ]
    return replace(device, residuals=tuple(one for one in found if one is not None))


def _residual(device: SimulatedDevice, path: Path, number: int, row: Mapping[str, str]) -> Residual | None:
    """None: the row is of another device."""
    try:
        point = read_point(number, row, device)
        return residual_of(number, row, point) if point.device.name == device.name else None
    except UserError as error:
        raise UserError(f"{path.name}: {error.problem}", error.remedy) from error
