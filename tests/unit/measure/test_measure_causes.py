from __future__ import annotations

import signal
from pathlib import Path

import pytest

from autotune.core.errors import BuildError
from autotune.measure.causes import cause_of_error, cause_of_exit, cause_of_text
from autotune.measure.lifetime import oom_kills, peak_memory_bytes


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("std::bad_alloc", "out_of_memory"),
        ("Failed to allocate memory for requested buffer of size 9", "out_of_memory"),
        ("Fatal error: acme:Foo(-1) is not a registered function/op", "custom_op"),
        ("[ONNXRuntimeError] : 9 : NOT_IMPLEMENTED : Could not find an implementation for X", "unsupported"),
        ("the axis is wrong", "other"),
    ],
)
def test_causes_are_read_from_a_runtimes_words(text: str, cause: str) -> None:
    assert cause_of_text(text) == cause
    assert cause_of_error(RuntimeError(text)) == (cause, f"RuntimeError: {text}")


def test_an_error_that_knows_its_cause_keeps_it() -> None:
    assert cause_of_error(BuildError("disk", "full")) == ("disk", "full")


def test_a_kill_is_for_memory_only_when_the_kernel_killed_for_it() -> None:
    assert cause_of_exit(-signal.SIGKILL, "", 1)[0] == "out_of_memory"
    assert cause_of_exit(-signal.SIGKILL, "", 0) == ("crash", "the session's process ended by SIGKILL")
    assert cause_of_exit(-signal.SIGSEGV, "", 1)[0] == "crash"


def test_last_words_are_in_the_message() -> None:
    cause, message = cause_of_exit(-signal.SIGABRT, "first\nterminate called\n\n", 0)
    assert (cause, message) == ("crash", "the session's process ended by SIGABRT: terminate called")
    assert cause_of_exit(-signal.SIGABRT, "what():  std::bad_alloc\n", 0)[0] == "out_of_memory"
    assert cause_of_exit(1, "", 0) == ("crash", "the session's process exited with status 1")
    assert cause_of_exit(None, "", 0)[0] == "crash"


def test_memory_kills_are_read_from_either_cgroup_version(tmp_path: Path) -> None:
    proc, cgroups = tmp_path / "proc", tmp_path / "cgroup"
    (cgroups / "memory").mkdir(parents=True)
    proc.mkdir()
    assert oom_kills(proc, cgroups) == 0
    (proc / "vmstat").write_text("nr_free 1\noom_kill 2\n")
    assert oom_kills(proc, cgroups) == 2
    (cgroups / "memory/memory.oom_control").write_text("under_oom 0\noom_kill 5\n")
    assert oom_kills(proc, cgroups) == 5


def test_peak_memory_is_unknown_where_it_cannot_be_read(tmp_path: Path) -> None:
    assert peak_memory_bytes(tmp_path / "status") is None
    (tmp_path / "status").write_text("VmPeak: 9 kB\nVmHWM:\t   12 kB\n")
    assert peak_memory_bytes(tmp_path / "status") == 12 * 1024
