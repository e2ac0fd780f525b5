"""The base of every data type: immutable, strict about names when written, tolerant when read from a file."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

__all__ = ["Frozen", "Record"]


class Frozen(BaseModel):
    """Immutable data that code constructs: an unknown field is a bug, and raises ``ValidationError``."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Record(BaseModel):
    """Immutable data that is read back from files: keys that this version does not know are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")
