"""A phase that loads a language model, as a person wrote it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast, get_args

from autotune.core.errors import UserError, nearest
from autotune.core.limits import parse_limit
from autotune.core.token_load import WIDEST_P90, Arrivals, TokenCounts, TokenLoad
from autotune.core.units import parse_quantity, parse_rate
from autotune.core.workload import Phase
from autotune.searching.yaml_text import mapping_of, named, only_keys

__all__ = ["is_token_phase", "token_phase"]

_TOKEN_KEYS = ("users", "input_tokens", "output_tokens", "shared_prefix_tokens", "turns", "think_time", "arrivals")
_MORE_KEYS = ("burstiness", "period", "peak", "requests", "seed")
_KEYS = ("scenario", "rate", "duration", "limits", "priorities", "trace", *_TOKEN_KEYS, *_MORE_KEYS)
_MOST_TOKENS = 10_000_000


def is_token_phase(fields: Mapping[str, Any]) -> bool:
    """Whether a phase speaks of tokens or of users."""
    return fields.get("scenario") == "closed_loop" or any(key in fields for key in _TOKEN_KEYS)


def token_phase(fields: Mapping[str, Any], where: str, folder: Path, base: Phase | None = None) -> Phase:
    """Read it; what it leaves out is ``base``'s. A trace is a file beside the workload's. Raises ``UserError``."""
    only_keys(fields, _KEYS, where)
    base = base or Phase(scenario="server", tokens=TokenLoad())
    changes = {key: read(fields[key], f"{where}: {key}") for key, read in _READERS.items() if key in fields}
    changes |= {f"{key}_s": read(fields[key], f"{where}: {key}") for key, read in _TIMES.items() if key in fields}
    if "trace" in fields:
        changes["trace"] = str(folder / str(fields["trace"]))
    tokens = (base.tokens or TokenLoad()).model_copy(update=changes)
    rate = _positive(parse_rate, fields["rate"], f"{where}: rate") if "rate" in fields else base.rate_per_s
    duration = _seconds(fields["duration"], f"{where}: duration") if "duration" in fields else base.duration_s
    scenario = fields.get("scenario", "closed_loop" if "users" in fields else "server")
    _refuse_contradiction(scenario, fields, tokens, where)
    closed = scenario == "closed_loop"
    return Phase(
        scenario="closed_loop" if closed else "server",
        rate_per_s=None if closed else rate,
        duration_s=duration,
        limits=_limits(fields.get("limits", list(base.limits)), f"{where}: limits"),
        tokens=tokens if closed else tokens.model_copy(update={"users": None}),
    )


def _refuse_contradiction(scenario: object, fields: Mapping[str, Any], tokens: TokenLoad, where: str) -> None:
    if scenario not in ("server", "closed_loop"):
        raise UserError(f"{where}: scenario {scenario} knows no tokens", "take server (a rate) or closed_loop (users)")
    if scenario == "closed_loop" and (tokens.users is None or "rate" in fields or "trace" in fields):
        raise UserError(f"{where}: a closed loop has users, and neither rate nor trace", "write users: 8")
    if scenario == "server" and "users" in fields:
        raise UserError(f"{where}: a server phase has a rate, not users", "write rate: 6.5/s, or scenario: closed_loop")
    if tokens.shared_prefix_tokens and tokens.shared_prefix_tokens >= tokens.input_tokens.mean:
        raise UserError(
            f"{where}: shared_prefix_tokens {tokens.shared_prefix_tokens} leave nothing of the input's own",
            f"give less than the mean input, {tokens.input_tokens.mean:g}",
        )


def _counts(data: object, where: str) -> TokenCounts:
    remedy = "write a number, {mean: 1155, p90: 1932}, or a list such as [128, 512]"
    if isinstance(data, Mapping):
        return _log_normal(mapping_of(data, where), where, remedy)
    values: list[Any] = data if isinstance(data, list) else [data]
    if not values or not all(_is_count(value) and value == int(value) for value in values):
        raise UserError(f"{where}: {data} is no number of tokens", remedy)
    several = tuple(int(value) for value in values) if len(values) > 1 else ()
    return TokenCounts(mean=sum(values) / len(values), values=several)


def _log_normal(data: Mapping[str, Any], where: str, remedy: str) -> TokenCounts:
    only_keys(data, ("mean", "p90"), where)
    mean: Any = data.get("mean")
    p90: Any = data.get("p90", mean)
    if not _is_count(mean) or not _is_count(p90):
        raise UserError(f"{where}: {dict(data)} gives no mean of 1 or more", remedy)
    if not mean <= p90 <= WIDEST_P90 * mean:
        raise UserError(
            f"{where}: no log-normal has mean {mean:g} and p90 {p90:g}", f"give a p90 of 1 to {WIDEST_P90:.2f} means"
        )
    return TokenCounts(mean=mean, p90=p90 if p90 > mean else None)


def _is_count(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 1 <= value <= _MOST_TOKENS


def _whole(least: int, most: int = _MOST_TOKENS) -> Any:
    def read(value: object, where: str) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise UserError(f"{where} {value} is no whole number from {least} to {most}", "write one")
        return value

    return read


def _at_least(least: float) -> Any:
    def read(value: object, where: str) -> float:
        if not isinstance(value, int | float) or isinstance(value, bool) or not least <= value < math.inf:
            raise UserError(f"{where} {value} is no number of {least:g} or more", "write one")
        return float(value)

    return read


def _peak(value: object, where: str) -> float:
    number: float = _at_least(1.0)(value, where)
    if number > 2:
        raise UserError(f"{where} {value}: a sine around its mean reaches twice the mean", "write 1 to 2")
    return number


def _seconds(value: object, where: str) -> float:
    return _positive(lambda text: parse_quantity(text, "s"), value, where)


def _pause(value: object, where: str) -> float:
    return 0.0 if str(value) in ("0", "0s", "0.0") else _seconds(value, where)


def _positive(read: Any, value: object, where: str) -> float:
    with named(where):
        number: float = read(str(value))
    if not 0 < number < math.inf:
        raise UserError(f"{where} {value} is not above 0", "give for example rate: 6.5/s, duration: 600s")
    return number


def _arrivals(value: object, where: str) -> Arrivals:
    known = get_args(Arrivals)
    if value not in known:
        raise UserError(f"{where}: there are no {value!r}{nearest(str(value), known)}", f"known: {', '.join(known)}")
    return cast("Arrivals", value)


def _shares(value: object, where: str) -> tuple[float, ...]:
    shares: list[Any] = value if isinstance(value, list) else [value]
    if not shares or not all(_at_least(0.0)(share, where) >= 0 for share in shares) or sum(shares) <= 0:
        raise UserError(f"{where} {value} are no shares", "give each level's, most urgent first: [0.2, 0.8]")
    return tuple(float(share) for share in shares)


def _limits(data: object, where: str) -> tuple[str, ...]:
    texts: list[Any] = data if isinstance(data, list) else [data]
    with named(where):
        return tuple(parse_limit(str(text)).text for text in texts)


_READERS: dict[str, Any] = {
    "users": _whole(1, 100_000),
    "input_tokens": _counts,
    "output_tokens": _counts,
    "shared_prefix_tokens": _whole(0),
    "turns": _whole(1, 1000),
    "arrivals": _arrivals,
    "burstiness": _at_least(0.05),
    "peak": _peak,
    "requests": _whole(1, 5_000_000),
    "seed": _whole(0, 2**31),
    "priorities": _shares,
}
_TIMES: dict[str, Any] = {"think_time": _pause, "period": _seconds}
