"""The environment that a number was taken in."""

from __future__ import annotations

from pydantic import Field

from autotune.core.frozen import Record
from autotune.core.hashing import hash_json

__all__ = ["Environment"]


class Environment(Record):
    """Host and software. ``cpus`` counts what may be used; ``isa`` lists the flags that change results or speed.

    ``versions`` are those of the runtimes and of autotune itself. Unknown text is empty, unknown numbers are None.
    """

    cpu_model: str
    isa: tuple[str, ...]
    cpus: int
    memory_bytes: int | None
    os: str
    python: str
    virtual: bool | None = None
    versions: dict[str, str] = Field(default_factory=dict)

    @property
    def sha256(self) -> str:
        """Fingerprint of all fields."""
        return hash_json(self.model_dump(mode="json"))

    def host_fingerprint(self) -> str:
        """Fingerprint of the hardware alone: two equal ones can be compared number by number."""
        return hash_json([self.cpu_model, list(self.isa), self.cpus])
