"""A neighbour that loads one core at random intervals: ``python -m benchmarks.neighbour [SEED]``, until it is killed."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["neighbour"]

BUSY_S, IDLE_S = 0.5, 0.5  # means of exponential distributions


@contextmanager
def neighbour(seed: int = 0) -> Iterator[None]:
    """Run one beside the block."""
    process = subprocess.Popen([sys.executable, "-m", "benchmarks.neighbour", str(seed)])
    try:
        yield
    finally:
        process.kill()
        process.wait()


def disturb(seed: int) -> None:
    """Compute, sleep, and so on for ever."""
    draw = random.Random(seed)
    while True:
        ends = time.perf_counter() + draw.expovariate(1 / BUSY_S)
        while time.perf_counter() < ends:
            sum(range(1000))
        time.sleep(draw.expovariate(1 / IDLE_S))


if __name__ == "__main__":
    disturb(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
