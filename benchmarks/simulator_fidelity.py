"""How near simulated figures are to measured ones: kernels, served points, energy and published throughput.

``python -m benchmarks.simulator_fidelity [--json]``
"""

from __future__ import annotations

import csv
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median

from scipy.stats import spearmanr

from autotune_backends.simulated.devices import device_named
from autotune_backends.simulated.operators import all_reduce_cost, attention_cost, gemm_cost
from autotune_backends.simulated.points import predict_points
from autotune_backends.simulated.precision import precision_named
from autotune_backends.simulated.screen import ClosedLoop, closed_loop
from autotune_backends.simulated.step_costs import step_costs
from autotune_backends.simulated.transformers import model_named
from benchmarks.report import Figure, arguments, finish

REFERENCE = Path(__file__).with_name("reference")
DTYPES = {"bfloat16": "bf16", "int8_wo": "int8_weights", "int4_wo": "int4"}
CHAT_INPUT = 300
"""Mean prompt of ML.ENERGY's chat, which it does not state: what its tokens/s lose against its gap between tokens implies."""

Row = Mapping[str, str]


def main() -> int:
    """Compare with every reference file."""
    asked = arguments(__doc__)
    figures = [*kernels(), *serving(), *energy(), *published()]
    return finish("simulator_fidelity", figures, as_json=asked.json)


def kernels() -> list[Figure]:
    """Median relative errors, over all rows and by device."""
    floors: tuple[tuple[str, Callable[[Row], float], float | None], ...] = (
        ("gemm", gemm_error, 0.12),
        ("attention", attention_error, 0.12),
        ("allreduce", all_reduce_error, None),
    )
    figures = []
    for name, error, floor in floors:
        found = [(row["system"], abs(error(row))) for row in rows(f"{name}_measured.csv")]
        figures.append(at_most(f"{name}: median error of {len(found)} rows", median(e for _, e in found), floor))
        figures += [Figure(f"{name}: {device}", value) for device, value in medians(found).items()]
    return figures


def gemm_error(row: Row) -> float:
    """One matrix product: predicted / measured - 1."""
    precision = precision_named(DTYPES.get(row["dtype"], row["dtype"]))
    cost = gemm_cost(device_named(row["system"]), precision, int(row["n"]), int(row["k"]))
    return cost.seconds(int(row["m"])) * 1e3 / float(row["latency_ms"]) - 1


def attention_error(row: Row) -> float:
    """One attention kernel over a batch."""
    heads, kv_heads, width, batch, tokens = (
        int(row[name]) for name in ("heads", "kv_heads", "head_dim", "batch", "seq_len")
    )
    kv_bytes = 2 * kv_heads * width * (2 if row["kv_dtype"] == "bfloat16" else 1)
    cost = attention_cost(device_named(row["system"]), heads, width, kv_bytes)
    prefill = cost.prefill_floor_s + batch * cost.prefill(tokens, 0)
    seconds = prefill if row["phase"] == "prefill" else cost.decode(batch * tokens)
    return seconds * 1e3 / float(row["latency_ms"]) - 1


def all_reduce_error(row: Row) -> float:
    """One all-reduce in bf16."""
    cost = all_reduce_cost(device_named(row["system"]), int(row["num_gpus"]))
    return cost.seconds(2 * int(row["message_elements"])) * 1e3 / float(row["latency_ms"]) - 1


