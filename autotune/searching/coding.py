"""How a parameter's values are shown to a numerical optimiser."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from autotune.core.candidate import Scalar
from autotune.core.space import Parameter

__all__ = ["Coding"]


@dataclass(frozen=True)
class Coding:
    """``category`` and ``ordinal`` show the index of a choice, ``range`` the value itself.

    Numbers to choose from (thread counts, batch sizes) are ordinal: neighbours teach something about each other. Indices
    also keep ``True`` and ``1`` apart, which are equal to Python.
    """

    parameter: Parameter

    @property
    def kind(self) -> Literal["category", "ordinal", "range"]:
        """How values are shown."""
        choices = self.parameter.choices
        if not choices:
            return "range"
        numbers = [choice for choice in choices if isinstance(choice, int | float) and not isinstance(choice, bool)]
        rising = len(numbers) == len(choices) >= 3 and sorted(numbers) == numbers
        return "ordinal" if rising else "category"

    def code(self, value: Scalar) -> int | float:
        """Return what stands for ``value``. Raises ``ValueError`` when it is not legal."""
        for index, choice in enumerate(self.parameter.choices):
            if type(choice) is type(value) and choice == value:
                return index
        if self.parameter.choices or isinstance(value, str) or not self.parameter.holds(value):
            raise ValueError(f"{self.parameter.name}={value!r} is not in the space")
        return value

    def value(self, code: float) -> Scalar:
        """Return the value that ``code`` stands for."""
        if self.parameter.choices:
            return self.parameter.choices[int(code)]
        return round(code) if self.parameter.integer else float(code)
