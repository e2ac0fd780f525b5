"""How near simulated figures are to measured ones, on the rows that were fitted and on rows that were held out.

``python -m benchmarks.simulator_fidelity [--json] [--quick] [--write]``: kernels, served points, energy, published
throughput, MLPerf's server scenario. Each figure of served points and energy comes twice: in sample, and with the model that
it is of left out of the fit. ``--quick`` leaves MLPerf's out, which takes half a minute; ``--write`` puts what it prints
into ``docs/accuracy.md``.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median

from scipy.stats import spearmanr

from autotune_backends.simulated.devices import device_named
from autotune_backends.simulated.fitted import Errors, fitted, interval_of
from autotune_backends.simulated.screen import ClosedLoop, closed_loop
from autotune_backends.simulated.step_costs import step_costs
from autotune_backends.simulated.transformers import model_named
from benchmarks.report import Figure, argument_parser, finish
from benchmarks.simulator_choices import good_choices
from benchmarks.simulator_constants import all_chats, all_served, shipped_constants
from benchmarks.simulator_held_out import (
    ScoredChat,
    ScoredPoint,
    covered,
    held_out_chats,
    held_out_kernels,
    held_out_points,
    scored_chats,
    scored_points,
    without_device,
    without_format,
)
from benchmarks.simulator_kernels import KERNELS
from benchmarks.simulator_mlperf import (
    Submission,
    mean_prompt,
    offline_rate,
    server_rate,
    submissions,
    throughput_in_flight,
)
from benchmarks.simulator_rows import medians, rows

__all__ = ["main"]

PAGE = Path(__file__).parents[1] / "docs" / "accuracy.md"
_FLOORS = {"gemm": 0.12, "attention": 0.12, "allreduce": None}
_IN, _OUT = "in sample", "model held out"


def main() -> int:
    """Compare with every reference file."""
    parser = argument_parser(__doc__)
    parser.add_argument("--write", action="store_true", help="write the figures into docs/accuracy.md")
    asked = parser.parse_args()
    figures = [*kernels(), *serving(), *energy(), *published(), *([] if asked.quick else mlperf())]
    if asked.write:
        PAGE.write_text(with_figures(PAGE.read_text(encoding="utf-8"), figures), encoding="utf-8")
    return finish("simulator_fidelity", figures, as_json=asked.json)


def with_figures(page: str, figures: Sequence[Figure]) -> str:
    """The page with these figures between its fences."""
    head, fence, rest = page.partition("```\n")
    after = rest.partition("```\n")[2]
    return "".join([head, fence, *(f"{figure}\n" for figure in figures), fence, after])


def kernels() -> list[Figure]:
    """Median errors of all rows, by device, with rows held out and with the whole chip held out."""
    figures = []
    for kind, error in KERNELS.items():
        found = [(row["system"], error(row, device_named(row["system"]))) for row in rows(f"{kind}_measured.csv")]
        figures.append(
            at_most(f"{kind}: median error of {len(found)} rows, {_IN}", _off(r for _, r in found), _FLOORS[kind])
        )
        figures += [
            Figure(f"{kind}: {device}", value) for device, value in medians((d, abs(r - 1)) for d, r in found).items()
        ]
        for by_device, what in ((False, "fitted to other rows of the device"), (True, "other chips' shares")):
            ratios = [ratio for _, ratio in held_out_kernels(kind, by_device=by_device)]
            figures.append(Figure(f"{kind}: median error, {what}", _off(ratios)))
    return figures


def serving() -> list[Figure]:
    """Served points, and what a choice by prediction would have cost."""
    seen = scored_points(all_served(), shipped_constants())
    figures = [figure for name, points in ((_IN, seen), (_OUT, held_out_points())) for figure in _served(name, points)]
    by_model = medians((f"{one.served.model}, {one.served.engine}", abs(one.tpot - 1)) for one in held_out_points())
    figures += [Figure(f"TPOT: {name}, {_OUT}", value) for name, value in by_model.items()]
    for name, points in (
        ("format and model held out", without_format()),
        ("device and model held out", without_device()),
    ):
        figures.append(Figure(f"TPOT: median error, {name}", _off(one.tpot for one in points)))
    return [*figures, *_coverage()]


def _served(name: str, points: Sequence[ScoredPoint]) -> list[Figure]:
    first = [one.ttft for one in points if one.ttft is not None]
    told = [float(one.served.row["tpot_ms_measured"]) for one in points]
    rank = float(spearmanr([one.loop.tpot_s for one in points], told)[0])
    return [
        at_most(f"TPOT: median error of {len(points)} points, {name}", _off(one.tpot for one in points), 0.10),
        at_least(f"TPOT: rank correlation, {name}", rank, 0.92),
        at_most(f"TTFT: median error of {len(first)} points at concurrency 8 or less, {name}", _off(first), 0.25),
        at_least(
            f"share of groups whose predicted best is within 10 % of the best, {name}", good_choices(points), 0.80
        ),
    ]


def _coverage() -> list[Figure]:
    """Of 80 % intervals, each as wide as the errors of other models' rows say."""
    errors: Errors = fitted().errors
    cases = (
        ("TPOT, model held out", errors.fitted, covered(held_out_points(), lambda one: one.tpot)),
        ("TPOT, format and model held out", errors.interpolated, covered(without_format(), lambda one: one.tpot)),
        ("TPOT, device and model held out", errors.roofline, covered(without_device(), lambda one: one.tpot)),
        ("TTFT, model held out", None, covered(held_out_points(), lambda one: one.ttft)),
    )
    figures = []
    for name, sigma, share in cases:
        wide = "" if sigma is None else f" (±{interval_of(sigma):.0%})"
        figures.append(
            Figure(f"coverage of 80 % intervals{wide}: {name}", share, "", "0.70 to 0.90", 0.70 <= share <= 0.90)
        )
    return figures


