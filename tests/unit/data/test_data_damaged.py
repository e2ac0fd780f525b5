from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.core.errors import UserError
from autotune.core.model import BatchAxis, ModelFacts, TensorFacts
from autotune.data import open_data, open_dataset

MODEL = ModelFacts(
    path=Path("m.onnx"),
    format="onnx",
    sha256="0",
    files=("m.onnx",),
    size_bytes=1,
    inputs=(TensorFacts(name="x", dtype="float32", shape=("N", 16)),),
    outputs=(),
    batch=BatchAxis(works=False, symbol="N"),
    dims={"N": 1},
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data")


@pytest.mark.parametrize("write", [np.savez, np.savez_compressed])
@settings(deadline=None, max_examples=100)
@given(damage=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), min_size=1, max_size=4))
def test_a_damaged_archive_is_read_or_refused_but_never_a_bug(
    folder: Path, write: Any, damage: list[tuple[float, int]]
) -> None:
    path = folder / "d.npz"
    write(path, x=np.linspace(0, 1, 80, dtype=np.float32).reshape(5, 16), labels=np.arange(5))
    content = bytearray(path.read_bytes())
    for place, byte in damage:
        content[int(place * len(content))] = byte
    path.write_bytes(content)
    with suppress(UserError):
        open_dataset(open_data(str(path), MODEL, 0), MODEL).sample(0)
