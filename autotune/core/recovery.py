"""The choice to train a pruned model again, and for how long."""

from __future__ import annotations

__all__ = ["LONGEST_S", "PRUNING", "RECOVERY"]

PRUNING = "pruning_ratio"
"""The parameter that makes a model smaller; 0: nothing is taken out."""

RECOVERY = "recovery_s"
"""The parameter: seconds at most; 0: not at all."""

LONGEST_S = 7 * 24 * 3600.0
