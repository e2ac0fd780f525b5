"""``python -m benchmarks.simulator_fit [--write]``: the constants of engines and of power, fitted to
``benchmarks/reference``, and the errors of rows held out, as ``autotune_backends/simulated/fitted.yaml`` holds them.

Four constants of each engine and three of power; the fit is written down in ``simulator_constants.py``. Kernels' shares and
floors are the devices' own, in their files: medians of whole tables, of which ``reference`` has a sample; the sample's fit is
printed beside them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import autotune_backends.simulated.fitted
from autotune_backends.simulated.devices import SimulatedDevice, device_named
from autotune_backends.simulated.fitted import Errors
from benchmarks.simulator_constants import Constants, all_chats, all_served, fit_constants
from benchmarks.simulator_held_out import error_model
from benchmarks.simulator_kernels import KERNELS, fitted_device
from benchmarks.simulator_rows import rows

__all__ = ["fitted_text", "main"]

FILE = Path(autotune_backends.simulated.fitted.__file__).with_name("fitted.yaml")
_HEAD = """\
# Written by `python -m benchmarks.simulator_fit --write`, from the rows in benchmarks/reference. Times are in seconds.
# `errors`: standard deviations of the logarithm of predicted over measured, on rows that were held out.
"""


def main() -> int:
    """Fit; print, and write when that is asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", action="store_true", help=f"write {FILE.name}")
    asked = parser.parse_args()
    text = fitted_text(fit_constants(all_served(), all_chats()), error_model())
    print(text, end="")
    print(*_kernels(), sep="\n")
    if asked.write:
        FILE.write_text(text, encoding="utf-8")
    return 0


def fitted_text(constants: Constants, errors: Errors) -> str:
    """``fitted.yaml``'s text, three significant digits."""
    power = constants.power
    gains = {"compute_gain": power.compute_gain, "memory_gain": power.memory_gain, "other_gain": power.other_gain}
    engines = {
        name: {"step_s": one.step_s, "sequence_s": one.sequence_s, "first_s": one.first_s, "token_s": one.token_s}
        for name, one in constants.engines.items()
    }
    known = {name: getattr(errors, name) for name in Errors.__dataclass_fields__}
    lines = ["engines:", *(f"  {name}: {_flow(values)}" for name, values in engines.items())]
    return "\n".join([*_HEAD.splitlines(), *lines, f"power: {_flow(gains)}", f"errors: {_flow(known)}", ""])


def _flow(values: Mapping[str, float]) -> str:
    return "{" + ", ".join(f"{name}: {float(f'{value:.3g}')!r}" for name, value in values.items()) + "}"


def _kernels() -> Iterator[str]:
    """Each device's figures, and those of its rows here alone."""
    every = {name: rows(f"{name}_measured.csv") for name in KERNELS}
    for system in dict.fromkeys(row["system"] for row in every["gemm"]):
        own = {name: [row for row in some if row["system"] == system] for name, some in every.items()}
        device = device_named(system)
        for told, one in (("its file", device), ("its rows here", fitted_device(device, own))):
            yield f"# {device.name}, {told}: {_shares(one)}"


def _shares(device: SimulatedDevice) -> str:
    known = device.efficiency
    parts = {
        **{f"gemm {name}": value for name, value in known.gemm.items()},
        **{f"memory {name}": value for name, value in known.memory.items()},
        "prefill": known.attention_prefill or 0.0,
        "decode": known.attention_decode or 0.0,
    }
    return ", ".join(f"{name} {value:.2f}" for name, value in parts.items())


if __name__ == "__main__":
    sys.exit(main())
