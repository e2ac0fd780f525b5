"""A model opened in onnxruntime. Runs in the session's own process, whose memory and start are measured: imports little."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import onnxruntime as ort

from autotune.core.artifact import Artifact
from autotune.core.deployment import SessionSettings
from autotune.core.device import DeviceSpec
from autotune.core.errors import MeasureError, OpenError
from autotune.core.samples import Tensors
from autotune.host.cpus import counted_cpus
from autotune.replay.standalone import flat_outputs
from autotune_backends.onnxruntime.failures import cause_of, message_of
from autotune_backends.onnxruntime.settings import session_settings

__all__ = ["OrtSession", "open_session"]

_ENUMERATIONS = {"graph_optimization_level": "GraphOptimizationLevel", "execution_mode": "ExecutionMode"}


class OrtSession:
    """Runs on numpy feeds and returns every output: what a user of the exported model calls too."""

    def __init__(self, session: ort.InferenceSession) -> None:
        self._session = session
        self._names = [output.name for output in session.get_outputs()]

    def outputs(self, inputs: Tensors) -> Tensors:
        """Run once and return every output by name, as one array each. Raises ``MeasureError``."""
        try:
            return flat_outputs(self._names, self._session.run(self._names, dict(inputs)))
        except Exception as error:  # onnxruntime's exceptions share no base class of their own
            raise MeasureError(cause_of(error), message_of(error)) from error

    def bind(self, inputs: Tensors) -> Callable[[], object]:
        """Return a call that runs once on these inputs."""
        return partial(self._session.run, self._names, dict(inputs))


def open_session(artifact: Artifact, device: DeviceSpec) -> OrtSession:
    """Open the artifact under its candidate's parameters. Raises ``OpenError``."""
    ort.disable_telemetry_events()
    settings = session_settings(artifact.candidate, device.cpus or counted_cpus())
    try:
        options = _session_options(settings, artifact)
        model = str(artifact.folder / artifact.model)
        return OrtSession(ort.InferenceSession(model, options, providers=list(settings.providers)))
    except Exception as error:  # as above
        raise OpenError(cause_of(error), message_of(error)) from error


def _session_options(settings: SessionSettings, artifact: Artifact) -> Any:
    options = ort.SessionOptions()
    for name, value in settings.options.items():
        enumeration = _ENUMERATIONS.get(name)
        setattr(options, name, getattr(getattr(ort, enumeration), value) if enumeration else value)
    for name, value in settings.config_entries.items():
        options.add_session_config_entry(name, value)
    if artifact.custom_op_library is not None:
        options.register_custom_ops_library(str(artifact.custom_op_library))
    return options
