"""What runs inside the session's process, for runtimes whose session is called as onnxruntime's is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

from autotune.core.errors import Cause, MeasureError
from autotune.core.samples import Tensors

__all__ = ["NamedSession", "OpenedModel"]

Told = Callable[[BaseException], tuple[Cause, str]]


class _Named(Protocol):
    @property
    def name(self) -> str: ...


class NamedSession(Protocol):
    """``onnxruntime.InferenceSession``, or alike."""

    def get_outputs(self) -> Sequence[_Named]:
        """What comes out."""
        ...

    def run(self, names: Sequence[str], inputs: Mapping[str, Any]) -> list[Any]:
        """Infer once."""
        ...


class OpenedModel:
    """Runs on numpy feeds and returns every output as a copy: what a user of the exported model calls too.

    ``told`` reads cause and message out of whatever the runtime raises.
    """

    def __init__(self, session: NamedSession, told: Told) -> None:
        self._session, self._told = session, told
        self._names = [output.name for output in session.get_outputs()]

    def outputs(self, inputs: Tensors) -> Tensors:
        """Run once and return every output by name. Raises ``MeasureError``."""
        try:
            return dict(zip(self._names, self._session.run(self._names, dict(inputs)), strict=True))
        except Exception as error:  # runtimes raise RuntimeError, TypeError, ValueError and their own
            raise MeasureError(*self._told(error)) from error

    def bind(self, inputs: Tensors) -> Callable[[], object]:
        """Return a call that runs once on these inputs."""
        return partial(self._session.run, self._names, dict(inputs))
