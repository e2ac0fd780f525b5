"""Language models as arithmetic: which matrix products a token passes, and what it leaves in the KV cache."""

from autotune_backends.simulated.transformers.model import LatentAttention, Matrix, TransformerModel
from autotune_backends.simulated.transformers.reading import model_named, model_names, transformer_of

__all__ = ["LatentAttention", "Matrix", "TransformerModel", "model_named", "model_names", "transformer_of"]
