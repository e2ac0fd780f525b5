"""A model opened in OpenVINO, called as an onnxruntime session is. Needs openvino and numpy alone: exported folders hold it."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["OpenVinoSession", "Port", "import_openvino"]

_TYPES = {"float32": "float", "float64": "double"}
"""numpy's names → onnxruntime's, where they differ."""


@dataclass(frozen=True)
class Port:
    """An input or output. ``type`` as onnxruntime writes it (``tensor(float)``); an axis of any size is None in ``shape``."""

    name: str
    type: str
    shape: tuple[int | None, ...]


class OpenVinoSession:
    """``settings`` are those of ``config.json``: ``providers`` names the device, ``options`` are OpenVINO's own properties."""

    def __init__(self, model: Path, settings: Mapping[str, Any]) -> None:
        device = (list(settings.get("providers", ())) or ["CPU"])[0]
        compiled = import_openvino().Core().compile_model(str(model), device, dict(settings.get("options", {})))
        self._request = compiled.create_infer_request()
        self._inputs = [_port(port) for port in compiled.inputs]
        self._outputs = [_port(port) for port in compiled.outputs]
        self._positions = {port.name: position for position, port in enumerate(self._outputs)}

    def get_inputs(self) -> list[Port]:
        """What goes in, in the model's order."""
        return self._inputs

    def get_outputs(self) -> list[Port]:
        """What comes out, in the model's order."""
        return self._outputs

    def run(self, names: Sequence[str] | None, inputs: Mapping[str, Any]) -> list[Any]:
        """Infer once; the outputs of these names (None: all), as arrays of their own. One call at a time."""
        found = self._request.infer(inputs, share_inputs=True).to_tuple()
        return list(found) if names is None else [found[self._positions[name]] for name in names]


def import_openvino() -> Any:
    """Import openvino without ``openvino_telemetry``, which it reports its use with, from its import on.

    Without that package it takes the stub that it has for the purpose.
    """
    sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]  # None: "there is no such module"
    import openvino

    return openvino


def _port(port: Any) -> Port:
    kind = str(port.get_element_type().to_dtype())
    shape = tuple(axis.get_length() if axis.is_static else None for axis in port.get_partial_shape())
    return Port(port.get_any_name(), f"tensor({_TYPES.get(kind, kind)})", shape)