def energy() -> list[Figure]:
    """Power and joules a token under vLLM 0.11 on H100."""
    seen = scored_chats(all_chats(), shipped_constants())
    figures = []
    for name, talks in ((_IN, seen), (_OUT, held_out_chats())):
        figures.append(Figure(f"power: median error of {len(talks)} rows, {name}", _off(one.power for one in talks)))
        figures.append(
            at_most(f"J/token: median error of {len(talks)} rows, {name}", _off(one.energy for one in talks), 0.15)
        )
        figures += [Figure(f"J/token: {model}, {name}", value) for model, value in _by_model(talks).items()]
    return figures


def _by_model(talks: Sequence[ScoredChat]) -> dict[str, float]:
    return medians((one.chat.model, abs(one.energy - 1)) for one in talks)


def published() -> list[Figure]:
    """Throughput without a bound on latency, which nothing was fitted to: as many users as an engine runs at once."""
    errors = []
    for row in rows("published.csv"):
        shape = re.search(r"ISL/OSL (\d+)/(\d+) TP(\d+)", row["what"])
        if shape is not None:
            inputs, outputs, tp = (int(one) for one in shape.groups())
            errors.append(_flooded(row["model"], tp, inputs, outputs).output_throughput / float(row["figure"]))
    return [at_most(f"published throughput: median error of {len(errors)} rows", _off(errors), 0.20)]


def _flooded(model: str, tp: int, inputs: int, outputs: int) -> ClosedLoop:
    candidate = {"tp": tp, "precision": "fp8", "engine": "trtllm", "kv_precision": "fp8"}
    return closed_loop(
        step_costs(model_named(model), device_named("h100-sxm"), candidate), 2048, inputs, outputs, max_num_seqs=2048
    )


def mlperf() -> list[Figure]:
    """Its scenarios through the event simulator. H100's offline result tells how long prompts are; the rest is predicted."""
    h100, *others = submissions().values()
    prompt = mean_prompt(h100)
    found = server_rate(h100, prompt)
    figures = [
        Figure("MLPerf offline, 8 h100-sxm: mean prompt that gives its result", str(prompt), "tokens"),
        Figure("MLPerf server, 8 h100-sxm", found, f"tokens/s, of {h100.server_tokens_s:g}"),
        at_most("MLPerf server, 8 h100-sxm: error", abs(found / h100.server_tokens_s - 1), 0.15),
    ]
    for one in others:
        if one.offline_seqs is not None:
            figures.append(_told("offline", one, offline_rate(one, prompt), one.offline_tokens_s))
        if one.server_seqs is not None:
            figures.append(_told("server", one, server_rate(one, prompt), one.server_tokens_s))
    return figures + [
        _told("server, as many in flight as there were", one, throughput_in_flight(one, prompt), one.server_tokens_s)
        for one in (h100, *others)
    ]


def _told(what: str, one: Submission, found: float, published: float) -> Figure:
    name = f"MLPerf {what}, 8 {one.device.name}: predicted / published"
    return Figure(name, found / published, f"(80 % interval of a step: ±{one.costs(1).interval:.0%})")


def _off(ratios: Iterable[float]) -> float:
    """The median error of predicted over measured."""
    return median(abs(ratio - 1) for ratio in ratios)


def at_most(name: str, value: float, floor: float | None) -> Figure:
    """A figure that must not be above its floor."""
    return Figure(
        name, value, "", None if floor is None else f"at most {floor}", None if floor is None else value <= floor
    )


def at_least(name: str, value: float, floor: float) -> Figure:
    """A figure that must not be below its floor."""
    return Figure(name, value, "", f"at least {floor}", value >= floor)


if __name__ == "__main__":
    sys.exit(main())
