"""A candidate: one point of a search space, parameter names with their values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from pydantic import ConfigDict, RootModel

from autotune.core.hashing import canonical_json

__all__ = ["Candidate", "Scalar"]

Scalar = bool | int | float | str


class Candidate(RootModel[dict[str, Scalar]], Mapping[str, Scalar]):
    """An immutable, hashable mapping. A conditional parameter that does not apply is absent."""

    model_config = ConfigDict(frozen=True)

    def __init__(self, root: Mapping[str, Scalar] | None = None, /, **parameters: Scalar) -> None:
        super().__init__(dict(root or {}) | parameters)

    def __getitem__(self, name: str) -> Scalar:
        return self.root[name]

    def __iter__(self) -> Iterator[str]:  # type: ignore[override]
        return iter(self.root)

    def __len__(self) -> int:
        return len(self.root)

    def __hash__(self) -> int:
        return hash(self.text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Candidate) and self.text == other.text

    def __str__(self) -> str:
        return " ".join(f"{name}={value}" for name, value in self.root.items())

    @cached_property
    def text(self) -> str:
        """Canonical JSON: equal candidates have equal text. (``True`` and ``1`` are different values.)"""
        return canonical_json(self.root)

    def with_(self, **parameters: Scalar) -> Candidate:
        """Return a copy with these parameters replaced or added."""
        return Candidate({**self.root, **parameters})

    def without(self, *names: str) -> Candidate:
        """Return a copy without these parameters."""
        return Candidate({name: value for name, value in self.root.items() if name not in names})
