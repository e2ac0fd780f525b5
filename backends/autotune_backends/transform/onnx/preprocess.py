"""onnxruntime's own preparation for its quantiser: shapes inferred, constants folded. Parts that fail are left out."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autotune_backends.transform.onnx.change import Change
from autotune_backends.transform.onnx.copying import copy_model
from autotune_backends.transform.onnx.graph import external_files, load_graph

__all__ = ["Preprocess", "one_line", "quiet_tools"]

_ATTEMPTS: tuple[tuple[str, ...], ...] = (
    (),
    ("symbolic_shape",),
    ("symbolic_shape", "optimization"),
)


@dataclass(frozen=True)
class Preprocess:
    """``external``: weights go to a file of their own. ``custom_ops``: onnxruntime cannot optimise what it cannot load."""

    external: bool = False
    custom_ops: bool = False

    def __call__(self, source: Path, target: Path) -> Change:
        """Write the prepared model; with every part failing, a copy. ``facts``: ``skipped`` parts, ``because`` of what."""
        facts: dict[str, Any] = {}
        for skipped in _ATTEMPTS[2:] if self.custom_ops else _ATTEMPTS:
            facts = facts | {"skipped": list(skipped)} if skipped else facts
            try:
                self._prepare(source, target, skipped)
            except Exception as error:  # whatever these tools raise, less preparation is left to try
                facts = {"because": one_line(error)} | facts
            else:
                return Change("preprocess", facts)
        copy_model(source, external_files(load_graph(source)), target)
        return Change("preprocess", facts | {"skipped": ["all"]})

    def _prepare(self, source: Path, target: Path, skipped: tuple[str, ...]) -> None:
        from onnxruntime.quantization.shape_inference import quant_pre_process

        with quiet_tools():
            quant_pre_process(
                str(source),
                str(target),
                save_as_external_data=self.external,
                all_tensors_to_one_file=self.external,
                external_data_location=f"{target.name}.data" if self.external else None,
                **{f"skip_{part}": True for part in skipped},
            )


@contextmanager
def quiet_tools() -> Iterator[None]:
    """Silence the tools' log while inside: they log to the root logger and advise what is being done already."""
    previous = logging.root.manager.disable
    logging.disable(logging.ERROR)
    try:
        yield
    finally:
        logging.disable(previous)


def one_line(error: BaseException, limit: int = 300) -> str:
    """Type and message of an error, on one line of at most ``limit`` characters."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}"[:limit] if text else type(error).__name__
