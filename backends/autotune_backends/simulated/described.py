"""Between the hub's words and the simulator's: models and devices by what the hub keeps of them."""

from __future__ import annotations

import dataclasses
import json
from functools import cache
from pathlib import Path
from typing import cast, get_args

from autotune.core.device import Confidence, DeviceSpec
from autotune.core.hashing import hash_json
from autotune.core.model import LANGUAGE_MODEL, ModelFacts
from autotune_backends.simulated.calibration import calibrated
from autotune_backends.simulated.costing import said_of_prices
from autotune_backends.simulated.devices import SimulatedDevice, device_named
from autotune_backends.simulated.transformers import TransformerModel, model_named

__all__ = ["described", "device_of", "facts_of", "spec_of", "transformer_of"]


def facts_of(name: str) -> ModelFacts:
    """Facts of the model called ``name``, or described in that folder. Weights are not looked at. Raises ``UserError``."""
    path = Path(name)
    model = model_named(name)
    folder = path.parent if path.suffix == ".json" else path
    here = folder.absolute() if folder.is_dir() else Path(model.name)
    billions = model.parameters / 1e9
    return ModelFacts(
        path=here,
        format=LANGUAGE_MODEL,
        sha256=hash_json({**dataclasses.asdict(model), "name": ""}),
        files=("config.json",) if here.is_absolute() else (),
        size_bytes=2 * model.parameters,
        inputs=(),
        outputs=(),
        weight_bytes=2 * model.parameters,
        flops=2.0 * model.active_parameters,
        notes=(f"{here.name}: {billions:.3g} billion parameters, known by its configuration alone",),
    )


def transformer_of(model: ModelFacts) -> TransformerModel:
    """The model that the facts are of."""
    return model_named(str(model.path))


def spec_of(device: SimulatedDevice, file: Path | None = None, calibration: Path | None = None) -> DeviceSpec:
    """The device as the hub knows it; ``file`` is its description when it is the user's own."""
    confidence = device.confidence if device.confidence in get_args(Confidence) else "low"
    figures = hash_json(json.loads(json.dumps(dataclasses.asdict(device))))
    changes = {
        "confidence": cast("Confidence", confidence),
        "figures": figures,
        "file": file,
        "prices": said_of_prices(device),
        "calibration": calibration,
        "calibrated_on": len(device.residuals) or None,
    }
    return device.spec().model_copy(update=changes)


def device_of(device: DeviceSpec) -> SimulatedDevice:
    """The description that a spec stands for. Raises ``UserError`` when its file is gone."""
    return described(str(device.file or device.name), device.calibration)


@cache
def described(name: str, calibration: Path | None = None) -> SimulatedDevice:
    """The device, with what was measured on it. Raises ``UserError``."""
    return calibrated(device_named(name), calibration)
