"""What onnxruntime can do with a model on a device: parameters, and the reason for whatever is left out."""

from __future__ import annotations

from autotune.core.device import DeviceSpec
from autotune.core.model import ModelFacts
from autotune.core.recovery import LONGEST_S, RECOVERY
from autotune.core.space import Offer, Parameter
from autotune_backends.offering import Choices, offer_batch, thread_counts
from autotune_backends.onnxruntime.choices import ModelTraits
from autotune_backends.onnxruntime.precisions import as_is, offer_precision

__all__ = ["offer"]

PRUNING_RATIOS = (0.0, 0.15, 0.3, 0.5, 0.7)


def offer(model: ModelFacts, device: DeviceSpec, traits: ModelTraits) -> Offer:
    """Return the offer. Pure: everything that must be tried or read is in ``traits``."""
    found = Choices()
    offer_precision(found, model, device, traits)
    _pruning(found, model, traits)
    _recovery(found, traits)
    _fusion(found, model, traits)
    _graph(found, traits)
    _threads(found, model, device.cpus or 1)
    _memory(found)
    _affinity(found, traits.numa_nodes)
    offer_batch(found, traits.batch)
    return Offer(
        backend="onnxruntime",
        device=device.name,
        parameters=tuple(found.parameters),
        omissions=tuple(found.omissions),
    )


def _pruning(found: Choices, model: ModelFacts, traits: ModelTraits) -> None:
    """Only the user's data tell which channels matter."""
    if model.quantised or traits.weights != "float32":
        found.omit("pruning_ratio", "channels are taken out of float32 weights alone")
    elif not traits.prunable:
        found.omit("pruning_ratio", "no product's channels go to other products alone")
    else:
        doc = "as much arithmetic goes as with this share of the hidden channels, by the data"
        ratios = PRUNING_RATIOS
        found.parameters.append(
            Parameter(name="pruning_ratio", choices=ratios, calibrated=ratios, affects="build", doc=doc)
        )


def _recovery(found: Choices, traits: ModelTraits) -> None:
    """Any time is legal; which is offered, the person says."""
    pruned = next((parameter for parameter in found.parameters if parameter.name == "pruning_ratio"), None)
    if pruned is None:
        found.omit(RECOVERY, "only a model that was pruned is trained again, and this one cannot be")
    elif not traits.trainer:
        found.omit(RECOVERY, "training needs PyTorch: pip install 'autotune-inference[torch]'")
    elif traits.untrained:
        found.omit(
            RECOVERY, f"training would go through {', '.join(traits.untrained)}, which is not differentiated here"
        )
    else:
        doc = (
            "seconds at most in which a pruned model is trained on the calibration data, the original being the teacher"
        )
        ratios = tuple(ratio for ratio in pruned.choices if ratio)
        requires = {pruned.name: ratios}
        found.parameters.append(
            Parameter(name=RECOVERY, low=0.0, high=LONGEST_S, requires=requires, affects="build", doc=doc)
        )


def _fusion(found: Choices, model: ModelFacts, traits: ModelTraits) -> None:
    """Fused attention is known to dynamic int8 alone of the quantisers."""
    if model.quantised:
        found.omit("fusion", "the model is quantised already: its patterns are hidden")
    elif traits.weights != "float32":
        found.omit("fusion", "the model has no float32 weights")
    elif not traits.transformer:
        found.omit("fusion", "the model has no attention, layer normalisation or GELU written out")
    elif not traits.fusion_tool:
        found.omit(
            "fusion", "onnxruntime's transformer optimiser needs sympy: pip install 'autotune-inference[fusion]'"
        )
    else:
        doc = f"onnxruntime's transformer optimiser: {', '.join(traits.transformer)}"
        formats = (as_is(model, traits), *(("int8_dynamic",) if traits.quantisable else ()))
        found.add("fusion", ("none", "transformer"), "build", doc, precision=formats)


def _graph(found: Choices, traits: ModelTraits) -> None:
    """``layout`` and ``all`` gave byte-identical graphs for float32 and int8 models (onnxruntime 1.32)."""
    levels = ["disabled", "basic", "extended", "all"]
    if traits.weights == "float16":
        levels.insert(3, "layout")
    else:
        found.omit("graph_optimization", "the same as all for a model without float16 weights", "layout")
    found.add("graph_optimization", levels, "load", "how far the runtime rewrites the graph when it loads it")


def _threads(found: Choices, model: ModelFacts, cpus: int) -> None:
    counts = thread_counts(cpus)
    found.add("intra_op_threads", counts, "load", "threads inside one operator")
    several = [count for count in counts if count > 1]
    if several and model.branching:
        found.add("execution_mode", ("sequential", "parallel"), "load", "whether branches of the graph run in parallel")
        found.add("inter_op_threads", several, "load", "branches that run at once", execution_mode=("parallel",))
    else:
        alone = "there is one CPU" if not several else "no two nodes of the graph could run at once"
        found.omit("execution_mode", alone, "parallel")
        found.omit("inter_op_threads", alone)
    if several:
        doc = "idle threads wait busily for the next operator"
        found.add("spinning", (True, False), "load", doc, intra_op_threads=several)
    else:
        found.omit("spinning", "with one thread there is nobody to wait for")


def _memory(found: Choices) -> None:
    doc = "where activations lie: an arena laid out ahead (pattern), an arena, or memory asked for each time (system)"
    found.add("memory", ("pattern", "arena", "system"), "load", doc)


def _affinity(found: Choices, numa_nodes: int) -> None:
    if numa_nodes > 1:
        reason = f"of {numa_nodes} NUMA nodes, numactl chooses: CPU numbers in an export would be this host's"
    else:
        reason = "the host has one NUMA node: the system places threads as well"
    found.omit("affinity", reason)
