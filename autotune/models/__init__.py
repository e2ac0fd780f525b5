"""One reader per model format: from files to ``ModelFacts``, or a refusal with its reason before any trial."""

from __future__ import annotations

from autotune.models.reader import read_model

__all__ = ["read_model"]
