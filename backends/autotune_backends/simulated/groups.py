"""The groups of devices that a candidate is served by: one, or one that computes prompts and one that decodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from autotune.core.candidate import Candidate, Scalar
from autotune.core.errors import UserError
from autotune_backends.simulated.devices import SimulatedDevice, device_named
from autotune_backends.simulated.precision import KV_BITS
from autotune_backends.simulated.refusals import Unsupported
from autotune_backends.simulated.serving.transfer import Link
from autotune_backends.simulated.speculation import SpeculativeCosts, speculative_costs
from autotune_backends.simulated.step_costs import Basis, StepCosts, step_costs
from autotune_backends.simulated.transformers import TransformerModel, model_named

__all__ = ["Costs", "Group", "groups_of", "link_between"]

Costs: TypeAlias = StepCosts | SpeculativeCosts

_OF_DECODING = "decode_"  # what such a parameter says holds for the decoding group instead
_LINK_SHARE = 0.7  # of a link's rate, large messages, as for all-reduce where none was measured
_HOST_SHARE = 0.8
_INTERPOLATED = 0.30  # as for single steps that no measurement is near to
_LATENCY_S = 1e-3  # of a transfer between hosts: connection, notification and scheduling; an assumption


@dataclass(frozen=True, slots=True)
class Group:
    """``costs`` are those of all its devices together; ``plain`` of them is the model's own. ``paired``: it does a part,
    and another group the rest.
    """

    device: SimulatedDevice
    candidate: Mapping[str, Scalar]
    costs: Costs
    paired: bool = False

    @property
    def plain(self) -> StepCosts:
        """Without a draft model."""
        return self.costs.target if isinstance(self.costs, SpeculativeCosts) else self.costs

    @property
    def basis(self) -> Basis:
        """No measured point has a draft model, or prompts and decoding apart: kernels are fitted, their interplay is not."""
        composed = self.paired or isinstance(self.costs, SpeculativeCosts)
        return "interpolated" if composed and self.plain.basis == "fitted" else self.plain.basis

    @property
    def interval(self) -> float:
        """Relative error within which 80 % of measurements are expected."""
        return max(self.plain.interval, _INTERPOLATED) if self.basis == "interpolated" else self.plain.interval

    @property
    def weight_bytes(self) -> float:
        """Of all models that it holds."""
        draft = self.costs.draft.weight_bytes if isinstance(self.costs, SpeculativeCosts) else 0
        return float(self.plain.weight_bytes + draft)


def groups_of(model: TransformerModel, device: SimulatedDevice, candidate: Candidate) -> tuple[Group, ...]:
    """One, or with ``decode_device`` two: ``device`` computes prompts then, and the other, which ``decode_tp`` and the like
    describe, decodes (``none``: likewise one). Raises ``Infeasible`` and ``UserError`` as ``step_costs`` does.
    """
    own = {name: value for name, value in candidate.items() if not name.startswith(_OF_DECODING)}
    if candidate.get("decode_device", "none") == "none":
        return (_group(model, device, own),)
    if candidate.get("batching", "continuous") != "continuous":
        raise Unsupported("prompts and decoding on different devices need batching: continuous")
    other = {name.removeprefix(_OF_DECODING): value for name, value in candidate.items() if name not in own}
    decoding = device_named(str(other.pop("device")))
    prompts = {name: value for name, value in own.items() if name != "draft_model"}  # nothing is decoded there
    found = _group(model, device, prompts), _group(model, decoding, own | other)
    if prompts.get("kv_precision", "auto") != found[1].candidate.get("kv_precision", "auto"):
        raise Unsupported("both groups must keep the KV cache in one format: it is sent as it is")
    return tuple(replace(group, paired=True) for group in found)


def _group(model: TransformerModel, device: SimulatedDevice, candidate: Mapping[str, Scalar]) -> Group:
    target = step_costs(model, device, candidate)
    if candidate.get("draft_model", "none") == "none":
        return Group(device, candidate, target)
    if target.stages > 1:
        raise Unsupported("a draft model beside pipeline stages is not simulated: pp must be 1")
    draft_model = model_named(str(candidate["draft_model"]))
    tp = int(candidate.get("draft_tp", candidate.get("tp", 1)))
    layout = {**candidate, "tp": tp if draft_model.heads % tp == 0 else 1, "sparsity": "none"}
    if "draft_precision" in candidate:
        layout["precision"] = candidate["draft_precision"]
    draft = step_costs(draft_model, device, layout)
    return Group(device, candidate, speculative_costs(target, draft, _proposed(candidate), _acceptance(candidate)))


def _proposed(candidate: Mapping[str, Scalar]) -> int:
    value = candidate.get("speculative_tokens", 4)
    if isinstance(value, bool | str) or value != int(value) or not 1 <= value <= 64:
        raise UserError(f"speculative_tokens={value!r} is no count", "how many the draft proposes a step: 1 to 64")
    return int(value)


def _acceptance(candidate: Mapping[str, Scalar]) -> float:
    value = candidate.get("acceptance")
    if value is None:
        raise UserError(
            "draft_model needs acceptance: the chance that the model accepts a proposed token",
            "measure it, or take a published one: acceptance: 0.7 (acceptance_source says where it is from)",
        )
    if isinstance(value, bool | str) or not 0 <= value <= 1:
        raise UserError(f"acceptance={value!r} is no share", "give 0 to 1")
    return float(value)


def link_between(model: TransformerModel, prompts: Group, decoding: Group, candidate: Candidate) -> Link:
    """What sends caches: at ``transfer_bandwidth`` (B/s, all links together) and after ``transfer_latency_s``, where they are
    given; else over the devices' own link where both groups are of one kind and one host holds them, or by way of the slower
    hosts' PCIe, each device its share. Raises ``Unsupported`` when that is not known.
    """
    bytes_per_token = model.kv_elements_per_token * _kv_bits(prompts) / 8
    bandwidth = candidate.get("transfer_bandwidth", _bandwidth(prompts, decoding))
    latency_s = candidate.get("transfer_latency_s", _LATENCY_S)
    for name, value in (("transfer_bandwidth", bandwidth), ("transfer_latency_s", latency_s)):
        if (
            isinstance(value, bool | str)
            or not 0 <= value < float("inf")
            or (name == "transfer_bandwidth" and not value)
        ):
            raise UserError(f"{name}={value!r} cannot be", "give B/s, greater than 0, and seconds")
    return Link(float(latency_s), bytes_per_token / float(bandwidth))


def _kv_bits(group: Group) -> float:
    return KV_BITS.get(str(group.candidate.get("kv_precision", "auto")), 16.0)


def _bandwidth(prompts: Group, decoding: Group) -> float:
    lanes = min(prompts.plain.devices, decoding.plain.devices)
    together = prompts.plain.devices + decoding.plain.devices
    same = prompts.device.name == decoding.device.name and together <= prompts.device.max_devices
    if same and prompts.device.link is not None:
        return lanes * _LINK_SHARE * prompts.device.link.bandwidth / 2
    ends = [group.device.host_bandwidth for group in (prompts, decoding)]
    known = [end for end in ends if end is not None]
    if len(known) < 2:
        raise Unsupported("how fast these devices send caches to each other is not known: give transfer_bandwidth")
    return lanes * _HOST_SHARE * min(known)
