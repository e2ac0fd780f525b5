"""A search goes on where it began: numbers of two machines, or of two versions of a runtime, make no front together."""

from __future__ import annotations

from autotune import plugins
from autotune.api.surroundings import environment_of
from autotune.core.environment import Environment
from autotune.core.errors import UserError
from autotune.runs.search_file import SearchFile

__all__ = ["difference_between", "refuse_another_machine"]


def refuse_another_machine(search: SearchFile) -> None:
    """Raise ``UserError`` when a search on real devices would go on in other surroundings than it began in.

    Outputs follow the instruction set as well (u8 × s8 products saturate on x86 without VNNI), so that quality is no more
    reused than speed.
    """
    if search.kind == "simulated":
        return
    backends = [plugins.backend(name) for name in search.asked.get("backends") or plugins.names("backends")]
    if difference := difference_between(search.environment, environment_of(backends)):
        raise UserError(
            f"the search began {difference}: numbers from here would not fit its own",
            "begin it again here: autotune search --from RUN/search.json",
        )


def difference_between(then: Environment, now: Environment) -> str | None:
    """In words, what numbers depend on and has changed; None: nothing has."""
    if then.host_fingerprint() != now.host_fingerprint():
        return f"on another machine ({_machine(then)}; here {_machine(now)})"
    for name, version in then.versions.items():
        found = now.versions.get(name, version)
        if found != version:
            return f"with {name} {version}, and {found} is installed"
    return None


def _machine(one: Environment) -> str:
    return f"{one.cpu_model or 'an unknown CPU'}, {one.cpus} CPUs, {len(one.isa)} instruction sets"
