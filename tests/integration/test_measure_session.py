from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import psutil
import pytest

from autotune.core.artifact import Artifact
from autotune.core.candidate import Candidate
from autotune.core.device import DeviceSpec
from autotune.core.errors import MeasureError, OpenError, TrialError
from autotune.core.samples import Requests
from autotune.measure.session_process import SessionProcess

OPENERS = """
import ctypes, os, sys, time
import numpy as np
from autotune.core.errors import OpenError

class Doubling:
    def outputs(self, inputs):
        return {"y": inputs["x"] * 2}
    def bind(self, inputs):
        x = inputs["x"]
        return lambda: x * 2

class Dying(Doubling):
    def outputs(self, inputs):
        os.kill(os.getpid(), int(inputs["x"][0]))

class Raising(Doubling):
    def outputs(self, inputs):
        raise RuntimeError("shape mismatch in node 7")

class Hanging(Doubling):
    def outputs(self, inputs):
        time.sleep(60)

def hanging(artifact, device): return Hanging()
def never_open(artifact, device): time.sleep(60)
def doubling(artifact, device): return Doubling()
def dying(artifact, device): return Dying()
def raising(artifact, device): return Raising()
def abort(artifact, device): os.abort()
def unsupported(artifact, device): raise OpenError("unsupported", "this op is not for this device")
def starved(artifact, device): raise MemoryError("Failed to allocate 3 GB")
def allocating(artifact, device):
    sys.stderr.write("terminate called after throwing an instance of 'std::bad_alloc'\\n"); sys.stderr.flush(); os.abort()
def leaving(artifact, device): print("goodbye", file=sys.stderr, flush=True); os._exit(3)
def chatty(artifact, device): print("noise on stdout"); return Doubling()
def slow(artifact, device): time.sleep(0.2); return Doubling()
"""


@pytest.fixture
def open_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "measure_openers.py").write_text(OPENERS)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    artifact = Artifact(
        backend="test", folder=tmp_path, model="m", files=("m",), sha256="0", size_bytes=0, candidate=Candidate()
    )
    return lambda name, limit_s=None: SessionProcess(
        f"measure_openers:{name}", artifact, DeviceSpec(name="cpu"), limit_s
    )


def test_outputs_come_back_from_a_process_of_its_own(open_session) -> None:
    with open_session("doubling") as session:
        assert session.pid != os.getpid()
        assert os.getpgid(session.pid) == session.pid
        assert session.outputs({"x": np.arange(3)})["y"].tolist() == [0, 2, 4]


def test_a_round_has_one_latency_per_request_and_what_it_used(open_session) -> None:
    requests = Requests("k", ({"x": np.ones(10_000)}, {"x": np.ones(10)}), items=2)
    with open_session("doubling") as session:
        samples = session.run(requests, 7)
        again = session.run(requests, 3)
    assert samples.latency_s.shape == (7,)
    assert again.latency_s.shape == (3,)
    assert (samples.latency_s > 0).all()
    assert samples.items == 2
    assert samples.wall_s == pytest.approx(samples.latency_s.sum())
    assert samples.cpu_s is not None
    assert samples.memory_bytes is not None
    assert samples.memory_bytes > 10_000_000
    assert "involuntary_switches" in samples.counters


def test_load_time_is_the_openers(open_session) -> None:
    with open_session("slow") as session:
        assert 0.2 <= session.load_time_s < 2


def test_what_a_runtime_prints_does_not_disturb_the_talk(open_session, capfd) -> None:
    with open_session("chatty") as session:
        assert session.outputs({"x": np.ones(1)})["y"].tolist() == [2]
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize(
    ("opener", "cause", "words"),
    [
        ("unsupported", "unsupported", "not for this device"),
        ("starved", "out_of_memory", "Failed to allocate"),
        ("allocating", "out_of_memory", "bad_alloc"),
        ("abort", "crash", "SIGABRT"),
        ("leaving", "crash", "goodbye"),
        ("missing", "other", "missing"),
    ],
)
def test_opening_fails_with_the_true_cause(open_session, opener: str, cause: str, words: str) -> None:
    with pytest.raises(OpenError) as caught, open_session(opener):
        pass
    assert caught.value.cause == cause
    assert words in caught.value.message


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT, signal.SIGKILL])
def test_a_crash_while_running_is_noticed_at_once_and_named(open_session, number: signal.Signals) -> None:
    with open_session("dying") as session:
        with pytest.raises(MeasureError) as caught:
            session.outputs({"x": np.asarray([number])})
        assert caught.value.cause == "crash"
        assert number.name in caught.value.message
        with pytest.raises(MeasureError):
            session.outputs({"x": np.asarray([number])})


@pytest.mark.parametrize("opener", ["hanging", "never_open"])
def test_an_answer_that_never_comes_is_a_timeout_and_ends_the_process(open_session, opener: str) -> None:
    with pytest.raises(TrialError) as caught, open_session(opener, 2.0) as session:
        session.outputs({"x": np.ones(1)})
    assert caught.value.cause == "timeout"
    assert "2 s" in caught.value.message


def test_an_error_of_the_runtime_keeps_the_session_alive(open_session) -> None:
    with open_session("raising") as session:
        with pytest.raises(MeasureError, match="node 7"):
            session.outputs({"x": np.ones(1)})
        assert session.run(Requests("k", ({"x": np.ones(1)},)), 2).latency_s.size == 2


def test_a_paused_session_does_nothing_until_it_is_resumed(open_session) -> None:
    with open_session("doubling") as session:
        session.pause()
        assert psutil.Process(session.pid).status() == psutil.STATUS_STOPPED
        session.resume()
        assert session.outputs({"x": np.ones(1)})["y"].tolist() == [2]


def test_leaving_ends_a_paused_process(open_session) -> None:
    with open_session("doubling") as session:
        pid = session.pid
        session.pause()
    assert not psutil.pid_exists(pid)


def test_the_process_dies_with_its_killed_parent(open_session, tmp_path: Path) -> None:
    script = """
import sys, time
from pathlib import Path
from autotune.core.artifact import Artifact
from autotune.core.candidate import Candidate
from autotune.core.device import DeviceSpec
from autotune.measure.session_process import SessionProcess
artifact = Artifact(backend="t", folder=Path("."), model="m", files=(), sha256="0", size_bytes=0, candidate=Candidate())
with SessionProcess("measure_openers:doubling", artifact, DeviceSpec(name="cpu")) as session:
    print(session.pid, flush=True)
    time.sleep(60)
"""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        parent.kill()
    assert _gone_soon(pid)


def _gone_soon(pid: int) -> bool:
    for _ in range(100):
        if not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
            return True
        time.sleep(0.05)
    return False
