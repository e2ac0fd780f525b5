"""A candidate opened, in the session's own process, whose memory and start are measured: imports little."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autotune.core.artifact import Artifact
from autotune.core.device import DeviceSpec
from autotune.core.errors import OpenError
from autotune.host.cpus import counted_cpus
from autotune.measure.causes import cause_of_error
from autotune.replay.torch_session import TorchSession
from autotune_backends.opened import OpenedModel
from autotune_backends.torch.settings import session_settings

if TYPE_CHECKING:
    from autotune.measure.session_host import LocalSession

__all__ = ["open_session"]


def open_session(artifact: Artifact, device: DeviceSpec) -> LocalSession:
    """Open the artifact under its candidate's parameters. Raises ``OpenError``."""
    if artifact.candidate.get("kernels") == "onnxruntime":
        from autotune_backends.onnxruntime.session import open_session as open_in_onnxruntime

        return open_in_onnxruntime(artifact, device)
    settings = session_settings(artifact.candidate, device.cpus or counted_cpus())
    try:
        return OpenedModel(TorchSession(artifact.folder / artifact.model, settings.model_dump()), cause_of_error)
    except Exception as error:  # torch raises RuntimeError, AssertionError, and its own
        raise OpenError(*cause_of_error(error)) from error
