"""The group of commands: an option without its value is refused, and does not take the next option for it."""

from __future__ import annotations

from itertools import pairwise, takewhile
from typing import Any

from typer.core import TyperGroup, TyperOption

from autotune.core.errors import UserError

__all__ = ["Commands"]


class Commands(TyperGroup):
    """As typer's, but for ``--tracking-uri --dry-run``: a value is missing there, and is not ``--dry-run``."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command and what is left of ``args``. Raises ``UserError`` for an option that another one follows at once."""
        name, command, rest = super().resolve_command(ctx, args)
        options = [one for one in (command.params if command else ()) if isinstance(one, TyperOption)]
        known = {*ctx.help_option_names, *(name for one in options for name in (*one.opts, *one.secondary_opts))}
        valued = {name for one in options if not one.is_flag and not one.count for name in one.opts}
        for word, following in pairwise(takewhile(lambda word: word != "--", rest)):
            if word in valued and following in known:
                raise UserError(f"{word} needs a value, and {following} is another option", f"write {word} VALUE")
        return name, command, rest
