"""The search spaces that are installed, as they are for a model that allows whatever a model may."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from autotune import plugins
from autotune.api.backends_here import backends_here
from autotune.api.composing import DEFAULT_SPACES, SIMULATED_SPACES
from autotune.api.recovering import with_recovery
from autotune.core.device import Kind
from autotune.core.listed import ListedParameter, ListedSpace
from autotune.core.model import LANGUAGE_MODEL, whatever
from autotune.core.ports import Catalogued
from autotune.core.space import Offer, Omission, SearchSpace
from autotune.core.workload import BUILT_IN

__all__ = ["spaces_here"]

MODELS = {
    "onnx": "ONNX models (.onnx)",
    "pt2": "PyTorch's exported programs (.pt2)",
    LANGUAGE_MODEL: "language models, by name or Hugging Face folder",
}
_LOADS = {"real": ("default", "server"), "simulated": ("default",), LANGUAGE_MODEL: ("chat", "rag")}
"""Built-in workloads that between them bring every parameter of a space."""


@dataclass(frozen=True)
class _Use:
    """Which space is the default for models of that format on devices of that kind."""

    format: str
    kind: Kind


def spaces_here(names: Sequence[str] = ()) -> list[ListedSpace]:
    """The spaces of those names, or all. Raises ``UserError`` for a name that is none."""
    for name in names:
        plugins.require("search_spaces", name)
    return [_listed(name) for name in names or plugins.names("search_spaces")]


def _listed(name: str) -> ListedSpace:
    about = _first_sentence(plugins.space_function(name))
    use, offers = next(((use, found) for use in _uses(name) if (found := _widest(use))), (None, []))
    if use is None:
        return ListedSpace(name=name, about=about)
    models = (MODELS.get(use.format, use.format),)
    willing = [offer for offer in offers if offer.refusal is None]
    if not willing:
        return ListedSpace(name=name, about=about, models=models, omissions=_refusals(offers))
    spaces = _composed(name, use, offers)
    return ListedSpace(
        name=name,
        about=about,
        models=models,
        devices=tuple(dict.fromkeys(offer.device for offer in willing)),
        parameters=_parameters(spaces),
        omissions=_lacks(spaces),
    )


def _refusals(offers: Sequence[Offer]) -> tuple[Omission, ...]:
    return tuple(
        Omission(parameter="runtime", values=(offer.backend,), reason=offer.refusal)
        for offer in offers
        if offer.refusal
    )


def _uses(name: str) -> list[_Use]:
    real = [_Use(read, "real") for read, space in DEFAULT_SPACES.items() if space == name]
    return real + [_Use(read, "simulated") for read, space in SIMULATED_SPACES.items() if space == name]


def _widest(use: _Use) -> list[Offer]:
    """All that each backend could offer on each device of that kind; where its package is missing, a refusal that says so."""
    offers: list[Offer] = []
    for backend, package in backends_here():
        for device in backend.devices():
            if device.kind == use.kind and isinstance(backend, Catalogued):
                offer = backend.widest(use.format, device)
                if offer is not None and package is not None:
                    refusal = f"{package.absent}: {package.install}"
                    offer = Offer(backend=backend.name, device=device.name, refusal=refusal)
                offers += [] if offer is None else [offer]
    return with_recovery(0.0, offers)


def _composed(name: str, use: _Use, offers: Sequence[Offer]) -> dict[str, SearchSpace]:
    """The space by workload."""
    loads = _LOADS.get(use.format) or _LOADS[use.kind]
    compose, model = plugins.space_function(name), whatever(use.format)
    return {load: compose(model, offers, BUILT_IN[load]) for load in loads}


def _parameters(spaces: dict[str, SearchSpace]) -> tuple[ListedParameter, ...]:
    found: dict[str, list[str]] = {}
    every = {parameter.name: parameter for space in spaces.values() for parameter in space.parameters}
    for load, space in spaces.items():
        for parameter in space.parameters:
            found.setdefault(parameter.name, []).append(load)
    return tuple(
        ListedParameter(parameter=every[name], loads=() if len(loads) == len(spaces) else tuple(loads))
        for name, loads in found.items()
    )


def _lacks(spaces: dict[str, SearchSpace]) -> tuple[Omission, ...]:
    """What no workload brings."""
    first, *others = [space.omissions for space in spaces.values()]
    return tuple(one for one in dict.fromkeys(first) if all(one in other for other in others))


def _first_sentence(documented: object) -> str:
    first = (documented.__doc__ or "").strip().partition("\n")[0]
    return first.partition(". ")[0].removesuffix(".").replace("``", "")
