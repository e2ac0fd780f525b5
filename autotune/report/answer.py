"""The answer in one sentence: what to use, how much better it is, at what loss.

Nothing is called better or worse unless its paired interval excludes 1.00.
"""

from __future__ import annotations

from autotune.core.candidate import Candidate
from autotune.core.figures import certainty, format_ratio, format_value, improvement
from autotune.core.front import BASELINE_ID, Front, Point
from autotune.core.metrics import find_metric, percentile_of
from autotune.core.values import Value
from autotune.report.graph_answer import graph_choice, graph_sentence, is_graph
from autotune.report.simulated_answer import by_cost, simulated_sentence

__all__ = ["answer_sentence", "describe", "difference", "gains_and_losses", "quality_text", "recommended"]

# metric family -> (what a better one is, what a worse one is)
_WORDS = {
    "latency": ("faster", "slower"),
    "throughput": ("more throughput", "less throughput"),
    "energy": ("less energy", "more energy"),
    "power": ("less power", "more power"),
    "memory": ("less memory", "more memory"),
    "size": ("smaller", "larger"),
}


def answer_sentence(front: Front) -> str:
    """Say what to use. Where nothing is certainly better than the original, say so, and to keep it."""
    if not front.points and front.limits:
        return f"Nothing holds every limit ({', '.join(front.limits)}); the original: {_original(front)}."
    if front.kind == "simulated" and (sentence := graph_sentence(front) or simulated_sentence(front)) is not None:
        return sentence
    point = recommended(front)
    if point is None and front.tried == 0:
        return f"Nothing is known yet: no candidate was tried before the search ended ({_original(front)})."
    unconfirmed = [one.id for one in front.points if one.id != BASELINE_ID and not one.ratios]
    if point is None and unconfirmed and front.kind == "real":
        return (
            f"Nothing is certain yet: {', '.join(unconfirmed[:3])} may beat the original, but the search ended before that "
            f"was measured side by side ({_original(front)})."
        )
    if point is None:
        return f"Nothing beats the original: keep it as it is ({_original(front)})."
    gains, worse = gains_and_losses(front, point)
    text = (
        f"Use {point.id} ({difference(point.candidate, front.baseline.candidate)}): {_joined(gains)} than the original"
    )
    price = f", but {_joined(worse)}" if worse else ""
    return f"{text}{price}, with {quality_text(front, point)}."


def recommended(front: Front) -> Point | None:
    """The knee when it is certainly better than the original in some objective, else the point with the most to gain.

    None: no point is certainly better in any. Of a simulated front, the cheapest; of a graph's, the knee.
    """
    if is_graph(front):
        return graph_choice(front)
    if front.kind == "simulated" and simulated_sentence(front) is not None:
        return by_cost(front)[0]
    better = [point for point in front.points if point.id != BASELINE_ID and _better(front, point)]
    knee = next((point for point in better if point.id == front.knee), None)
    return knee or max(better, key=lambda point: _gain(front, point), default=None)


def gains_and_losses(front: Front, point: Point) -> tuple[list[str], list[str]]:
    """The objectives with a unit in which ``point`` is certainly better, and those in which it is certainly worse, in words."""
    gains, worse = [], []
    for name in _relative(front):
        ratio = point.ratios.get(name)
        verdict = certainty(name, ratio)
        if ratio is not None and verdict == "better":
            gains.append(_words(name, ratio, better=True))
        elif ratio is not None and verdict == "worse":
            worse.append(_words(name, ratio, better=False))
    if _more_accurate(point):
        gains.append("more accurate")
    return gains, worse


def quality_text(front: Front, point: Point) -> str:
    """What quality is lost: the paired drop of accuracy, or how near the outputs are to the original's."""
    quality = point.metrics.get(front.quality)
    if quality is None or not quality.known:
        return f"unknown {front.quality}"
    if front.quality == "fidelity":
        return f"fidelity {format_value('fidelity', quality, interval=True)} to its outputs"
    original = front.baseline.metrics.get("accuracy")
    against = f" against {format_value('accuracy', original)}" if original is not None and original.known else ""
    drop = point.metrics.get("accuracy_drop")
    paired = (
        f", a drop of {format_value('accuracy_drop', drop, interval=True)}" if drop is not None and drop.known else ""
    )
    return f"accuracy {format_value('accuracy', quality)}{against}{paired}"


def difference(candidate: Candidate, baseline: Candidate) -> str:
    """The parameters that differ from the baseline's, as ``name=value``; those that only the baseline has, as ``no name``.

    Another runtime has parameters of its own: that the baseline's do not apply to it goes without saying.
    """
    changed = [
        f"{name}={value}" for name, value in candidate.items() if name not in baseline or baseline[name] != value
    ]
    alike = candidate.get("runtime") == baseline.get("runtime")
    gone = [f"no {name}" for name in baseline if alike and name not in candidate]
    return " ".join([*changed, *gone]) or "the original’s own parameters"


def describe(front: Front, point: Point) -> str:
    """The candidate in words; the baseline's in full. Of a graph on simulated devices, which device too."""
    if is_graph(front):
        return f"{point.device}, {point.candidate.without('runtime')}"
    if point.id == BASELINE_ID:
        return str(point.candidate) or "runtime defaults"
    return difference(point.candidate, front.baseline.candidate)


def _original(front: Front) -> str:
    shown = (
        f"{find_metric(name).label} {format_value(name, value)}"
        for name in (entry.metric for entry in front.objectives)
        if (value := front.baseline.metrics.get(name)) is not None
    )
    return ", ".join(shown)


def _relative(front: Front) -> list[str]:
    return [entry.metric for entry in front.objectives if find_metric(entry.metric).relative]


def _better(front: Front, point: Point) -> bool:
    return any(certainty(name, point.ratios.get(name)) == "better" for name in _relative(front)) or _more_accurate(
        point
    )


def _more_accurate(point: Point) -> bool:
    drop = point.metrics.get("accuracy_drop")
    return drop is not None and drop.high is not None and drop.high < 0


def _gain(front: Front, point: Point) -> float:
    """The largest certain improvement: its interval's low end."""
    turned = (improvement(name, ratio) for name in _relative(front) if (ratio := point.ratios.get(name)) is not None)
    return max((value.interval()[0] for value in turned if value.known), default=0.0)


def _words(name: str, ratio: Value, *, better: bool) -> str:
    family = next((family for family in _WORDS if name.startswith(family) or name.endswith(family)), None)
    word = (
        _WORDS[family][0 if better else 1] if family else f"{'better' if better else 'worse'} {find_metric(name).label}"
    )
    percentile = percentile_of(name)
    if percentile is not None and percentile != 50:
        word = f"{word} at p{percentile:g}"
    shown = ratio if better else _inverse(ratio)
    text = format_ratio(name, shown)
    if ratio.provenance != "measured":
        text = f"{text[:-1]}, {ratio.provenance})" if text.endswith(")") else f"{text} ({ratio.provenance})"
    number, _, interval = text.partition(" ")
    return f"{number} {word} {interval}".strip()


def _inverse(ratio: Value) -> Value:
    """How many times worse, from how many times better."""
    assert ratio.value is not None
    ends = {"low": 1 / ratio.high if ratio.high else None, "high": 1 / ratio.low if ratio.low else None}
    return ratio.model_copy(update={"value": 1 / ratio.value, **ends})


def _joined(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