def serving() -> list[Figure]:
    """Served points, and what a choice by prediction would have cost."""
    points = [row for row in predict_points(rows("serving_measured.csv")) if not row["reason"]]
    tpot = [abs(float(row["error_tpot"])) for row in points]
    first = [abs(float(row["error_ttft"])) for row in points if float(row["concurrency"]) <= 8]
    rank = spearmanr([float(row["tpot_s"]) for row in points], [float(row["tpot_ms_measured"]) for row in points])[0]
    by_model = medians(
        (f"{row['model'].rpartition('/')[2]}, {row['backend']}", e) for row, e in zip(points, tpot, strict=True)
    )
    covered = [_covered(row) for row in points]
    share = sum(covered) / len(covered)
    choices = good_choices(points)
    return [
        at_most(f"TPOT: median error of {len(tpot)} points", median(tpot), 0.10),
        Figure("TPOT: rank correlation", float(rank), "", "at least 0.92", bool(rank >= 0.92)),
        *(Figure(f"TPOT: {name}", value) for name, value in by_model.items()),
        at_most(f"TTFT: median error of {len(first)} points at concurrency 8 or less", median(first), 0.25),
        Figure(
            "TPOT: share of points within the 80 % interval, its width chosen on them",
            share,
            "",
            "0.70 to 0.90",
            0.70 <= share <= 0.90,
        ),
        Figure(
            "share of groups whose predicted best is within 10 % of the best", choices, "", "≥ 0.80", choices >= 0.80
        ),
    ]


def _covered(row: Row) -> bool:
    return float(row["tpot_s_low"]) <= float(row["tpot_ms_measured"]) / 1e3 <= float(row["tpot_s_high"])


def good_choices(points: Sequence[Row]) -> float:
    """Groups are a model, precision and engine on a device; the best setting gives the most tokens/s a device."""
    groups: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row in points:
        groups[tuple(row[name] for name in ("system", "backend", "model", "precision"))].append(row)
    good = 0
    for group in groups.values():
        chosen = max(group, key=lambda row: float(row["output_throughput_per_gpu"]))
        best = max(float(row["tokens_s_gpu_derived"]) for row in group)
        good += float(chosen["tokens_s_gpu_derived"]) >= 0.9 * best
    return good / len(groups)


def energy() -> list[Figure]:
    """Joules a token under vLLM 0.11 on H100: the rows that power was fitted to, so that this is an error in sample."""
    found = [(row["model"], abs(energy_error(row))) for row in rows("energy_measured.csv")]
    return [
        at_most(f"J/token: median error of {len(found)} rows, in sample", median(e for _, e in found), 0.15),
        *(Figure(f"J/token: {model}", value) for model, value in medians(found).items()),
    ]


def energy_error(row: Row) -> float:
    """One load: its mean batch as users."""
    loop = served(
        row["model"], {"tp": int(row["tp"])}, round(float(row["avg_batch"])), CHAT_INPUT, float(row["avg_out_len"])
    )
    return (loop.energy_per_token_j or 0.0) / float(row["J_per_token"]) - 1


def published() -> list[Figure]:
    """Throughput without a bound on latency: as many users as an engine runs at once."""
    errors = []
    for row in rows("published.csv"):
        shape = re.search(r"ISL/OSL (\d+)/(\d+) TP(\d+)", row["what"])
        if shape is not None:
            inputs, outputs, tp = (int(one) for one in shape.groups())
            loop = served(
                row["model"],
                {"tp": tp, "precision": "fp8", "engine": "trtllm", "kv_precision": "fp8"},
                2048,
                inputs,
                outputs,
            )
            errors.append(abs(loop.output_throughput / float(row["figure"]) - 1))
    return [at_most(f"published throughput: median error of {len(errors)} rows", median(errors), 0.20)]


def served(model: str, candidate: Mapping[str, str | int], users: int, inputs: int, outputs: float) -> ClosedLoop:
    """A closed loop on H100."""
    costs = step_costs(model_named(model), device_named("h100-sxm"), candidate)
    return closed_loop(costs, users, inputs, round(outputs), max_num_seqs=users)


def rows(name: str) -> list[dict[str, str]]:
    """A reference file."""
    with (REFERENCE / name).open(encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def medians(found: Iterable[tuple[str, float]]) -> dict[str, float]:
    """By key, in order of appearance."""
    groups: dict[str, list[float]] = defaultdict(list)
    for key, value in found:
        groups[key].append(value)
    return {key: median(values) for key, values in groups.items()}


def at_most(name: str, value: float, floor: float | None) -> Figure:
    """A figure that must not be above its floor."""
    return Figure(
        name, value, "", None if floor is None else f"at most {floor}", None if floor is None else value <= floor
    )


if __name__ == "__main__":
    sys.exit(main())
