"""The field's headline claims, each beside what is simulated or published here, and whether it holds under these assumptions.

``python -m benchmarks.claims [--json] [--seed N]``
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from statistics import fmean

from autotune_backends.simulated.accuracy import published_accuracy
from autotune_backends.simulated.devices import device_named
from autotune_backends.simulated.operators import gemm_cost
from autotune_backends.simulated.precision import precision_named
from autotune_backends.simulated.screen import ClosedLoop, closed_loop
from autotune_backends.simulated.step_costs import StepCosts, step_costs
from autotune_backends.simulated.transformers import model_named
from benchmarks.report import Figure, arguments, finish

HOLDS, FAILS = "holds", "does not hold under these assumptions"


def main() -> int:
    """Look at every claim. No floor: a claim that fails is a finding, not a fault."""
    asked = arguments(__doc__)
    return finish(
        "claims",
        [*size(), *pruning(), *fusion(), *growth(), *serving(), *energy(), *fpga(), *caching(), *batching(asked.seed)],
        as_json=asked.json,
    )


def size() -> Iterator[Figure]:
    """Of Llama-3.1-8B; embeddings stay in 16 bits."""
    full, half, small = (
        priced("llama-3.1-8b", "h100-sxm", precision=name).weight_bytes for name in ("fp32", "bf16", "int8")
    )
    yield said("INT8 shrinks a model by 75 %: from fp32", 1 - small / full, "simulated", 1 - small / full >= 0.73)
    yield said(
        "INT8 shrinks a model by 75 %: from bf16, as models are published",
        1 - small / half,
        "simulated",
        1 - small / half >= 0.73,
    )
    wide, narrow = (decode_s("llama-3.1-8b", "a100-sxm", 1, precision=name) for name in ("bf16", "int4"))
    yield said(
        "INT4 cuts cost by 75 %: of a token of one user on A100",
        1 - narrow / wide,
        "simulated",
        1 - narrow / wide >= 0.70,
    )
    wide, narrow = (decode_s("llama-3.1-8b", "a100-sxm", 128, precision=name) for name in ("bf16", "int4"))
    yield said(
        "INT4 cuts cost by 75 %: of a token of 128 users on A100",
        1 - narrow / wide,
        "simulated",
        1 - narrow / wide >= 0.70,
    )
    read = (
        priced("llama-3.1-8b", "a100-sxm").layers.weight_bytes
        / priced("llama-3.1-8b", "a100-sxm", precision="int4").layers.weight_bytes
    )
    yield said("INT4 cuts bandwidth 4 times: bytes of weights in a step", read, "simulated", read >= 3.8, "×")


def pruning() -> Iterator[Figure]:
    """Nothing is published here for 30 %; half of the weights is harder, so what holds there holds for fewer."""
    for name in ("llama-2-7b", "llama-2-70b"):
        found = published_accuracy(model_named(name), "bf16", "unstructured")
        assert found is not None
        yield said(
            f"30 % of parameters pruned at less than 1 % loss: {name} at 50 %",
            1 - found.kept,
            "published",
            found.kept > 0.99,
        )


def fusion() -> Iterator[Figure]:
    """ONNX's decomposed LayerNorm has nine nodes, its GELU five; each reads its inputs and writes its output once."""
    launches = 1 - 2 / 14
    tensors = 1 - 4 / (14 * 2)
    yield said(
        "fusing LayerNorm and GELU saves 40 % of the instructions: kernel launches",
        launches,
        "estimated",
        launches >= 0.4,
    )
    yield said(
        "fusing LayerNorm and GELU saves 40 % of the instructions: activation bytes",
        tensors,
        "estimated",
        tensors >= 0.4,
    )
    costs = priced("llama-3.1-8b", "a100-sxm")
    share = costs.layers.small_s / costs.step_s((), 1, 1000)
    yield said("… of a whole decode step, what launches of small kernels take at all", share, "simulated", share >= 0.4)


def growth() -> Iterator[Figure]:
    """8B to 70B is 8.8 times."""
    ratio = decode_s("llama-3.1-70b", "h100-sxm", 1, tp=4) / decode_s("llama-3.1-8b", "h100-sxm", 1, tp=4)
    yield said(
        "ten times the parameters, 5 to 8 times the latency: 70B / 8B on four H100, one user",
        ratio,
        "simulated",
        5 <= ratio <= 8,
        "×",
    )


