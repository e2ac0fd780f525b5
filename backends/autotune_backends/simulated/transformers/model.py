"""A decoder-only transformer: its sizes, its matrices, its parameters and its KV cache."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from autotune_backends.simulated.transformers.kept_accuracy import KeptAccuracy

__all__ = ["LatentAttention", "Matrix", "TransformerModel"]

Split = Literal["columns", "rows", "no"]


@dataclass(frozen=True, slots=True)
class Matrix:
    """Weights ``[outputs, inputs]`` that ``layers`` layers have. ``split``: which side tensor parallelism divides.

    ``experts`` > 0: so many of them, of which each token passes ``active``.
    """

    name: str
    outputs: int
    inputs: int
    layers: int
    split: Split
    experts: int = 0
    active: int = 0

    @property
    def parameters(self) -> int:
        """In all layers and experts."""
        return self.outputs * self.inputs * self.layers * max(1, self.experts)


@dataclass(frozen=True, slots=True)
class LatentAttention:
    """Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434): ranks of the compressed queries and keys, head sizes.

    ``query_rank`` 0: queries are not compressed.
    """

    kv_rank: int
    query_rank: int
    rope_dim: int
    nope_dim: int
    value_dim: int


@dataclass(frozen=True, slots=True)
class TransformerModel:
    """``intermediate`` is the width of a dense MLP, ``expert_intermediate`` of one expert, ``shared_intermediate`` of what
    every token passes besides. ``dense_layers``: how many of the ``layers`` have no experts. ``max_context`` in tokens.
    ``window``: attention reaches back no farther than so many tokens; None: over everything. ``kept``: what its owner
    measured of its accuracy in other formats.
    """

    name: str
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    intermediate: int
    vocabulary: int
    tied_embeddings: bool = False
    gated: bool = True
    experts: int = 0
    active_experts: int = 0
    expert_intermediate: int = 0
    shared_intermediate: int = 0
    dense_layers: int = 0
    latent: LatentAttention | None = None
    max_context: int = 8192
    window: int | None = None
    family: str = ""
    kept: tuple[KeptAccuracy, ...] = ()

    @property
    def kv_elements_per_token(self) -> int:
        """Values one token adds to the KV cache, in all layers."""
        if self.latent is not None:
            return self.layers * (self.latent.kv_rank + self.latent.rope_dim)
        return 2 * self.layers * self.kv_heads * self.head_dim

    @property
    def matrices(self) -> tuple[Matrix, ...]:
        """Every matrix product of the layers, in order; the output layer is apart."""
        return (*self._attention(), *self._feed_forward())

    @property
    def layer_parameters(self) -> int:
        """Weights of the layers' matrices: what quantisation shrinks."""
        return sum(matrix.parameters for matrix in self.matrices)

    @property
    def embedding_parameters(self) -> int:
        """Weights of the embedding and the output layer, which stay in 16 bits as quantisers leave them."""
        return self.vocabulary * self.hidden * (1 if self.tied_embeddings else 2)

    @property
    def parameters(self) -> int:
        """All of them; norms included."""
        return self.layer_parameters + self.embedding_parameters + self.hidden * (2 * self.layers + 1)

    @property
    def active_parameters(self) -> int:
        """Weights that one token is multiplied with."""
        inner = sum(m.outputs * m.inputs * m.layers * (m.active or 1) for m in self.matrices)
        return inner + self.vocabulary * self.hidden

    def _attention(self) -> tuple[Matrix, ...]:
        if self.latent is not None:
            return self._latent_attention(self.latent)
        width = self.heads * self.head_dim
        return (
            Matrix("qkv", width + 2 * self.kv_heads * self.head_dim, self.hidden, self.layers, "columns"),
            Matrix("attention_out", self.hidden, width, self.layers, "rows"),
        )

    def _latent_attention(self, mla: LatentAttention) -> tuple[Matrix, ...]:
        queries = self.heads * (mla.nope_dim + mla.rope_dim)
        down = mla.kv_rank + mla.rope_dim + mla.query_rank
        return (
            Matrix("latent_down", down, self.hidden, self.layers, "no"),
            Matrix("query_up", queries, mla.query_rank or self.hidden, self.layers, "columns"),
            Matrix("kv_up", self.heads * (mla.nope_dim + mla.value_dim), mla.kv_rank, self.layers, "columns"),
            Matrix("attention_out", self.hidden, self.heads * mla.value_dim, self.layers, "rows"),
        )

    def _feed_forward(self) -> tuple[Matrix, ...]:
        dense = self.dense_layers if self.experts else self.layers
        sparse = self.layers - dense
        found = list(self._mlp("mlp", self.intermediate, dense))
        if sparse:
            found.append(Matrix("router", self.experts, self.hidden, sparse, "no"))
            found += self._mlp("experts", self.expert_intermediate, sparse, self.experts, self.active_experts)
        if sparse and self.shared_intermediate:
            found += self._mlp("shared", self.shared_intermediate, sparse)
        return tuple(found)

    def _mlp(self, name: str, width: int, layers: int, experts: int = 0, active: int = 0) -> tuple[Matrix, ...]:
        if not layers:
            return ()
        up = width * (2 if self.gated else 1)
        return (
            Matrix(f"{name}_up", up, self.hidden, layers, "columns", experts, active),
            Matrix(f"{name}_down", self.hidden, width, layers, "rows", experts, active),
        )
