from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.core.errors import UserError
from autotune.models import read_model
from autotune.testing import onnx_models


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return onnx_models.with_external_data(tmp_path_factory.mktemp("models") / "m.onnx", hidden=4)


@settings(deadline=None, max_examples=200)
@given(damage=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), min_size=1, max_size=4))
def test_a_damaged_model_is_read_or_refused_but_never_a_bug(whole: Path, damage: list[tuple[float, int]]) -> None:
    content = bytearray(whole.read_bytes())
    for place, byte in damage:
        content[int(place * len(content))] = byte
    path = whole.with_name("damaged.onnx")
    path.write_bytes(content)
    with suppress(UserError):
        read_model(path)


def test_names_that_are_no_text_are_refused(whole: Path) -> None:
    path = whole.with_name("bytes.onnx")
    path.write_bytes(whole.read_bytes().replace(b"Relu", b"\xff\xfe\xfd\xfc"))
    with pytest.raises(UserError, match="not text"):
        read_model(path)


def test_an_unknown_element_type_is_refused_by_number(tmp_path: Path) -> None:
    nodes = [onnx_models.node("Identity", ["x"], ["y"])]
    ends = [onnx_models.value(name, [1], 108) for name in ("x", "y")]
    with pytest.raises(UserError, match="element type 108"):
        read_model(onnx_models.save(tmp_path / "m.onnx", nodes, ends[:1], ends[1:]))
