"""Structured pruning: hidden channels that matter least are taken out, and what is left makes up for them.

Each removed channel is written as the combination of kept ones that is nearest on the calibration data, by least squares, and the
weights that used it are added to theirs (layer-wise reconstruction: He et al., Channel Pruning, 2017; exact for a MatMul, for a
Conv without regard to its neighbours). ``elimination`` says in which order channels go, ``allocation`` how many of each chain.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autotune.core.samples import Tensors
from autotune_backends.transform.onnx.activations import Activations, look_at
from autotune_backends.transform.onnx.allocation import kept_counts, widths
from autotune_backends.transform.onnx.change import Change
from autotune_backends.transform.onnx.channels import Weights, cut_channels, drop_stale
from autotune_backends.transform.onnx.elimination import Elimination, Use, eliminated, made_up
from autotune_backends.transform.onnx.prepare import Prepare
from autotune_backends.transform.onnx.prepared import Prepared, prepared
from autotune_backends.transform.onnx.prunable import Chain, find_chains

__all__ = ["Prune"]


@dataclass(frozen=True)
class Prune:
    """So much arithmetic goes as if ``ratio`` of the hidden channels of every chain did. ``samples`` yields inputs of batch 1,
    anew each time.

    ``block``: channels are kept in whole blocks of so many, as the runtime lays them out for its vector units.
    ``library``: what implements the model's own operators, None: it has none.
    """

    ratio: float
    samples: Callable[[], Iterable[Tensors]]
    library: Path | None = None
    block: int = 8

    def __call__(self, source: Path, target: Path) -> Change:
        """Write the pruned model. ``facts``: parameters before and after, each chain's channels, and why others were left."""
        with prepared(source, target, Prepare(self.library)) as ready:
            return self._prune(ready, target)

    def _prune(self, ready: Prepared, target: Path) -> Change:
        import onnx

        model = onnx.load(str(ready.path))
        chains = find_chains(model)
        able = [chain for chain in chains if chain.spoilt is None and len(widths(chain.channels, self.block)) > 1]
        facts: dict[str, Any] = {"parameters_before": _parameters(model)}
        left = self._cut(ready.path, model, able)
        facts["channels"] = {name: list(counts) for name, counts in left.items()}
        drop_stale(model)
        facts["parameters_after"] = _parameters(model)
        facts["left_alone"] = dict(Counter(chain.spoilt for chain in chains if chain.spoilt))
        external = f"{target.name}.data" if ready.external else None
        onnx.save_model(model, str(target), save_as_external_data=ready.external, location=external)
        return ready.change("pruning", target, +Counter(chains=len(left)), _why_nothing(chains), **facts)

    def _cut(self, path: Path, model: Any, chains: Sequence[Chain]) -> dict[str, tuple[int, int]]:
        """Take channels out; return, by the producer's name, how many there were and are of each chain that lost any."""
        if not chains:
            return {}
        found = look_at(path, model, chains, self.samples, self.library)
        legal = [widths(chain.channels, self.block) for chain in chains]
        weighed = [_weighed(model, chain, found, place, legal[place]) for place, chain in enumerate(chains)]
        errors = [
            {width: float(one.errors[widest[0] - width]) for width in widest}
            for one, widest in zip(weighed, legal, strict=True)
        ]
        counts = kept_counts([chain.channels for chain in chains], errors, found.products, self.ratio)
        changed = [place for place, chain in enumerate(chains) if counts[place] < chain.channels]
        for place in changed:
            _take_out(model, chains[place], found, place, weighed[place].kept(counts[place]))
        return {
            model.graph.node[chains[place].producer].name: (chains[place].channels, counts[place]) for place in changed
        }


def _weighed(model: Any, chain: Chain, found: Activations, place: int, legal: Sequence[int]) -> Elimination:
    uses = [
        Use.of(found.grams[place, use.node], Weights.of(model, use, chain.channels).by_channel) for use in chain.uses
    ]
    return eliminated(uses, legal)


def _take_out(model: Any, chain: Chain, found: Activations, place: int, kept: NDArray[np.intp]) -> None:
    for use in chain.uses:
        weights = Weights.of(model, use, chain.channels)
        weights.replace(model, use, made_up(weights.by_channel, found.grams[place, use.node], kept))
    cut_channels(model, chain, kept)


def _parameters(model: Any) -> int:
    return sum(int(np.prod(weight.dims, dtype=np.int64)) for weight in model.graph.initializer)


def _why_nothing(chains: Sequence[Chain]) -> str:
    reasons = "; ".join(dict.fromkeys(chain.spoilt for chain in chains if chain.spoilt))
    return f"nothing was pruned: {reasons or 'the model has no hidden channels to spare'}"
