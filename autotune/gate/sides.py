"""The two sides of a gate: the head, which is judged, and the baseline, which it is judged by."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Literal, Self, TypeVar

from autotune.core.artifact import Artifact
from autotune.core.deployment import Batching, ExportedConfig
from autotune.core.errors import TrialError
from autotune.core.ports import Session
from autotune.core.samples import Requests, Samples, Tensors
from autotune.core.serving import Load, Served
from autotune.measure.served_phase import can_serve
from autotune.replay.folder import read_exported
from autotune.replay.samples import ReplaySamples, read_samples
from autotune.replay.sides import sides

__all__ = ["Blamed", "Side", "SideFailure", "Who", "folder_side", "scratch_folder"]

Who = Literal["head", "baseline"]
Result = TypeVar("Result")


@dataclass(frozen=True)
class Side:
    """``artifact`` opens with ``replay.sides.open_side``; ``batch`` is what its throughput is measured with.

    ``batching`` is the policy that requests under load meet, None: one by one. ``reference`` is the unoptimised model that
    fidelity is held against, None: it is not at hand. ``samples`` None: there are none. ``original_sha256`` names the model that
    it was made from. ``text`` is how reports call it.
    """

    who: Who
    text: str
    artifact: Artifact
    batch: int
    original_sha256: str
    batching: Batching | None = None
    reference: Artifact | None = None
    samples: ReplaySamples | None = None
    notes: tuple[str, ...] = ()


class SideFailure(Exception):
    """A side cannot be built, opened or run: whose fault it is decides between a failed gate and none at all."""

    def __init__(self, who: Who, error: TrialError) -> None:
        super().__init__(who, error)
        self.who: Who = who
        self.error = error

    @property
    def reason(self) -> str:
        """What happened, in one line."""
        verb = {"build": "be built", "open": "be opened"}.get(self.error.stage, "be run")
        said = self.error.message.strip().splitlines()
        return f"it cannot {verb} ({self.error.cause}){f': {said[0]}' if said else ''}"


@contextmanager
def folder_side(who: Who, folder: Path, text: str | None = None) -> Iterator[tuple[Side, ExportedConfig]]:
    """Yield a deployed folder as a side. Raises ``UserError`` when it is none, or damaged."""
    config = read_exported(folder)
    file = folder / "samples.npz"
    with sides(folder, config, None) as both:
        yield (
            Side(
                who=who,
                text=text or str(folder),
                artifact=both.exported,
                batch=config.promise.batch,
                original_sha256=config.source.model_sha256,
                batching=config.batching,
                reference=both.original,
                samples=read_samples(file) if file.is_file() else None,
            ),
            config,
        )


@contextmanager
def scratch_folder(who: Who) -> Iterator[Path]:
    """A folder that lives as long as the block."""
    with tempfile.TemporaryDirectory(prefix=f"autotune-gate-{who}-") as folder:
        yield Path(folder)


class Blamed:
    """A session whose failures say which side they are of."""

    def __init__(self, who: Who, session: Session) -> None:
        self._who: Who = who
        self._session = session

    def __enter__(self) -> Self:
        self._blame(self._session.__enter__)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._session.__exit__(kind, error, trace)

    def outputs(self, inputs: Tensors) -> Tensors:
        """Run once."""
        return self._blame(lambda: self._session.outputs(inputs))

    def run(self, requests: Requests, count: int) -> Samples:
        """Run one round."""
        return self._blame(lambda: self._session.run(requests, count))

    def serve(self, requests: Requests, load: Load) -> Served:
        """Put it under a load."""
        session = can_serve(self._session, "load")
        return self._blame(lambda: session.serve(requests, load))

    def pause(self) -> None:
        """Stop."""
        self._session.pause()

    def resume(self) -> None:
        """Go on."""
        self._session.resume()

    def _blame(self, act: Callable[[], Result]) -> Result:
        try:
            return act()
        except TrialError as error:
            raise SideFailure(self._who, error) from error
