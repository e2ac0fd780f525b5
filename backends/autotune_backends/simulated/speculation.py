"""Speculative decoding: a small draft model proposes tokens, and the model checks them all in one step.

Leviathan, Kalman and Matias, "Fast inference from transformers via speculative decoding", ICML 2023. With a chance
``acceptance`` that a proposed token is accepted, the same for each, a step of ``proposed`` tokens yields
``(1 - acceptance ** (proposed + 1)) / (1 - acceptance)`` tokens on average (equation 1 there).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from autotune_backends.simulated.pricing import StepWork
from autotune_backends.simulated.refusals import DoesNotFit
from autotune_backends.simulated.step_costs import StepCosts

__all__ = ["SpeculativeCosts", "expected_tokens", "speculative_costs"]

_GIB = 1024.0**3


def expected_tokens(acceptance: float, proposed: int) -> float:
    """Tokens that a step yields on average: 1, when none is accepted, to ``proposed`` + 1."""
    if acceptance >= 1:
        return float(proposed + 1)
    return float((1 - acceptance ** (proposed + 1)) / (1 - acceptance))


@dataclass(frozen=True, slots=True)
class SpeculativeCosts:
    """Costs a token instead of a step: a step's, divided by the tokens that it yields on average. So sequences grow evenly, and
    how uneven single steps are is not known. ``draft`` runs on the same devices and keeps caches of its own.
    """

    target: StepCosts
    draft: StepCosts
    proposed: int
    acceptance: float
    kv_capacity_tokens: int

    @property
    def page_tokens(self) -> int:
        """Tokens a KV page holds."""
        return self.target.page_tokens

    @property
    def yielded(self) -> float:
        """Tokens a step yields for each sequence."""
        return expected_tokens(self.acceptance, self.proposed)

    @property
    def host_capacity_tokens(self) -> int:
        """Tokens whose both caches the host's memory holds."""
        both = self.target.kv_bytes_per_token + self.draft.kv_bytes_per_token
        return int(self.target.host_capacity_tokens * self.target.kv_bytes_per_token / both)

    def swap_s(self, tokens: int) -> float:
        """Seconds in which both caches are copied."""
        return self.target.swap_s(tokens) + self.draft.swap_s(tokens)

    def step_s(self, prefill: Sequence[tuple[int, int]], decodes: int, kv_tokens: int) -> float:
        """Both models compute the prompts; beside them each sequence makes one token, at the mean cost of one."""
        if not decodes:
            return self.target.step_s(prefill, 0, 0) + self.draft.step_s(prefill, 0, 0)
        fixed, slope = self.decode_line(decodes)
        beside = self.target.step_s(prefill, decodes, kv_tokens) - self.target.step_s((), decodes, kv_tokens)
        return beside + self.draft.step_s(prefill, 0, 0) + fixed + slope * kv_tokens

    def decode_line(self, decodes: int) -> tuple[float, float]:
        """(a, b): ``a + b * kv_tokens`` seconds for a token of each of ``decodes`` sequences.

        The model checks ``proposed + 1`` tokens of each at once, and reads each cache once for them.
        """
        rows = decodes * (self.proposed + 1)
        checked = self.target.layers.seconds(rows, rows, 0.0, 0.0, decodes, 0.0)
        fixed, slope = self.draft.decode_line(decodes)
        return (
            (checked + self.proposed * fixed) / self.yielded,
            (self.target.layers.kv_token_s + self.proposed * slope) / self.yielded,
        )

    def run_work(
        self, prefill_tokens: float, decode_tokens: float, steps: tuple[float, float], pairs: float, kv_read: float
    ) -> StepWork:
        """Of both models, as ``StepCosts.run_work``."""
        prompts, decodes = steps
        checks, drafts = 1 / self.yielded, self.proposed / self.yielded
        checked = self.target.run_work(
            prefill_tokens,
            decode_tokens * checks * (self.proposed + 1),
            (prompts, decodes * checks),
            pairs,
            kv_read * checks,
        )
        drafted = self.draft.run_work(
            prefill_tokens, decode_tokens * drafts, (prompts, decodes * drafts), pairs, kv_read * drafts
        )
        return StepWork(checked.flops + drafted.flops, checked.bytes + drafted.bytes)


def speculative_costs(target: StepCosts, draft: StepCosts, proposed: int, acceptance: float) -> SpeculativeCosts:
    """The draft's weights and caches take room from the model's caches. Raises ``DoesNotFit`` when none is left."""
    free = target.kv_capacity_tokens * target.kv_bytes_per_token - draft.weight_bytes
    page = (target.kv_bytes_per_token + draft.kv_bytes_per_token) * target.page_tokens
    if free < page:
        raise DoesNotFit(
            f"the draft model does not fit beside the other: needs {(draft.weight_bytes + page) / _GIB:.1f} GiB, "
            f"has {(free + draft.weight_bytes) / _GIB:.1f} GiB",
            draft.weight_bytes + page,
            free + draft.weight_bytes,
        )
    of_engine = replace(draft.layers, host_s=0.0, host_sequence_s=0.0)  # the model's step has paid for it
    pages = int(free / page)
    return SpeculativeCosts(target, replace(draft, layers=of_engine), proposed, acceptance, pages * target.page_tokens)
