"""A model opened in OpenVINO. Runs in the session's own process, whose memory and start are measured: imports little."""

from __future__ import annotations

from autotune.core.artifact import Artifact
from autotune.core.device import DeviceSpec
from autotune.core.errors import Cause, OpenError
from autotune.host.cpus import counted_cpus
from autotune.replay.openvino_session import OpenVinoSession
from autotune_backends.opened import OpenedModel
from autotune_backends.openvino.failures import cause_of, message_of
from autotune_backends.openvino.settings import session_settings

__all__ = ["open_session"]


def open_session(artifact: Artifact, device: DeviceSpec) -> OpenedModel:
    """Open the artifact under its candidate's parameters. Raises ``OpenError``."""
    settings = session_settings(artifact.candidate, device.cpus or counted_cpus())
    try:
        return OpenedModel(OpenVinoSession(artifact.folder / artifact.model, settings.model_dump()), _told)
    except Exception as error:  # openvino raises RuntimeError, TypeError, ValueError
        raise OpenError(*_told(error)) from error


def _told(error: BaseException) -> tuple[Cause, str]:
    return cause_of(error), message_of(error)
