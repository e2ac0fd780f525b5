"""Silero's detectors of speech, all variants that its wheel holds: a branch on the sampling rate, states, a loop over chunks.

The sound is made here (voiced syllables, pauses, noise); each state is what the model itself returned for the chunk before.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.wheel_models import package

__all__ = ["SILERO", "silero"]

SILERO: Final = (
    "silero_vad",
    "silero_vad_16k_op15",
    "silero_vad_16k_sequence",
    "silero_vad_half",
    "silero_vad_op18_ifless",
    "silero_vad_openvino_16k",
)
RATE: Final = 16_000  # Hz
CHUNK, CONTEXT = 512, 64  # samples: what the model hears at once, and what it is given of the chunk before
CHUNKS: Final = 256
LONG: Final = 32  # chunks in one request of the variant that takes a sequence
_STATES: Final = {"stateN": "state", "hn": "h", "cn": "c"}


def silero(name: str, folder: Path) -> tuple[Path, Path]:
    """Copy the variant ``name``, and write its inputs chunk by chunk."""
    model, data = folder / f"{name}.onnx", folder / f"{name}.npz"
    shutil.copy(package("silero_vad") / "data" / model.name, model)
    requests = list(_requests(model))
    np.savez_compressed(data, **{key: np.stack([request[key] for request in requests]) for key in requests[0]})
    return model, data


def _requests(model: Path) -> Iterator[dict[str, NDArray[Any]]]:
    """Each request as the model takes it."""
    import onnxruntime

    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    shapes = {one.name: one.shape for one in session.get_inputs()}
    names = [one.name for one in session.get_outputs()]
    feed: dict[str, NDArray[Any]] = {name: _first(name, shape) for name, shape in shapes.items()}
    for chunk in _chunks(LONG if "h" in shapes else 1):
        feed = {**feed, "input": chunk}
        yield feed
        answers = dict(zip(names, session.run(names, feed), strict=True))
        feed |= {_STATES[name]: answer for name, answer in answers.items() if name in _STATES}


def _first(name: str, shape: list[Any]) -> NDArray[Any]:
    if name == "sr":
        return np.array(RATE, np.int64)
    return np.zeros([size if isinstance(size, int) else 1 for size in shape], np.float32)


def _chunks(rows: int) -> Iterator[NDArray[np.float32]]:
    """Shape ``[rows, CONTEXT + CHUNK]``."""
    sound = _sound(CONTEXT + CHUNK * CHUNKS * (rows > 1) * 4 + CHUNK * CHUNKS)
    windows = np.lib.stride_tricks.sliding_window_view(sound, CONTEXT + CHUNK)[::CHUNK]
    for start in range(0, len(windows) - rows + 1, rows):
        yield np.ascontiguousarray(windows[start : start + rows])


def _sound(count: int) -> NDArray[np.float32]:
    """Voiced syllables of a fifth of a second between pauses: harmonics of 110 to 180 Hz under two formants, and noise."""
    time, random = np.arange(count) / RATE, np.random.default_rng(0)
    pitch = 145 + 35 * np.sin(2 * np.pi * 0.7 * time)
    phase = 2 * np.pi * np.cumsum(pitch) / RATE
    weights = [np.exp(-(((number * 145 - 600) / 400) ** 2)) + 0.1 for number in range(1, 25)]
    voice = sum(weight * np.sin(number * phase) for number, weight in enumerate(weights, 1))
    syllables = np.clip(np.sin(2 * np.pi * 2.5 * time), 0, None) * (np.sin(2 * np.pi * 0.3 * time) > -0.3)
    mixed = 0.08 * voice * syllables + 0.01 * random.standard_normal(count)
    return np.asarray(mixed, np.float32)
