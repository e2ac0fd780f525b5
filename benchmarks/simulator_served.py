"""Served points and chats, predicted with an engine and a device of one's choice."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from autotune_backends.simulated.devices import SimulatedDevice, device_named
from autotune_backends.simulated.engines import Engine
from autotune_backends.simulated.power import DevicePower
from autotune_backends.simulated.screen import ClosedLoop, closed_loop
from autotune_backends.simulated.served_point import ServedPoint, read_point
from autotune_backends.simulated.step_costs import StepCosts, step_costs
from autotune_backends.simulated.transformers import model_named
from benchmarks.simulator_rows import Row

__all__ = ["CHAT_INPUT", "Chat", "Served", "chats", "logs", "served", "under"]

CHAT_INPUT = 300
"""Mean prompt of ML.ENERGY's chat, which it does not state: what its tokens/s lose against its gap between tokens implies."""
FEW_USERS = 8
"""The first token is scored up to so many users: with more, it depends on how the client starts."""

Elsewhere = Callable[[SimulatedDevice], SimulatedDevice]


@dataclass(frozen=True, slots=True)
class Served:
    """A served point, and what its steps cost without an engine's share."""

    row: Row
    point: ServedPoint
    costs: StepCosts

    @property
    def engine(self) -> str:
        """Its name."""
        return self.row["backend"]

    @property
    def model(self) -> str:
        """Its name: what is left out as a whole."""
        return self.row["model"].rpartition("/")[2].removesuffix("-Instruct")

    @property
    def few_users(self) -> bool:
        """Whether its first token is scored."""
        return self.point.users <= FEW_USERS

    def loop(self, engine: Engine) -> ClosedLoop:
        """Its steady state under that engine."""
        return self.point.loop(under(self.costs, engine))

    def tpot(self, loop: ClosedLoop) -> float:
        """Predicted over measured."""
        return loop.tpot_s * 1e3 / float(self.row["tpot_ms_measured"])

    def ttft(self, loop: ClosedLoop) -> float:
        """Predicted over measured."""
        return loop.ttft_s * 1e3 / float(self.row["ttft_ms_measured"])


@dataclass(frozen=True, slots=True)
class Chat:
    """A row of energy measured under vLLM: a closed loop of its mean batch."""

    row: Row
    costs: StepCosts

    @property
    def model(self) -> str:
        """Its name: what is left out as a whole."""
        return self.row["model"].removesuffix("-Instruct")

    def loop(self, engine: Engine) -> ClosedLoop:
        """Its steady state under that engine."""
        users = round(float(self.row["avg_batch"]))
        outputs = round(float(self.row["avg_out_len"]))
        return closed_loop(under(self.costs, engine), users, CHAT_INPUT, outputs, max_num_seqs=users)

    def rate(self, loop: ClosedLoop) -> float:
        """Seconds a token: predicted over measured."""
        return float(self.row["tokens_s"]) / loop.output_throughput

    def power(self, loop: ClosedLoop, power: DevicePower) -> float:
        """Watts: predicted over measured."""
        watts = self.costs.devices * power.watts(loop.compute, loop.memory, loop.sampling)
        return watts / float(self.row["avg_power_w"])


def under(costs: StepCosts, engine: Engine) -> StepCosts:
    """The same steps with another engine's share."""
    layers = replace(costs.layers, host_s=engine.step_s, host_sequence_s=engine.sequence_s)
    return replace(costs, engine=engine, layers=layers)


def served(found: Iterable[Row], elsewhere: Elsewhere = lambda device: device) -> list[Served]:
    """The rows, priced on what ``elsewhere`` makes of their devices."""
    points = [(row, read_point(number, row)) for number, row in enumerate(found, start=2)]
    return [Served(row, point, point.costs(elsewhere(point.device))) for row, point in points]


def chats(found: Sequence[Row]) -> list[Chat]:
    """The rows, priced on H100."""
    device = device_named("h100-sxm")
    return [Chat(row, step_costs(model_named(row["model"]), device, {"tp": int(row["tp"])})) for row in found]


def logs(ratios: Iterable[float]) -> list[float]:
    """Errors whose sign and size mean the same both ways."""
    return [math.log(ratio) for ratio in ratios]
