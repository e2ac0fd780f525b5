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
        (ModuleNotFoundError("No module named 'onnx_ir'", name="onnx_ir"), "unsupported"),
        (AssertionError(), "other"),
    ],
)
def test_causes(error: Exception, cause: str) -> None:
    assert cause_of(error) == cause


def test_a_bare_assertion_still_says_what_it_was() -> None:
    assert message_of(AssertionError()) == "AssertionError"


@pytest.mark.parametrize(("package", "extra"), [("onnx_ir", "int4"), ("sympy", "fusion"), ("torch", "torch")])
def test_a_missing_package_is_named_with_the_extra_that_has_it(package: str, extra: str) -> None:
    error = ModuleNotFoundError(f"No module named '{package}'", name=package)
    assert message_of(error) == f"needs the package {package}: pip install 'autotune-inference[{extra}]'"


def test_a_tools_message_is_one_line() -> None:
    assert message_of(ValueError("axis\n  of  range")) == "ValueError: axis of range"


def test_the_runtimes_prefix_and_source_lines_are_left_out() -> None:
    from onnxruntime.capi.onnxruntime_pybind11_state import Fail

    error = Fail(
        "[ONNXRuntimeError] : 1 : FAIL : Name:'r' Status Message: /onnxruntime_src/onnxruntime/core/a.h:91 "
        "onnxruntime::Helper::Helper(const T&, V&, bool) cannot be reshaped"
    )
    assert message_of(error) == "Name:'r' Status Message: cannot be reshaped"
