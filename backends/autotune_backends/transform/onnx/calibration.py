"""Ranges of a model's tensors on calibration samples: streamed, few samples' activations in memory at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from autotune.core.samples import Tensors
from autotune_backends.transform.onnx.plain_session import plain_session
from autotune_backends.transform.onnx.tool_words import quiet_tools

__all__ = ["ACTIVATION_BYTES", "METHODS", "groups", "tensor_ranges"]

METHODS = {"minmax": "MinMaxCalibrater", "entropy": "EntropyCalibrater", "percentile": "PercentileCalibrater"}
"""Our values → classes in ``onnxruntime.quantization.calibrate``. The percentile is the tool's own, 99.999."""

ACTIVATION_BYTES = 256 * 2**20
"""Activations that are kept before they become histograms; one sample's are kept however many they are."""

_MOST_SAMPLES = 32


def tensor_ranges(
    model: Path, samples: Iterable[Tensors], method: str, kinds: Sequence[str], external: bool, library: Path | None
) -> tuple[Any, int]:
    """Run the samples; return the ``TensorsData`` of the float tensors at operators of these ``kinds``, and the count.

    ``kinds`` empty: at all operators. The model's folder is written to. Raises ``ValueError`` when there are no samples.
    """
    from onnxruntime.quantization import calibrate

    augmented = model.with_name("augmented.onnx")
    with quiet_tools():
        calibrater = getattr(calibrate, METHODS[method])(
            str(model), list(kinds), augmented_model_path=str(augmented), use_external_data_format=external
        )
        calibrater.augment_graph()
        calibrater.infer_session = plain_session(augmented, library)
        count = 0
        for group in _sized_groups(samples, calibrater.infer_session):
            calibrater.collect_data(_Reader(group))
            count += len(group)
        return calibrater.compute_data(), count


def groups(samples: Iterable[Tensors], size: int) -> Iterator[list[Tensors]]:
    """Samples in order, at most ``size`` together and of equal shapes: their activations can then be stacked."""
    group: list[Tensors] = []
    for sample in samples:
        if group and (len(group) == size or _shapes(sample) != _shapes(group[0])):
            yield group
            group = []
        group.append(sample)
    if group:
        yield group


class _Reader:
    """What onnxruntime calls a ``CalibrationDataReader``."""

    def __init__(self, samples: Iterable[Tensors]) -> None:
        self._samples = iter(samples)

    def get_next(self) -> Tensors | None:
        """The next sample; None at the end."""
        return next(self._samples, None)


def _sized_groups(samples: Iterable[Tensors], session: Any) -> Iterator[list[Tensors]]:
    """Groups as large as the memory for activations allows, judged by the first sample's."""
    rest = iter(samples)
    first = next(rest, None)
    if first is None:
        raise ValueError("there are no calibration data")
    kept = sum(getattr(output, "nbytes", 0) for output in session.run(None, dict(first)))
    yield from groups(chain([first], rest), max(1, min(_MOST_SAMPLES, ACTIVATION_BYTES // max(kept, 1))))


def _shapes(sample: Tensors) -> dict[str, tuple[int, ...]]:
    return {name: array.shape for name, array in sample.items()}
