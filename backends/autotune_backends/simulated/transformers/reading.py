"""Reads a transformer: a built-in one by name, or a Hugging Face folder or ``config.json``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from autotune.core.errors import UserError, nearest
from autotune_backends.simulated.transformers.kept_accuracy import read_kept_accuracy
from autotune_backends.simulated.transformers.model import LatentAttention, TransformerModel

__all__ = ["model_named", "model_names", "transformer_of"]

_BUILT_IN = Path(__file__).with_name("built_in.yaml")
_UNGATED = ("opt", "gpt2", "gpt_neox", "falcon", "bloom", "phi", "gpt_bigcode", "starcoder2")


@cache
def _built_in() -> dict[str, Any]:
    import yaml

    loaded: dict[str, Any] = yaml.safe_load(_BUILT_IN.read_text(encoding="utf-8"))
    return loaded


def model_names() -> tuple[str, ...]:
    """Names of the built-in models."""
    return tuple(_built_in())


@cache
def model_named(name: str) -> TransformerModel:
    """Return the model of a built-in name (``llama-3.1-70b``, ``meta-llama/Llama-3.1-70B-Instruct``), a Hugging Face folder
    or a ``config.json``. Raises ``UserError`` with the nearest name.
    """
    path = Path(name)
    if path.suffix == ".json" or (path / "config.json").is_file():
        file = path if path.suffix == ".json" else path / "config.json"
        model = transformer_of(_load(file), path.stem or name)
        return replace(model, kept=read_kept_accuracy(file.parent))
    folded = _folded(name)
    if folded not in _built_in():
        raise UserError(
            f"unknown language model {name!r}{nearest(folded, model_names())}",
            f"built in: {', '.join(model_names())}; or name a folder with a config.json",
        )
    return transformer_of(_built_in()[folded], folded)


def transformer_of(config: Mapping[str, Any], name: str) -> TransformerModel:
    """The model that a Hugging Face configuration describes. Raises ``UserError`` naming the key that is missing."""
    text = config.get("text_config")
    if isinstance(text, Mapping):
        return transformer_of(text, name)
    try:
        return _transformer(config, name)
    except KeyError as error:
        raise UserError(f"{name}: its config.json lacks {error}", "only decoder-only transformers are known") from error
    except (TypeError, ValueError, ZeroDivisionError) as error:
        raise UserError(f"{name}: its config.json makes no sense: {error}", "check the sizes in it") from error


def _transformer(config: Mapping[str, Any], name: str) -> TransformerModel:
    hidden, layers = int(_first(config, "hidden_size", "n_embd", "d_model")), int(_first(config, *_LAYERS))
    heads = int(_first(config, "num_attention_heads", "n_head"))
    experts = int(config.get("n_routed_experts") or config.get("num_local_experts") or config.get("num_experts") or 0)
    intermediate = int(config.get("intermediate_size") or config.get("ffn_dim") or config.get("n_inner") or 4 * hidden)
    expert_width = int(config.get("moe_intermediate_size") or intermediate) if experts else 0
    shared = int(config.get("n_shared_experts") or 0) * expert_width
    return TransformerModel(
        name=name,
        layers=layers,
        hidden=hidden,
        heads=heads,
        kv_heads=int(config.get("num_key_value_heads") or (1 if config.get("multi_query") else heads)),
        head_dim=int(config.get("head_dim") or hidden // heads),
        intermediate=intermediate,
        vocabulary=int(config["vocab_size"]),
        tied_embeddings=bool(config.get("tie_word_embeddings", False)),
        gated=config.get("model_type") not in _UNGATED,
        experts=experts,
        active_experts=int(config.get("num_experts_per_tok") or 1) if experts else 0,
        expert_intermediate=expert_width,
        shared_intermediate=shared or (int(config.get("shared_expert_intermediate_size") or 0) if experts else 0),
        dense_layers=int(config.get("first_k_dense_replace") or 0),
        latent=_latent(config),
        max_context=int(config.get("max_position_embeddings") or config.get("n_positions") or 8192),
        window=_window(config),
        family=str(config.get("model_type") or ""),
    )


_LAYERS = ("num_hidden_layers", "n_layer", "num_layers")


def _first(config: Mapping[str, Any], *names: str) -> Any:
    for name in names:
        if config.get(name) is not None:
            return config[name]
    raise KeyError(names[0])


def _latent(config: Mapping[str, Any]) -> LatentAttention | None:
    if not config.get("kv_lora_rank"):
        return None
    return LatentAttention(
        kv_rank=int(config["kv_lora_rank"]),
        query_rank=int(config.get("q_lora_rank") or 0),
        rope_dim=int(config["qk_rope_head_dim"]),
        nope_dim=int(config["qk_nope_head_dim"]),
        value_dim=int(config["v_head_dim"]),
    )


def _window(config: Mapping[str, Any]) -> int | None:
    used = config.get("use_sliding_window", True)
    return int(config["sliding_window"]) if used and config.get("sliding_window") else None


def _folded(name: str) -> str:
    last = name.rpartition("/")[2].lower().replace("_", "-")
    for suffix in ("-instruct-hf", "-chat-hf", "-instruct", "-chat", "-hf", "-base"):
        last = last.removesuffix(suffix)
    return last.removeprefix("meta-")


def _load(path: Path) -> dict[str, Any]:
    try:
        loaded = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: {error}", "name a Hugging Face folder or its config.json") from error
    if not isinstance(loaded, dict):
        raise UserError(f"{path} holds no mapping", "name a Hugging Face folder or its config.json")
    return loaded
