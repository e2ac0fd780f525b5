"""``autotune.load``: an exported folder as a function from inputs to outputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from autotune.core.deployment import Batching, ExportedConfig
from autotune.core.errors import UserError
from autotune.core.samples import Tensors
from autotune.replay.folder import read_exported
from autotune.serving.batcher import Batcher

__all__ = ["Deployed", "load"]


class Deployed:
    """An exported model, opened exactly as it was measured: ``outputs = deployed(inputs)``.

    ``inputs`` and ``outputs`` map names to arrays, shaped as the model says. ``config`` is the folder's ``config.json``.
    A context manager; leaving it releases the session.
    """

    def __init__(self, config: ExportedConfig, model: Any, reopen: Callable[[], Any] | None = None) -> None:
        self.config = config
        self._model = model
        self._open = reopen

    def __call__(self, inputs: Mapping[str, Any]) -> Tensors:
        """Infer once. Raises ``UserError`` when the inputs' names are not the model's, or after the context was left."""
        if self._model is None:
            raise UserError("this model was closed", "call autotune.load again")
        if set(inputs) != set(self._model.inputs):
            given = ", ".join(inputs) or "none"
            raise UserError(f"the inputs given are {given}", f"the model takes {', '.join(self._model.inputs)}")
        outputs: Tensors = self._model.run(dict(inputs))
        return outputs

    def batcher(self) -> Batcher:
        """The dynamic batcher that was measured, for requests from many threads: ``batcher.infer(inputs)``; close it when done.

        It has the policy of ``config.json`` (without one, requests run one by one), and opens a session for each instance.
        """
        if self._open is None:
            raise UserError("this model was closed", "call autotune.load again")
        policy = self.config.batching or Batching(max_batch=1, delay_s=0.0)
        runners = [self._model.run, *(self._open().run for _ in range(1, policy.instances))]
        return Batcher(runners, max_batch=policy.max_batch, delay_s=policy.delay_s)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._model = self._open = None


def load(folder: str | Path) -> Deployed:
    """Open an exported folder in this process. Needs the model's runtime (onnxruntime, openvino or torch) and numpy.

    Raises ``UserError`` when ``folder`` is no exported folder, is damaged, or cannot be opened on this machine.
    """
    path = Path(folder)
    config = read_exported(path)
    try:
        from autotune.replay.standalone import load as open_model

        model = open_model(path)
    except ImportError as error:
        runtime = config.session.runtime
        raise UserError(f"{runtime} cannot be imported: {error}", f"pip install {runtime} numpy") from error
    except Exception as error:  # onnxruntime's exceptions share no base class
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise UserError(f"{path} cannot be opened: {first}", "export it again, or see `autotune doctor`") from error
    return Deployed(config, model, lambda: open_model(path))
