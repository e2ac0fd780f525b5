from __future__ import annotations

import errno

import pytest

from autotune_backends.onnxruntime.failures import cause_of, message_of


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (MemoryError(), "out_of_memory"),
        (RuntimeError("std::bad_alloc"), "out_of_memory"),
        (OSError(errno.ENOSPC, "No space left on device"), "disk"),
        (RuntimeError("Fatal error: acme:Foo(-1) is not a registered function/op"), "custom_op"),
        (RuntimeError("NOT_IMPLEMENTED : Could not find an implementation for Foo"), "unsupported"),
        (AssertionError(), "other"),
    ],
)
def test_causes(error: Exception, cause: str) -> None:
    assert cause_of(error) == cause


def test_a_bare_assertion_still_says_what_it_was() -> None:
    assert message_of(AssertionError()) == "AssertionError"


def test_a_tools_message_is_one_line() -> None:
    assert message_of(ValueError("axis\n  of  range")) == "ValueError: axis of range"


def test_the_runtimes_prefix_and_source_lines_are_left_out() -> None:
    from onnxruntime.capi.onnxruntime_pybind11_state import Fail

    error = Fail(
        "[ONNXRuntimeError] : 1 : FAIL : Name:'r' Status Message: /onnxruntime_src/onnxruntime/core/a.h:91 "
        "onnxruntime::Helper::Helper(const T&, V&, bool) cannot be reshaped"
    )
    assert message_of(error) == "Name:'r' Status Message: cannot be reshaped"
