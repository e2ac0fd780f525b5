"""Takes weights out of the list of inputs: old files list both, and a quantiser then changes the model's interface."""

from __future__ import annotations

from typing import Any

__all__ = ["IR_WITH_FREE_WEIGHTS", "drop_weight_inputs"]

IR_WITH_FREE_WEIGHTS = 4
"""The IR version since which a weight need not be listed as an input (onnx/docs/IR.md, "Graphs")."""


def drop_weight_inputs(model: Any) -> list[str]:
    """Drop, in place, inputs of the main graph that are weights; return their names. Raises the IR version to 4 at least."""
    weights = {weight.name for weight in model.graph.initializer}
    dropped = [value.name for value in model.graph.input if value.name in weights]
    if dropped:
        true = [value for value in model.graph.input if value.name not in weights]
        del model.graph.input[:]
        model.graph.input.extend(true)
        model.ir_version = max(model.ir_version, IR_WITH_FREE_WEIGHTS)
    return dropped
