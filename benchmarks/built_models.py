"""Models of a wanted cost, built in code: a stack of equal convolutions."""

from __future__ import annotations

from pathlib import Path

from autotune.testing.onnx_models import node, save, value, weight

__all__ = ["conv_stack", "slowed_conv_stack"]

_PADDED = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
_UNHEARD = 1e-30  # times this, what is added changes no float32 score


def conv_stack(path: Path, layers: int = 9, channels: int = 32, size: int = 56) -> Path:
    """``image[N,3,size,size]`` → a first convolution, ``layers`` equal ones, pooling → ``scores[N,10]``.

    With the defaults a run takes about 2 ms on two cores of 2020's; with 64 channels about 7 ms.
    """
    return _write(path, layers, channels, size, slowed=False)


def slowed_conv_stack(path: Path, layers: int = 9, channels: int = 32, size: int = 56) -> Path:
    """The same function of the same weights, with one more of the equal convolutions: about ``1 / layers`` more work.

    It convolves an earlier layer's output with the last layer's weights, so that the file grows by a few nodes only, and its
    result reaches the scores, so that no optimisation can leave it out.
    """
    return _write(path, layers, channels, size, slowed=True)


def _write(path: Path, layers: int, channels: int, size: int, *, slowed: bool) -> Path:
    weights = {"w0": weight(0, channels, 3, 3, 3), "head": weight(1, channels, 10)}
    nodes = _layer("image", 0)
    for index in range(1, layers + 1):
        weights[f"w{index}"] = weight(index + 1, channels, channels, 3, 3)
        nodes += _layer(f"r{index - 1}", index)
    nodes += _head(f"r{layers}", "plain" if slowed else "scores")
    if slowed:
        weights["unheard"] = weight(0, 1) * 0 + weight(0, 1).dtype.type(_UNHEARD)
        nodes += [node("Conv", [f"r{layers - 2}", f"w{layers}"], ["more"], **_PADDED)]
        nodes += _head("more", "added")
        nodes += [node("Mul", ["added", "unheard"], ["soft"]), node("Add", ["plain", "soft"], ["scores"])]
    return save(path, nodes, [value("image", ["N", 3, size, size])], [value("scores", ["N", 10])], weights)


def _layer(source: str, index: int) -> list[object]:
    return [node("Conv", [source, f"w{index}"], [f"c{index}"], **_PADDED), node("Relu", [f"c{index}"], [f"r{index}"])]


def _head(source: str, target: str) -> list[object]:
    return [
        node("GlobalAveragePool", [source], [f"{target}_pooled"]),
        node("Flatten", [f"{target}_pooled"], [f"{target}_flat"]),
        node("MatMul", [f"{target}_flat", "head"], [target]),
    ]
