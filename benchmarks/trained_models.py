"""Models that are trained here, in minutes: the shipped digits classifier with more channels, trained in the same way.

    python -m benchmarks.trained_models FOLDER

writes ``wide_digits.onnx`` and ``wide_digits.npz`` (the half of the images that it never saw). It needs the extra ``bench``.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np

__all__ = ["wide_digits"]

WIDTH = 2


def wide_digits(folder: Path) -> tuple[Path, Path]:
    """Return the model and its labelled data, made now (about three minutes on two cores) unless ``folder`` has them."""
    model, data = folder / "wide_digits.onnx", folder / "wide_digits.npz"
    if not (model.exists() and data.exists()):
        example = _example()
        train_images, test_images, train_labels, test_labels = example.data()
        net = example.trained(train_images, train_labels, WIDTH)
        np.savez_compressed(data, image=test_images, labels=test_labels)
        example.export(net, model)
    return model, data


def _example() -> ModuleType:
    """The shipped example's own script: it lies beside its model, in no package."""
    file = Path(__file__).parents[1] / "examples" / "digits" / "make.py"
    spec = importlib.util.spec_from_file_location("digits_make", file)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    print(*wide_digits(target))
