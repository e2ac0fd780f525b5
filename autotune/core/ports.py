"""The protocols between the hub and its spokes. See ``autotune.testing`` for the suite that each implementation passes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self, runtime_checkable

from autotune.core.artifact import Artifact
from autotune.core.assignment import SearchContext
from autotune.core.candidate import Candidate
from autotune.core.deployment import Deployment
from autotune.core.device import DeviceSpec
from autotune.core.front import Front
from autotune.core.limits import Limit
from autotune.core.model import ModelFacts
from autotune.core.ownership import Ownership
from autotune.core.package import Package
from autotune.core.picked import PickedRun
from autotune.core.samples import Requests, Samples, Tensors
from autotune.core.serving import Load, Served
from autotune.core.space import Offer, SearchSpace
from autotune.core.trial import Trial, TrialRecord
from autotune.core.values import Value
from autotune.core.workload import Workload

__all__ = [
    "Backend",
    "Catalogued",
    "Executor",
    "ExecutorFactory",
    "Packaged",
    "Sampler",
    "Screening",
    "ServingSession",
    "Session",
    "Simulating",
    "SpaceFunction",
    "Tracker",
    "TrackerReader",
]


class Session(Protocol):
    """An artifact opened, alive in a process of its own. Leaving the context ends that process."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def outputs(self, inputs: Tensors) -> Tensors:
        """Run once and return every output by name. Raises ``MeasureError`` when the run fails or the process ended."""
        ...

    def run(self, requests: Requests, count: int) -> Samples:
        """One round: ``count`` requests, one after another. Raises ``MeasureError`` as ``outputs`` does."""
        ...

    def pause(self) -> None:
        """Stop all of it: while paused, nothing of it runs."""
        ...

    def resume(self) -> None:
        """Go on after ``pause``."""
        ...


class ServingSession(Session, Protocol):
    """A session that can be put under a load of many requests at once."""

    def serve(self, requests: Requests, load: Load) -> Served:
        """Put it under ``load``, ``requests``' inputs in turn. Raises ``MeasureError`` as ``outputs`` does."""
        ...


class Backend(Protocol):
    """Knows one runtime. Never times anything."""

    name: str

    def versions(self) -> Mapping[str, str]:
        """Package names and versions that its results depend on."""
        ...

    def devices(self) -> Sequence[DeviceSpec]:
        """The devices it can run on, here and now."""
        ...

    def offers(self, model: ModelFacts, device: DeviceSpec) -> Offer:
        """Which parameters, with which values, are legal for this model there, and why others are not."""
        ...

    def build(
        self,
        model: ModelFacts,
        candidate: Candidate,
        device: DeviceSpec,
        folder: Path,
        calibration: Callable[[], Iterable[Tensors]],
        custom_op_library: Path | None = None,
    ) -> Artifact:
        """Write the candidate's artifact into the empty ``folder``. ``calibration`` yields inputs of batch 1 anew each time.

        Raises ``BuildError``.
        """
        ...

    def open(self, artifact: Artifact, device: DeviceSpec) -> Session:
        """Open the artifact under its candidate's parameters. Raises ``OpenError``."""
        ...

    def deployment(self, artifact: Artifact, candidate: Candidate) -> Deployment:
        """Describe the artifact as data, for export."""
        ...


@runtime_checkable
class Catalogued(Protocol):
    """What a backend may have besides: all that it could offer, for whoever has no model at hand."""

    def widest(self, model_format: str, device: DeviceSpec) -> Offer | None:
        """Its offer there for a model of that format that allows whatever a model may; None: it takes no such format, or
        nothing runs there.
        """
        ...


@runtime_checkable
class Packaged(Protocol):
    """What a backend may have besides whose runtime is a package that may be absent."""

    def missing(self) -> Package | None:
        """The package without which it runs nothing here; None: it is installed."""
        ...


@runtime_checkable
class Simulating(Protocol):
    """What a backend of simulated devices has besides ``Backend``'s members: nothing of it is built, opened or timed."""

    def language_model(self, name: str) -> ModelFacts:
        """The facts of a built-in language model, or of one described by a folder. Raises ``UserError`` with nearest names."""
        ...

    def simulated_device(self, name: str, calibration: Path | None = None) -> DeviceSpec:
        """The device of that name, or that is described by that YAML file. Raises ``UserError`` with the nearest names.

        ``calibration``: a table of measured points; those of this device narrow what is simulated on it.
        """
        ...

    def simulate(
        self,
        model: ModelFacts,
        candidate: Candidate,
        device: DeviceSpec,
        workload: Workload,
        *,
        limits: Sequence[Limit] = (),
        confidence: float = 0.8,
        seed: int = 0,
        own: Ownership | None = None,
    ) -> Mapping[str, Value]:
        """Every metric that is known of the candidate there, provenance ``simulated`` or ``published``.

        ``low``..``high`` holds the true value with probability ``confidence``. The same arguments give the same values.
        ``limits`` are what a request must hold to count for ``goodput``. ``own`` None: costs are rents. Raises ``BuildError``
        (out_of_memory, unsupported) or ``MeasureError`` with the reason when the candidate cannot run there.
        """
        ...


