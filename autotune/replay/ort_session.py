"""Opens an exported folder inside a session's process. Imports the export's runtime and numpy, and no spoke."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autotune.core.artifact import Artifact
from autotune.core.device import DeviceSpec
from autotune.core.errors import OpenError
from autotune.core.samples import Tensors

__all__ = ["OPENER", "ExportedSession", "open_exported"]

OPENER = "autotune.replay.ort_session:open_exported"


class ExportedSession:
    """An exported model opened as its ``config.json`` says. ``model`` is what the folder's own ``run.load()`` returns."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def outputs(self, inputs: Tensors) -> Tensors:
        """Infer once: every output by name."""
        return {name: np.asarray(array) for name, array in self.model.run(dict(inputs)).items()}

    def bind(self, inputs: Tensors) -> Callable[[], object]:
        """Return a call that infers once on ``inputs``: what is timed, and what a caller of the session would do."""
        run, names, feed = self.model.session.run, self.model.outputs, dict(inputs)
        return lambda: run(names, feed)


def open_exported(artifact: Artifact, device: DeviceSpec) -> ExportedSession:  # noqa: ARG001 (config.json names the provider)
    """Open the exported folder ``artifact.folder``. Raises ``OpenError`` with the runtime's own words."""
    try:
        from autotune.replay.standalone import load

        return ExportedSession(load(artifact.folder))
    except ImportError as error:
        raise OpenError("unsupported", f"{error}: install it with pip") from error
    except MemoryError as error:
        raise OpenError("out_of_memory", str(error)) from error
    except Exception as error:  # onnxruntime's exceptions share no base class
        raise OpenError("other", str(error)) from error
