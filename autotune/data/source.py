"""What ``--data`` may name: an ``.npz`` file, a folder of ``.npy`` files or of images, or a function that yields samples."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from autotune.core.dataset import DataFacts
from autotune.core.errors import UserError
from autotune.core.model import ModelFacts
from autotune.data.array_source import ArraySource
from autotune.data.dataset import Dataset, Fit
from autotune.data.image_files import holds_images
from autotune.data.image_source import ImageSource
from autotune.data.loader_source import LoaderSource, reopened
from autotune.user_code import names_function

__all__ = ["Source", "described_source", "open_source"]

_SUPPORTED = "give an .npz file or a folder of .npy files (one array per input), an image folder, or module:function"


class Source(Protocol):
    """The user's data, found but not yet held against a model."""

    @property
    def path(self) -> Path:
        """Where the samples are, as an absolute path."""
        ...

    @property
    def preprocess(self) -> str | None:
        """What was asked to be done to each image, maybe nothing; None: they are no images."""
        ...

    @property
    def loader(self) -> str | None:
        """The function that yields the samples, as ``module:function``; None: they are files."""
        ...

    def sha256(self) -> str:
        """The hash of all that the samples follow from."""
        ...

    def fit(self, model: ModelFacts) -> Fit:
        """Hold the data against the model. Raises ``UserError`` at the first thing that does not fit."""
        ...

    def dataset(self, model: ModelFacts) -> Dataset:
        """The samples, for a model that the data fit."""
        ...


def open_source(spec: str, preprocess: str | None = None) -> Source:
    """Find what ``spec`` names. ``preprocess``: as on the command line, for images only. Raises ``UserError``."""
    path = Path(spec).absolute()
    if path.is_dir() and holds_images(path):
        return ImageSource.open(path, preprocess)
    if preprocess is not None:
        raise UserError(f"--preprocess is for image folders, and {spec} is none", "leave it out")
    if path.is_dir():
        return ArraySource.of_folder(path)
    if path.is_file():
        return ArraySource.of_file(path)
    if names_function(spec):
        return LoaderSource.open(spec)
    raise UserError(f"--data: there is no file or folder {spec}", _SUPPORTED)


def described_source(data: DataFacts) -> Source:
    """Open what ``data`` describes. ``data.path`` is not None. Raises ``UserError`` when it has gone."""
    assert data.path is not None
    if data.loader is not None:
        return reopened(data.loader, data.path)
    return open_source(str(data.path), data.preprocess)