@runtime_checkable
class Screening(Protocol):
    """What a simulating backend may have besides: a rough look at a whole space, which proposes what is simulated first."""

    def screen(
        self,
        model: ModelFacts,
        candidates: Sequence[Candidate],
        device: DeviceSpec,
        workload: Workload,
        own: Ownership | None = None,
    ) -> Sequence[Mapping[str, float] | None]:
        """Of each candidate, in its metrics' SI units, estimates by metric, or by family (``ttft`` for ``ttft_p90``).

        None: it cannot run there, or nothing is known. Never a result: what it proposes is simulated before it counts.
        """
        ...


class SpaceFunction(Protocol):
    """Composes a search space from what is known."""

    def __call__(self, model: ModelFacts, offers: Sequence[Offer], workload: Workload) -> SearchSpace:
        """Raises ``UserError`` when no backend can run the model."""
        ...


class Sampler(Protocol):
    """Decides what to try next."""

    def ask(self) -> Trial | None:
        """The next trial; None when nothing is left to try (now: more may come after ``tell``)."""
        ...

    def tell(self, record: TrialRecord) -> None:
        """Learn from a record, asked for or not: telling a journal's records is how a search resumes."""
        ...


class Executor(Protocol):
    """Where trials run. One slot a real device; a trial holds its slot from build to the end of measuring."""

    def free_slots(self, device: str) -> int:
        """How many trials could start there now."""
        ...

    def submit(self, trial: Trial, bar: Sequence[Mapping[str, Value]] = ()) -> None:
        """Start a trial. ``bar``: the front's metrics now, one mapping a point."""
        ...

    def wait(self, timeout_s: float) -> list[TrialRecord]:
        """Sleep until a trial ends, or for ``timeout_s`` seconds; return what ended, maybe nothing."""
        ...

    def cancel(self) -> list[Trial]:
        """End every running trial, its whole process tree, and return those trials: they have no record."""
        ...

    def shutdown(self) -> None:
        """Release everything. Calling it again does nothing."""
        ...


class ExecutorFactory(Protocol):
    """What the entry point of an executor names: its class, usually."""

    def __call__(self, context: SearchContext, address: str | None = None) -> Executor:
        """Make it ready; raises ``UserError`` when ``address`` cannot be reached. ``address`` None: on this machine."""
        ...


class Tracker(Protocol):
    """A view on a search for people. It may fail: the journal is the truth, and the search goes on."""

    @property
    def uri(self) -> str | None:
        """Where it shows the search, as an absolute address; None until it is ready, or when it is away."""
        ...

    @property
    def run_id(self) -> str | None:
        """The search's own place there; None likewise."""
        ...

    def ready(self, timeout_s: float | None = None) -> bool:
        """Wait for its set-up (None: without end), so that none of it runs beside a measurement; False when it is away."""
        ...

    def record(self, record: TrialRecord) -> None:
        """Show one trial. Showing it again changes nothing."""
        ...

    def finish(self, front: Front, summary: str, exports: Mapping[str, Path]) -> None:
        """Show the front. ``summary`` is Markdown; ``exports`` maps a point's id to its exported folder."""
        ...

    def close(self) -> None:
        """Flush and release."""
        ...


class TrackerReader(Protocol):
    """What people did in a tracker's store, read back. Every method raises ``UserError`` when the store cannot be reached."""

    def picked(self, search_id: str | None = None) -> list[PickedRun]:
        """Runs that a person picked: in one search, or (None) in all of autotune's."""
        ...

    def pick(self, search_id: str, point: str, alias: str | None = None) -> PickedRun:
        """Pick this point and no other of its search; with ``alias``, register its model. Raises ``UserError``."""
        ...

    def download(self, run_id: str, to: Path) -> Path:
        """Write a run's exported folder to the new folder ``to``. Raises ``UserError`` when the run has none."""
        ...

    def download_model(self, reference: str, to: Path) -> Path:
        """Write a registered model's exported folder to the new folder ``to``. Raises ``UserError``."""
        ...

    def address(self) -> str:
        """The store's absolute address: a server's is also its UI's."""
        ...

    def ui_command(self, port: int = 5000) -> list[str]:
        """The command that shows the store in a browser; empty when the store is a server with a UI of its own."""
        ...

    def ui_link(self, host: str, search_id: str) -> str:
        """The page of the UI at ``host`` that shows the search. Raises ``UserError`` when the store lacks it."""
        ...
