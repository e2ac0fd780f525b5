"""A trial, and the record of how it ended: the unit of the journal, of trackers and of resume."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, field_serializer, field_validator

from autotune.core.candidate import Candidate
from autotune.core.errors import Cause, Stage
from autotune.core.frozen import FileRecord, Record
from autotune.core.plan import Plan
from autotune.core.values import Value

__all__ = ["Cost", "Failure", "Measurement", "Outcome", "Purpose", "SameAs", "Trial", "TrialRecord"]

Purpose = Literal["baseline", "search", "front"]
Stopped = Literal["dominated", "limit"]


class Trial(Record):
    """A candidate on a device, under a plan.

    ``id`` names it within its search (``t0007``). ``key`` is the same for the same work anywhere: see ``core.keys``.
    ``parent`` is the trial it is compared with or derived from (the baseline), None for the baseline itself.
    ``repeat`` > 0 asks for the same work again, fresh.
    """

    id: str
    key: str
    parent: str | None = None
    candidate: Candidate
    device: str
    plan: Plan
    repeat: int = 0
    purpose: Purpose = "search"


class Cost(Record):
    """Where a trial's wall time went, in seconds."""

    build_s: float = 0.0
    check_s: float = 0.0
    measure_s: float = 0.0
    other_s: float = 0.0

    @property
    def total_s(self) -> float:
        """All of it."""
        return self.build_s + self.check_s + self.measure_s + self.other_s


class Measurement(Record):
    """A trial that was measured.

    ``ratios`` holds, for a paired trial, each metric relative to the baseline measured beside it (the median of the
    rounds' ratios, this trial / baseline). ``samples`` is a path relative to the run folder, None when none were kept.
    ``steady`` False: it never became steady. ``disturbed_rounds`` counts rounds that were taken again or could not be.
    ``stopped`` tells why measuring ended early, None: it did not. ``artifact`` is the artifact's SHA-256.
    ``changed`` is what each transformation changed, by name. ``notes`` are remarks for a person.
    """

    metrics: dict[str, Value]
    ratios: dict[str, Value] = Field(default_factory=dict)
    samples: str | None = None
    steady: bool = True
    disturbed_rounds: int = 0
    stopped: Stopped | None = None
    artifact: str | None = None
    changed: dict[str, Any] = Field(default_factory=dict)
    notes: tuple[str, ...] = ()


class Failure(Record):
    """A trial that failed: at which stage, of which cause, and the runtime's own words."""

    stage: Stage
    cause: Cause
    message: str

    @property
    def told(self) -> str:
        """Which stage ended it, for a sentence: ``"failed to open (unsupported)"``, ``"timed out"``, ``"was lost"``."""
        ends = {"timeout": "timed out", "lost": "was lost"}
        return ends.get(self.stage, f"failed to {self.stage} ({self.cause})")


class SameAs(Record):
    """A candidate that turned out to be another trial's, and why; it was not measured."""

    trial: str
    reason: str


Outcome = Measurement | Failure | SameAs

_TAGS: dict[str, type[Measurement] | type[Failure] | type[SameAs]] = {
    "measurement": Measurement,
    "failure": Failure,
    "same_as": SameAs,
}


class TrialRecord(FileRecord):
    """A trial and how it ended. Times are Unix seconds; ``environment`` is the SHA-256 of the environment it ran in."""

    schema_: str = Field(default="autotune/journal/1", alias="schema")
    trial: Trial
    started_s: float
    finished_s: float
    cost: Cost = Cost()
    outcome: Outcome
    environment: str = ""

    @property
    def measurement(self) -> Measurement | None:
        """The outcome when the trial was measured, else None."""
        return self.outcome if isinstance(self.outcome, Measurement) else None

    @field_serializer("outcome")
    def _tagged(self, outcome: Outcome) -> dict[str, Any]:
        tag = next(tag for tag, kind in _TAGS.items() if type(outcome) is kind)
        return {tag: outcome.model_dump(mode="json")}

    @field_validator("outcome", mode="before")
    @classmethod
    def _untagged(cls, data: Any) -> Any:
        if isinstance(data, dict) and len(data) == 1:
            tag, content = next(iter(data.items()))
            if tag in _TAGS:
                return _TAGS[tag].model_validate(content)
        return data
