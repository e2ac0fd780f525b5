"""What quantisation and pruning cost in accuracy: published figures, with their sources."""

from autotune_backends.simulated.accuracy.published import PublishedAccuracy, published_accuracy

__all__ = ["PublishedAccuracy", "published_accuracy"]