def serving() -> Iterator[Figure]:
    """Chat of 1,155 tokens in and 211 out."""
    loop = loaded("llama-3.1-8b", "a100-sxm", 256)
    yield said(
        "an A100 in FP16 serves tens of thousands of tokens/s: written, Llama-3.1-8B",
        loop.output_throughput,
        "simulated",
        loop.output_throughput >= 2e4,
        "/s",
    )
    read = 8192 / priced("llama-3.1-8b", "a100-sxm").step_s([(8192, 0)], 0, 0)
    yield said(
        "an A100 in FP16 serves tens of thousands of tokens/s: read (prefill)", read, "simulated", read >= 2e4, "/s"
    )
    small = loaded("llama-3.2-1b", "a100-sxm", 512).output_throughput
    yield said(
        "an A100 in FP16 serves tens of thousands of tokens/s: written, Llama-3.2-1B",
        small,
        "simulated",
        small >= 2e4,
        "/s",
    )


def energy() -> Iterator[Figure]:
    """Joules a token, of devices alone."""
    tpu, gpu = (
        loaded("llama-3.1-8b", name, 64, precision="int8").energy_per_token_j for name in ("tpu-v4", "a100-sxm")
    )
    assert tpu is not None
    assert gpu is not None
    yield said(
        "TPU v4 in INT8 gives 3 times a GPU's tokens/J: against A100 in INT8",
        gpu / tpu,
        "simulated",
        gpu / tpu >= 3,
        "×",
    )
    near, far = (step_j("llama-3.2-1b", name) for name in ("hbm-pim", "h100-sxm"))
    yield said(
        "near-memory compute 10 times the energy efficiency: HBM2-PIM against H100, one user",
        far / near,
        "simulated",
        far / near >= 10,
        "×",
    )


def fpga() -> Iterator[Figure]:
    """A detector of 16.5 GFLOP (YOLOv5s at 640 x 640) as one product of the same arithmetic and 7.2 MB of weights."""
    cost = gemm_cost(device_named("alveo-u280"), precision_named("int8"), 2683, 2683)
    latency = cost.seconds(16.5e9 / (2 * 2683 * 2683))
    yield said(
        "an FPGA detector under 5 ms: Alveo U280 in INT8, arithmetic and weights alone",
        latency * 1e3,
        "simulated",
        latency < 5e-3,
        "ms",
    )


def caching() -> Iterator[Figure]:
    """The next question of 200 tokens after 8,000 of conversation."""
    costs = priced("llama-3.1-8b", "h100-sxm")
    ratio = costs.step_s([(8200, 0)], 0, 0) / costs.step_s([(200, 8000)], 0, 0)
    yield said(
        "a KV cache makes long chats' first token faster: 200 tokens after 8,000", ratio, "simulated", ratio > 1, "×"
    )


def batching(seed: int) -> Iterator[Figure]:
    """Share of a batch's 32 places in use, answers of 211 tokens on average, exponentially distributed, never a queue empty."""
    draw = random.Random(seed)
    batches = [[draw.expovariate(1 / 211) for _ in range(32)] for _ in range(2000)]
    static = fmean(fmean(batch) / max(batch) for batch in batches)
    yield said("static batching uses 30 to 50 % of a batch's places", static, "estimated", 0.3 <= static <= 0.5)
    one = priced("llama-3.1-8b", "a100-sxm")
    compute, memory = one.utilisation((), 64, 64 * 1260)
    used = max(compute, memory)
    yield said(
        "continuous batching lifts utilisation over 90 %: of the busiest resource, A100, 64 users",
        used,
        "simulated",
        used > 0.9,
    )


def priced(model: str, device: str, **candidate: str | int) -> StepCosts:
    """One candidate."""
    return step_costs(model_named(model), device_named(device), candidate)


def decode_s(model: str, device: str, users: int, **candidate: str | int) -> float:
    """A decode step after 1,000 tokens each."""
    return priced(model, device, **candidate).step_s((), users, 1000 * users)


def loaded(model: str, device: str, users: int, **candidate: str | int) -> ClosedLoop:
    """The chat load."""
    return closed_loop(priced(model, device, **candidate), users, 1155, 211, max_num_seqs=users)


def step_j(model: str, device: str) -> float:
    """Joules of one user's decode step."""
    costs = priced(model, device)
    power = costs.power_w(*costs.utilisation((), 1, 1000))
    assert power is not None
    return power * costs.step_s((), 1, 1000)


def said(claim: str, value: float, provenance: str, holds: bool, unit: str = "") -> Figure:
    """A claim with its verdict as text: none is a floor."""
    return Figure(f"{claim} [{provenance}; {HOLDS if holds else FAILS}]", float(value), unit)


if __name__ == "__main__":
    sys.exit(main())
