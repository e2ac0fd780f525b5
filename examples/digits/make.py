"""Makes ``model.onnx`` and ``test.npz``: a small CNN trained on scikit-learn's digits, and the half that it never saw.

Needs more than autotune itself::

    pip install torch==2.13.0 scikit-learn onnx onnxscript
    python make.py

Both files are committed: run this only to change the model. On another CPU or another release of PyTorch the weights
come out a little different.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import Tensor, nn

HERE = Path(__file__).resolve().parent
SEED = 7
EPOCHS = 40
OPSET = 20
IR_VERSION = 10


class DigitsNet(nn.Module):
    """Images ``[n, 1, 8, 8]``, values 0 to 16, to logits ``[n, 10]``; enlarged to 32 × 32 first, as a camera would see them."""

    def __init__(self, width: int = 1) -> None:
        """``width`` times the channels of the example."""
        super().__init__()
        first, second, third, hidden = (count * width for count in (32, 48, 64, 256))
        self.features = nn.Sequential(
            nn.Upsample(scale_factor=4, mode="bilinear", align_corners=False),
            nn.Conv2d(1, first, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(first, first, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(first, second, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(second, third, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
        )
        self.classes = nn.Sequential(
            nn.Flatten(), nn.Linear(third * 4 * 4, hidden), nn.ReLU(), nn.Dropout(0.3), nn.Linear(hidden, 10)
        )

    def forward(self, image: Tensor) -> Tensor:
        """Return the logits."""
        return self.classes(self.features(image / 16.0))


def data() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Training images, test images, training labels, test labels: halves, balanced by class."""
    images, labels = load_digits(return_X_y=True)
    images = images.astype(np.float32).reshape(-1, 1, 8, 8)
    return train_test_split(images, labels.astype(np.int64), test_size=0.5, random_state=SEED, stratify=labels)


def trained(images: np.ndarray, labels: np.ndarray, width: int = 1) -> DigitsNet:
    """Train on batches of 32, noise of one grey level (of 16) added."""
    torch.manual_seed(SEED)
    net = DigitsNet(width)
    optimiser = torch.optim.AdamW(net.parameters(), lr=2e-3, weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, EPOCHS)
    inputs, targets = torch.from_numpy(images), torch.from_numpy(labels)
    for _ in range(EPOCHS):
        for chosen in torch.randperm(len(inputs)).split(32):
            noisy = inputs[chosen] + torch.randn_like(inputs[chosen])
            loss = nn.functional.cross_entropy(net(noisy), targets[chosen], label_smoothing=0.05)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        schedule.step()
    return net.eval()


def export(net: DigitsNet, path: Path) -> None:
    """Write the model with a free batch axis, weights inside the one file."""
    program = torch.onnx.export(
        net,
        (torch.zeros(2, 1, 8, 8),),
        input_names=["image"],
        output_names=["logits"],
        dynamic_shapes={"image": {0: torch.export.Dim("batch", min=1)}},
        opset_version=OPSET,
        dynamo=True,
    )
    model = program.model_proto
    model.ir_version = min(model.ir_version, IR_VERSION)
    for noted in (model.graph, *model.graph.node, *model.graph.value_info, *model.graph.input, *model.graph.output):
        del noted.metadata_props[:]  # the exporter's notes, some of which name folders of the machine that it ran on
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)


def main() -> None:
    """Make both files and print the accuracy on the held-out half."""
    train_images, test_images, train_labels, test_labels = data()
    net = trained(train_images, train_labels)
    with torch.no_grad():
        found = net(torch.from_numpy(test_images)).argmax(1).numpy()
    export(net, HERE / "model.onnx")
    np.savez_compressed(HERE / "test.npz", image=test_images, labels=test_labels)
    print(f"top-1 accuracy on {len(test_labels)} held-out images: {(found == test_labels).mean():.4f}")


if __name__ == "__main__":
    main()
