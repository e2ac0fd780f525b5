"""The base of every data type: immutable, strict about names when written, tolerant when read from a file."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, field_validator

__all__ = ["FileRecord", "Frozen", "Record"]


class Frozen(BaseModel):
    """Immutable data that code constructs: an unknown field is a bug, and raises ``ValidationError``."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Record(BaseModel):
    """Immutable data that is read back from files: keys that this version does not know are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class FileRecord(Record):
    """Immutable data that is a file's whole content. Its field ``schema_`` is written as ``schema``."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True, serialize_by_alias=True)

    @field_validator("schema_", mode="before", check_fields=False)
    @classmethod
    def _readable(cls, found: str) -> str:
        expected = str(cls.model_fields["schema_"].default)
        family, _, major = expected.rpartition("/")
        if not found.startswith(f"{family}/") or int(found.rpartition("/")[2]) > int(major):
            raise ValueError(f"schema {found!r} cannot be read here: this version reads {expected!r}")
        return found

    def to_json(self, indent: int | None = None) -> str:
        """The file's text, without a final newline."""
        return self.model_dump_json(indent=indent)
