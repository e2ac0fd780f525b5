from __future__ import annotations

from pathlib import Path

import pytest

from autotune_backends.onnxruntime.numa import numa_nodes


@pytest.mark.parametrize(("listed", "count"), [("0\n", 1), ("0-1\n", 2), ("0-1,4\n", 3), ("", 1), ("nonsense", 1)])
def test_online_nodes_are_counted(tmp_path: Path, listed: str, count: int) -> None:
    file = tmp_path / "sys/devices/system/node/online"
    file.parent.mkdir(parents=True)
    file.write_text(listed)
    assert numa_nodes(tmp_path) == count


def test_where_nothing_tells_there_is_one(tmp_path: Path) -> None:
    assert numa_nodes(tmp_path) == 1
