"""Whether what is measured holds: intervals, pairs of equals, racing (replayed from recorded rounds), and ``verify`` (live).

    python -m benchmarks.measure_quality [--json] [--quick] [--live] [--seed N]

Replays ``benchmarks/recorded`` in virtual time, and then verifies real exports 80 times. ``--quick`` replays only, ``--live``
verifies only.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np

from autotune.core.plan import Plan
from benchmarks.racing_loss import lost_points
from benchmarks.recorded_search import load_search, replay
from benchmarks.replays import Repeats, measured_alone, measured_in_pairs, plain_ratios, reference_s
from benchmarks.report import Figure, argument_parser, finish
from benchmarks.tape import RECORDED, load_tapes
from benchmarks.verify_live import export_both, slow_down, verdicts

REPEATS = 240
VERIFIED = 40
BASELINES = 5  # repeats of the baseline in a search of a few minutes

ALONE = Plan()
PAIRED = Plan(name="front", paired=True, max_rounds=200, phase_limit_s=5.0)


def main() -> int:
    """Measure and print."""
    parser = argument_parser(__doc__)
    parser.add_argument("--live", action="store_true", help="verify real exports only")
    parser.add_argument("--verified", type=int, default=VERIFIED, help="exports of each kind to verify")
    asked = parser.parse_args()
    figures: list[Figure] = []
    if not asked.live and not (RECORDED / "README.md").exists():
        sys.exit(f"{RECORDED} holds no recordings: python -m benchmarks.record_series makes them")
    if not asked.live:
        for name in ("quiet", "neighbour"):
            figures += coverage_figures(name, asked.seed)
        for name in ("quiet", "neighbour"):
            figures += pair_figures(name)
        figures += racing_figures()
    if asked.live or not asked.quick:
        figures += verify_figures(asked.verified)
    return finish("measure_quality", figures, as_json=asked.json)


def coverage_figures(name: str, seed: int) -> list[Figure]:
    """How often the printed interval of ``latency_p50`` holds the value of the whole recording.

    What is printed reaches as far as the baseline's repeats say that the machine moves: here, other measurements drawn from
    the same recording.
    """
    tape = load_tapes(RECORDED / f"{name}.npz")["a"]
    truth = reference_s(tape)
    found = measured_alone(tape, ALONE, REPEATS)
    printed = found.printed(BASELINES, np.random.default_rng(seed))
    share = printed.coverage(truth)
    return [
        Figure(
            f"{name}: coverage of latency p50, {REPEATS} repeats", 100 * share, "%", "90 to 99 %", 0.9 <= share <= 0.99
        ),
        Figure(f"{name}: half-width of its interval, median", 100 * printed.half_width(), "%"),
        Figure(f"{name}: coverage by a measurement's own rounds", 100 * found.coverage(truth), "%"),
        Figure(f"{name}: half-width by its own rounds, median", 100 * found.half_width(), "%"),
        Figure(f"{name}: error of its value, 95th percentile", 100 * _beyond(found, truth), "%"),
        Figure(f"{name}: seconds a measurement, median", float(np.median(found.seconds)), "s"),
    ]


def pair_figures(name: str) -> list[Figure]:
    """How far equals are from 1 when compared pair by pair, and by the plain protocol on the same rounds."""
    tapes = load_tapes(RECORDED / f"{name}_pairs.npz")
    found, plain = measured_in_pairs(tapes, PAIRED, REPEATS), plain_ratios(tapes, REPEATS)
    share = _within(found)
    floor = "at least 95 %" if name == "neighbour" else None
    return [
        Figure(f"{name}: A/A pairs within 2 %, {REPEATS} pairs", 100 * share, "%", floor, floor and share >= 0.95),
        Figure(f"{name}: A/A coverage of 1", 100 * found.coverage(1.0), "%"),
        Figure(f"{name}: A/A error, 95th percentile", 100 * _beyond(found, 1.0), "%"),
        Figure(f"{name}: seconds a pair, median", float(np.median(found.seconds)), "s"),
        Figure(f"{name}: plain protocol within 2 %", 100 * _within(plain), "%"),
        Figure(f"{name}: plain protocol error, 95th percentile", 100 * _beyond(plain, 1.0), "%"),
        Figure(f"{name}: plain protocol, seconds a pair, median", float(np.median(plain.seconds)), "s"),
    ]


def racing_figures() -> list[Figure]:
    """What racing saves on the recorded search, and what it loses."""
    recorded = load_search(RECORDED)
    plain, raced = replay(recorded, racing=False), replay(recorded, racing=True)
    saved = 1 - raced.measuring_s / plain.measuring_s
    lost, front = lost_points(recorded.search, plain.records, raced.records)
    return [
        Figure("racing: measuring time of the recorded search's trials", plain.measuring_s, "s"),
        Figure("racing: stopped early", f"{raced.dominated} of {len(raced.records)}"),
        Figure("racing: measuring time saved", 100 * saved, "%", "at least 30 %", saved >= 0.3),
        Figure("racing: points of the front lost beyond their interval", f"{len(lost)} of {front}", "", "0", not lost),
    ]


def verify_figures(repeats: int) -> list[Figure]:
    """How often ``verify`` says what is true of an unchanged export, and of one slowed down by a tenth."""
    least = int(np.ceil(0.95 * repeats))
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        exports = export_both(place)
        slower = slow_down(place)
        honest, slowed = verdicts(exports.honest, repeats), verdicts(exports.slowed, repeats)
    return [
        Figure("verify: the injected slow-down, by one long paired measurement", slower.value, "×"),
        Figure(
            "verify: unchanged, kept", honest["kept"], f"of {repeats}", f"at least {least}", honest["kept"] >= least
        ),
        Figure("verify: unchanged, called broken", honest["broken"] + honest["other"], f"of {repeats}"),
        Figure(
            "verify: slowed, broken", slowed["broken"], f"of {repeats}", f"at least {least}", slowed["broken"] >= least
        ),
        Figure("verify: slowed, called kept", slowed["kept"], f"of {repeats}"),
    ]


def _within(found: Repeats) -> float:
    return float(np.mean(np.abs(found.middles - 1) <= 0.02))


def _beyond(found: Repeats, truth: float) -> float:
    """The 95th percentile of the values' relative distance from the truth."""
    return float(np.quantile(np.abs(found.middles / truth - 1), 0.95))


if __name__ == "__main__":
    sys.exit(main())
