"""A search is resumed where it began, or not at all."""

from __future__ import annotations

from typing import Any

import pytest

from autotune.api.same_machine import difference_between
from autotune.core.environment import Environment

BEGAN = Environment(
    cpu_model="Example 9000",
    isa=("avx2", "avx512_vnni"),
    cpus=4,
    memory_bytes=2**34,
    os="Linux 6.1 x86_64",
    python="3.11.2",
    versions={"autotune": "0.1", "onnxruntime": "1.32.0"},
)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"isa": ("avx2",)}, "another machine"),
        ({"cpu_model": "Example 9001"}, "Example 9001"),
        ({"cpus": 2}, "2 CPUs"),
        ({"versions": {"autotune": "0.1", "onnxruntime": "1.33.0"}}, "onnxruntime 1.32.0, and 1.33.0"),
    ],
    ids=["instruction set", "CPU", "CPUs", "runtime"],
)
def test_what_numbers_depend_on_is_told_when_it_changed(changed: dict[str, Any], said: str) -> None:
    assert said in (difference_between(BEGAN, BEGAN.model_copy(update=changed)) or "")


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"os": "Linux 6.2 x86_64", "python": "3.11.9", "memory_bytes": 2**33},
        {"versions": {"autotune": "0.1", "onnxruntime": "1.32.0", "openvino": "2026.1"}},
        {"versions": {"autotune": "0.1"}},
    ],
    ids=["nothing", "system", "another runtime was added", "a runtime was removed"],
)
def test_what_numbers_do_not_depend_on_may_change(changed: dict[str, Any]) -> None:
    assert difference_between(BEGAN, BEGAN.model_copy(update=changed)) is None
