"""What one kernel takes on a device: a roofline whose roofs are the fractions that kernels reach."""

from autotune_backends.simulated.operators.attention import AttentionCost, attention_cost
from autotune_backends.simulated.operators.collective import AllReduceCost, all_reduce_cost
from autotune_backends.simulated.operators.gemm import GemmCost, gemm_cost
from autotune_backends.simulated.operators.roofline import overlapped

__all__ = [
    "AllReduceCost",
    "AttentionCost",
    "GemmCost",
    "all_reduce_cost",
    "attention_cost",
    "gemm_cost",
    "overlapped",
]
