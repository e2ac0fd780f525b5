"""Under load: the batcher against queueing theory, the generator's lag, what a batch policy wins, and how good its screen is.

    python -m benchmarks.load [--json] [--quick] [--seed N] [--model FILE.onnx] [--data FILE.npz]

Without --model, MiniLM is built, which needs torch and transformers (the extra `bench`). Policies are compared by p99, with
--quick by p90: p99 needs 662 requests a look.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import autotune
from autotune.core.clock import SystemClock
from autotune.core.deployment import Batching
from autotune.core.errors import UserError
from autotune.core.plan import Plan
from autotune.core.serving import GiveUp, OpenLoop
from autotune.core.workload import BUILT_IN
from autotune.export import choose_point, verify
from autotune.measure import PhaseLoad
from autotune.measure.queue_model import capacity_per_s, simulate_queue
from autotune.measure.saturation import poisson
from autotune.measure.served_phase import ServedPhase, can_serve
from benchmarks.known_queue import measure_known_queue
from benchmarks.report import Figure, argument_parser, finish
from benchmarks.subject import Subject, subject
from benchmarks.wheel_models import minilm

SERVICE_S = 0.005
LOADS = (0.3, 0.6, 0.8)
RATE = 200.0  # at which the generator's lag is judged
SCREENED = (
    Batching(max_batch=1, delay_s=0.0),
    Batching(max_batch=8, delay_s=0.0),
    Batching(max_batch=8, delay_s=0.005),
)
SCREEN_LOADS = (0.3, 0.5, 0.7)
LIMIT = 8.0  # times the latency of one request: the bound on the tail that policies are compared under


def main() -> int:
    """Measure and print."""
    parser = argument_parser(__doc__)
    parser.add_argument("--model", type=Path, help="an ONNX model with a batch axis; default: MiniLM, built")
    parser.add_argument("--data", type=Path, help="its inputs, an .npz")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        figures = [*queue_figures(8.0 if asked.quick else 60.0, asked.seed)]
        model, data = (asked.model, asked.data) if asked.model else minilm(place)
        tried = subject(model, place / "subject", data)
        figures += screen_figures(tried, 3.0 if asked.quick else 20.0, asked.seed)
        try:
            figures += policy_figures(tried, model, data, place, quick=asked.quick)
        except UserError as error:
            figures.append(Figure("policies", str(error), "", "compared, exported and verified", False))
    return finish("load", figures, as_json=asked.json)


def queue_figures(duration_s: float, seed: int) -> Iterator[Figure]:
    """A server of 5 ms against M/D/1, and how late the generator was."""
    for load in LOADS:
        found = measure_known_queue(load, SERVICE_S, duration_s, seed)
        yield Figure(f"5 ms server at {load:.0%}: measured service", found.service_s * 1e3, "ms")
        for percentile, off in found.off.items():
            yield Figure(f"  p{percentile:g} against M/D/1", 100 * off, "%", "within 5 %", abs(off) <= 0.05)
    lag = measure_known_queue(RATE * 0.004, 0.004, duration_s / 2, seed).served.lag_s
    late = float(np.quantile(lag, 0.99)) * 1e3
    yield Figure(f"generator's own lag at {RATE:g}/s, p99", late, "ms", "at most 1 ms", late <= 1.0)


def screen_figures(tried: Subject, duration_s: float, seed: int) -> Iterator[Figure]:
    """The queue simulated from measured batch latencies, against the real load with the same arrivals."""
    requests = tried.loads[0].requests
    with tried.open() as session:
        for policy in SCREENED:
            load = PhaseLoad(BUILT_IN["server"].phases[0], requests, batching=policy)
            phase = ServedPhase(can_serve(session, "server"), load, Plan(), SystemClock())
            phase.take_profile()
            for share in SCREEN_LOADS:
                arrivals = poisson(share * capacity_per_s(phase.service, 1), duration_s, seed)
                predicted = float(np.quantile(simulate_queue(arrivals, phase.service, policy), 0.99))
                served = phase.session.serve(requests, OpenLoop(arrivals, policy, GiveUp(longest_wait_s=10.0)))
                off = predicted / float(np.quantile(served.latency_s, 0.99)) - 1
                shape = f"batch ≤ {policy.max_batch}, delay {policy.delay_s * 1e3:g} ms, busy {served.utilisation:.0%}"
                judged = served.utilisation <= 0.72
                yield Figure(
                    f"screen's p99, {shape}",
                    100 * off,
                    "%",
                    "within 20 %" if judged else None,
                    abs(off) <= 0.2 if judged else None,
                )


def policy_figures(tried: Subject, model: Path, data: Path | None, place: Path, *, quick: bool) -> Iterator[Figure]:
    """The best batch policy against one request at a time, under the same limit; exported, opened again and verified."""
    with tried.open() as session:
        taken = [session.run(tried.loads[0].requests, 20).latency_s for _ in range(3)]
    latency_s = float(np.median(taken[-1]))
    run, tail, limit = _searched(model, data, place, latency_s, quick=quick)
    best = choose_point(run.front, "max_rate")
    value, alone = best.metrics["max_rate"].value or 0.0, run.front.baseline.metrics["max_rate"].value or float("nan")
    ratio = best.ratios["max_rate"].value if "max_rate" in best.ratios else None
    times = ratio if ratio is not None else value / alone
    yield Figure("limit", limit)
    yield Figure("highest rate, one request at a time", alone, "/s")
    yield Figure(f"highest rate, {best.candidate}", value, "/s")
    yield Figure("  times that of one at a time", times, "×", "at least 1.5", times >= 1.5)
    export = [sys.executable, "-m", "autotune", "export", str(place / "search"), "--point", best.id, "-o"]
    subprocess.run([*export, str(place / "deploy")], check=True, stdout=subprocess.DEVNULL)
    yield reloaded_figure(place / "deploy", tried)
    report = verify(place / "deploy", budget_s=180.0)
    under_load = [one for one in report.compared if one.metric in ("max_rate", tail, "latency_p50")]
    kept = bool(under_load) and not any(one.verdict == "broken" for one in report.compared)
    yield Figure("verified", "; ".join(str(one) for one in under_load), "", "kept", kept and report.verdict == "kept")


def _searched(
    model: Path, data: Path | None, place: Path, latency_s: float, *, quick: bool
) -> tuple[autotune.Run, str, str]:
    """A search of batch policies under a load that keeps a lone instance busy for two fifths; its tail metric, and its limit."""
    tail, budget_s, lasts = (
        ("latency_p90", 150.0, f", duration: {175 * latency_s:.3g}s") if quick else ("latency_p99", 900.0, "")
    )
    limit = f"{tail}<={LIMIT * latency_s * 1e3:.3g}ms"
    (place / "server.yaml").write_text(f"phases: [{{scenario: server, rate: {0.4 / latency_s:.3g}/s{lasts}}}]")
    (place / "policies.yaml").write_text(
        "base: onnx\nset: {graph_optimization: all, memory: pattern, max_batch: [1, 4, 8, 16], queue_delay_s: [0.0, 0.002]}\n"
    )
    run = autotune.search(
        model,
        budget=budget_s,
        space=str(place / "policies.yaml"),
        workload=str(place / "server.yaml"),
        objectives=("max_rate", tail),
        limits=(limit,),
        data=None if data is None else str(data),
        energy="off",
        executor="process",
        tracking=False,
        output=place / "search",
    )
    return run, tail, limit


def reloaded_figure(folder: Path, tried: Subject) -> Figure:
    """Whether the exported batcher answers as single runs do."""
    with autotune.load(folder) as model, model.batcher() as batcher:
        futures = [batcher.submit(inputs) for inputs in tried.inputs]
        same = all(
            np.allclose(future.result()[name], array, atol=1e-2, rtol=1e-2)
            for future, inputs in zip(futures, tried.inputs, strict=True)
            for name, array in model(inputs).items()
        )
        return Figure("reloaded: batches answer as single runs do", str(same), "", "yes", same)


if __name__ == "__main__":
    sys.exit(main())
