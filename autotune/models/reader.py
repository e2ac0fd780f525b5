"""Reads a model of any format known here."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from autotune.core.errors import UserError
from autotune.core.model import ModelFacts

__all__ = ["read_model"]

_LIBRARY_MAGIC = (b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"MZ")
"""How a library file begins: ELF (elf(5)), Mach-O (mach-o/loader.h, mach-o/fat.h), PE."""


def read_model(path: Path, dims: Mapping[str, int] | None = None, custom_op_library: Path | None = None) -> ModelFacts:
    """Return what the files of the model at ``path`` tell, without running it.

    ``dims`` sizes symbolic dimensions (``{"N": 4}``); the others get sensible defaults. ``custom_op_library`` None: a model
    with operators of its own is refused. Raises ``UserError`` for a model that cannot be read or that the runtime is too
    old for. Of an ONNX model, only its own protobuf is loaded; weights in external data are hashed by chunks. Of an exported
    program (``.pt2``), nothing is loaded: its archive is read.
    """
    _refuse_other_formats(path)
    _refuse_missing_library(custom_op_library)
    if path.suffix == ".pt2":
        return _program(path, dims or {}, custom_op_library)
    from autotune.models.onnx_facts import read_onnx

    return read_onnx(path.absolute(), dims or {}, custom_op_library.absolute() if custom_op_library else None)


def _program(path: Path, dims: Mapping[str, int], custom_op_library: Path | None) -> ModelFacts:
    from autotune.models.pt2_facts import read_pt2

    if custom_op_library is not None:
        raise UserError(
            "--custom-op-lib is for ONNX models", "leave it out: a program has PyTorch's own operators alone"
        )
    return read_pt2(path.absolute(), dims)


def _refuse_other_formats(path: Path) -> None:
    if not path.exists():
        raise UserError(f"there is no model at {path}", "give the path of an .onnx or a .pt2 file")
    if path.is_dir():
        raise UserError(f"{path} is a folder", "give the path of the .onnx or .pt2 file in it")
    if path.suffix in {".pt", ".pth", ".safetensors", ".gguf", ".tflite"}:
        raise UserError(
            f"{path.name}: {path.suffix} models cannot be read yet",
            "export the model to ONNX, or with torch.export to .pt2",
        )


def _refuse_missing_library(library: Path | None) -> None:
    if library is not None and not library.is_file():
        raise UserError(f"--custom-op-lib: there is no file {library}", "give the path of the shared library")
    if library is not None and not _begins_as_library(library):
        raise UserError(
            f"--custom-op-lib: {library.name} is no shared library", "give the .so that holds the operators"
        )


def _begins_as_library(file: Path) -> bool:
    with file.open("rb") as stream:
        return stream.read(4).startswith(_LIBRARY_MAGIC)
