"""A model opened in OpenVINO. Runs in the session's own process, whose memory and start are measured: imports little."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from autotune.core.artifact import Artifact
from autotune.core.device import DeviceSpec
from autotune.core.errors import MeasureError, OpenError
from autotune.core.samples import Tensors
from autotune.host.cpus import counted_cpus
from autotune.replay.openvino_session import OpenVinoSession
from autotune_backends.openvino.failures import cause_of, message_of
from autotune_backends.openvino.settings import session_settings

__all__ = ["OpenedModel", "open_session"]


class OpenedModel:
    """Runs on numpy feeds and returns every output as a copy: what a user of the exported model calls too."""

    def __init__(self, session: OpenVinoSession) -> None:
        self._session = session
        self._names = [output.name for output in session.get_outputs()]

    def outputs(self, inputs: Tensors) -> Tensors:
        """Run once and return every output by name. Raises ``MeasureError``."""
        try:
            return dict(zip(self._names, self._session.run(self._names, dict(inputs)), strict=True))
        except Exception as error:  # openvino raises RuntimeError, TypeError, ValueError
            raise MeasureError(cause_of(error), message_of(error)) from error

    def bind(self, inputs: Tensors) -> Callable[[], object]:
        """Return a call that runs once on these inputs."""
        return partial(self._session.run, self._names, dict(inputs))


def open_session(artifact: Artifact, device: DeviceSpec) -> OpenedModel:
    """Open the artifact under its candidate's parameters. Raises ``OpenError``."""
    settings = session_settings(artifact.candidate, device.cpus or counted_cpus())
    try:
        return OpenedModel(OpenVinoSession(artifact.folder / artifact.model, settings.model_dump()))
    except Exception as error:  # as above
        raise OpenError(cause_of(error), message_of(error)) from error
