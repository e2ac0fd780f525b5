"""A workload: under which load a candidate is measured."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from autotune.core.frozen import Frozen
from autotune.core.token_load import TokenCounts, TokenLoad

__all__ = ["BUILT_IN", "Phase", "Scenario", "Shape", "Workload"]

Scenario = Literal["single_stream", "multi_stream", "offline", "server", "closed_loop"]


class Shape(Frozen):
    """Sizes of symbolic dimensions, and how often they occur relative to the workload's other shapes."""

    dims: dict[str, int]
    weight: float = 1.0

    @property
    def label(self) -> str:
        """How people and results call it: ``"seq=128"``."""
        return " ".join(f"{name}={size}" for name, size in self.dims.items())


class Phase(Frozen):
    """One kind of load. ``single_stream``: one request of batch 1 after another. ``offline``: whole batches, back to back.

    ``server``: requests arrive at ``rate_per_s`` as in a Poisson process, or as in a trace (``arrivals_s``, ascending seconds; at
    its own rate where none is given), and meet the candidate's batch policy. ``multi_stream``: ``streams`` closed loops at once.

    ``streams`` (multi_stream), ``rate_per_s``, ``arrivals_s`` and ``limits`` (server) and ``duration_s`` are None or empty where
    unused. ``limits`` are what a rate must hold to count for ``max_rate``, besides the search's own. ``priorities`` are the
    shares of requests of each level, the most urgent first; empty: all are alike. ``queue_limit``: with so many waiting, further
    requests are dropped; None: none are.
    ``tokens`` says what a language model's requests are like (``server`` or ``closed_loop``); None: the model is none.
    """

    scenario: Scenario
    streams: int | None = None
    rate_per_s: float | None = None
    duration_s: float | None = None
    limits: tuple[str, ...] = ()
    shapes: tuple[Shape, ...] = ()
    arrivals_s: tuple[float, ...] = Field(default=(), exclude_if=lambda arrivals: not arrivals)
    priorities: tuple[float, ...] = Field(default=(), exclude_if=lambda shares: not shares)
    queue_limit: int | None = Field(default=None, exclude_if=lambda limit: limit is None)
    tokens: TokenLoad | None = Field(default=None, exclude_if=lambda tokens: tokens is None)


class Workload(Frozen):
    """Phases are measured in order; each gives metrics of its own."""

    name: str
    phases: tuple[Phase, ...]

    def has(self, scenario: Scenario) -> bool:
        """Whether a phase is of that scenario."""
        return any(phase.scenario == scenario for phase in self.phases)

    @property
    def serving(self) -> Phase | None:
        """The first phase that loads a language model; None: the workload has none."""
        return next((phase for phase in self.phases if phase.tokens is not None), None)

    def at_rate(self, rate_per_s: float) -> Workload:
        """The same requests in an open loop of so many a second (conversations, where they have several turns)."""
        return self._with_serving("server", rate_per_s, None)

    def for_users(self, users: int) -> Workload:
        """The same requests in a closed loop of so many users."""
        return self._with_serving("closed_loop", None, users)

    def _with_serving(self, scenario: Scenario, rate_per_s: float | None, users: int | None) -> Workload:
        phases = tuple(
            phase.model_copy(
                update={
                    "scenario": scenario,
                    "rate_per_s": rate_per_s,
                    "tokens": phase.tokens.model_copy(update={"users": users}),
                }
            )
            if phase.tokens is not None
            else phase
            for phase in self.phases
        )
        return self.model_copy(update={"phases": phases})


def _language(name: str, inputs: tuple[float, float], outputs: tuple[float, float], prefix: int = 0) -> Workload:
    """A built-in load of a language model, each length as (mean, p90); its rate is the user's to say."""
    tokens = TokenLoad(
        input_tokens=TokenCounts(mean=inputs[0], p90=inputs[1]),
        output_tokens=TokenCounts(mean=outputs[0], p90=outputs[1]),
        shared_prefix_tokens=prefix,
    )
    return Workload(name=name, phases=(Phase(scenario="server", tokens=tokens),))


BUILT_IN: dict[str, Workload] = {
    workload.name: workload
    for workload in (
        Workload(name="default", phases=(Phase(scenario="single_stream"), Phase(scenario="offline"))),
        Workload(name="latency", phases=(Phase(scenario="single_stream"),)),
        Workload(name="throughput", phases=(Phase(scenario="offline"),)),
        Workload(name="server", phases=(Phase(scenario="server", rate_per_s=100.0),)),
        # means and medians of the conversation and code traces of Patel et al., "Splitwise" (ISCA 2024): medians of
        # 1,020 in and 129 out, 1,500 and 13; the log-normal with both has these p90
        _language("chat", (1155, 1932), (211, 460)),
        _language("code", (2048, 4124), (28, 63)),
        _language("rag", (4096, 6000), (256, 500), prefix=256),  # an assumption: passages, a question, a paragraph
        # arXiv articles and their abstracts, as Agrawal et al., "Vidur" (MLSys 2024), describe them
        _language("summarise", (2588, 3702), (291, 372)),
    )
}
