"""A command whose options are the fields of a data class."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, fields
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any, TypeVar, get_type_hints

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    T = TypeVar("T", bound=DataclassInstance)
else:
    T = TypeVar("T")

__all__ = ["command_of"]


def command_of(options: type[T], run: Callable[[T], int]) -> Callable[..., int]:
    """A function that typer reads as a command: each annotated field of ``options`` is an option, and ``run`` gets them all."""
    hints = get_type_hints(options, include_extras=True)

    def command(**given: Any) -> int:
        return run(options(**given))

    parameters = [
        Parameter(
            field.name,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(options)
    ]
    command.__name__, command.__doc__ = run.__name__, run.__doc__
    command.__annotations__ = {field.name: hints[field.name] for field in fields(options)}
    command.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return command
