from __future__ import annotations

import shutil
import signal
from pathlib import Path

import pytest

from autotune.core.device import DeviceSpec
from autotune.core.errors import UserError
from autotune.core.limits import parse_limit
from autotune.core.values import Value
from autotune_trials.endings import Ending, TrialBug, ended_without_record, out_of_memory, timed_out
from autotune_trials.environment import trial_environment
from autotune_trials.quality import broken_limit
from autotune_trials.ray_settings import ray_environment, short_folder, unreachable, without_amdsmi
from autotune_trials.slots import free_slots
from autotune_trials.stages import Stages, stage_of

CPU = DeviceSpec(name="cpu", cpus=2)
GPU0, GPU1 = (DeviceSpec(name=f"cuda:{index}", device_class="gpu") for index in (0, 1))
SIMULATED = DeviceSpec(name="h100", kind="simulated", device_class="gpu")


@pytest.mark.parametrize(
    ("device", "running", "expected"),
    [
        (CPU, [], 1),
        (CPU, [CPU], 0),
        (CPU, [GPU0], 0),
        (GPU0, [CPU], 0),
        (GPU0, [GPU0], 0),
        (GPU1, [GPU0], 1),
        (SIMULATED, [], 4),
        (SIMULATED, [SIMULATED] * 3, 1),
    ],
)
def test_a_real_device_has_one_slot_and_a_cpu_excludes_all(
    device: DeviceSpec, running: list[DeviceSpec], expected: int
) -> None:
    assert free_slots(device, running, cpus=4) == expected


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL, signal.SIGFPE])
def test_a_fatal_signal_is_a_crash_at_its_stage(number: signal.Signals) -> None:
    failure = ended_without_record(Ending(status=-number, output="one\nlast words\n", stage="build"))
    assert (failure.stage, failure.cause) == ("build", "crash")
    assert number.name in failure.message
    assert failure.message.endswith("last words")


def test_the_kernels_kill_for_memory_is_told_from_somebodys() -> None:
    by_kernel = ended_without_record(Ending(status=-signal.SIGKILL, output="", stage="measure", oom_kills=1))
    assert (by_kernel.stage, by_kernel.cause) == ("measure", "out_of_memory")
    by_somebody = ended_without_record(Ending(status=-signal.SIGKILL, output="", stage="measure"))
    assert (by_somebody.stage, by_somebody.cause) == ("lost", "lost")


def test_a_runtime_that_exits_by_itself_is_a_crash() -> None:
    failure = ended_without_record(Ending(status=1, output="fatal: no device\n", stage="open"))
    assert (failure.stage, failure.cause) == ("open", "crash")
    assert failure.message.endswith("fatal: no device")


@pytest.mark.parametrize("status", [70, 1])
def test_a_traceback_is_a_bug_and_is_passed_on_whole(status: int) -> None:
    with pytest.raises(TrialBug, match="KeyError: 'x'"):
        ended_without_record(Ending(status, "Traceback (most recent call last):\n  …\nKeyError: 'x'\n", None))


@pytest.mark.parametrize(
    ("output", "problem", "remedy"),
    [
        ("noise\nwrong\ndo this\n", "wrong", "do this"),
        ("wrong\ndo this\n", "wrong", "do this"),
        ("wrong\n", "wrong", ""),
    ],
)
def test_a_persons_mistake_is_passed_on(output: str, problem: str, remedy: str) -> None:
    with pytest.raises(UserError) as caught:
        ended_without_record(Ending(status=2, output=output, stage=None))
    assert (caught.value.problem, caught.value.remedy) == (problem, remedy)


def test_limits_say_what_they_were() -> None:
    assert timed_out(120.0, "measure").message == "not done after 2 min 00 s (it was at: measure)"
    failure = out_of_memory(3 * 2**30, 2 * 2**30, "build")
    assert (failure.stage, failure.cause) == ("build", "out_of_memory")
    assert "3,072 MiB" in failure.message


def test_the_environment_is_an_allow_list() -> None:
    source = {
        "PATH": "/bin",
        "LC_ALL": "C",
        "CUDA_VISIBLE_DEVICES": "0",
        "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "AWS_SECRET_ACCESS_KEY": "x",
        "RAY_AUTH_TOKEN": "x",
        "HF_HUB_OFFLINE": "0",
    }
    passed = trial_environment(source)
    assert source.keys() & passed.keys() == {"PATH", "LC_ALL", "CUDA_VISIBLE_DEVICES", "HF_HUB_OFFLINE"}
    assert passed["HF_HUB_OFFLINE"] == "1"
    assert passed["TORCH_FORCE_WEIGHTS_ONLY_LOAD"] == "1"


def test_stages_tell_where_a_trial_is_and_split_its_time(tmp_path: Path) -> None:
    work = tmp_path / "t1.json"
    assert stage_of(work) is None
    stages = Stages(work, started_s=100.0)
    for stage in ("build", "check", "check"):
        with stages.at(stage):
            assert stage_of(work) == stage
    cost = stages.cost(110.0)
    assert cost.total_s == pytest.approx(10.0)
    assert cost.build_s > 0
    assert cost.measure_s == 0


def test_a_stage_is_remembered_when_it_fails(tmp_path: Path) -> None:
    stages = Stages(tmp_path / "t1.json", 0.0)
    with pytest.raises(MemoryError), stages.at("measure"):
        raise MemoryError
    assert stages.current == "measure"
    assert stages.spent_s("measure") > 0


def test_only_a_certainly_broken_limit_counts() -> None:
    limits = [parse_limit("latency_p50<=1ms"), parse_limit("fidelity>=0.98")]
    assert broken_limit(limits, {}) is None
    assert broken_limit(limits, {"fidelity": Value(value=0.97, unit="1", low=0.96, high=0.985)}) is None
    assert broken_limit(limits, {"fidelity": Value(value=0.9, unit="1", low=0.8, high=0.95)}) is limits[1]


def test_rays_variables_are_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    before = dict(os.environ)
    with ray_environment():
        assert os.environ["RAY_AUTH_MODE"] == "token"
    assert dict(os.environ) == before


def test_amdsmi_is_hidden_while_ray_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import os
    import sys

    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "amdsmi.py").write_text("raise KeyError('libamd_smi.so')")
    monkeypatch.syspath_prepend(str(tmp_path / "real"))
    before = (dict(os.environ), list(sys.path))
    with without_amdsmi(tmp_path / "hidden"):
        assert os.environ["PYTHONPATH"].startswith(str(tmp_path / "hidden"))
        with pytest.raises(ImportError, match="hidden"):
            __import__("amdsmi")
    assert (dict(os.environ), list(sys.path)) == before


def test_rays_folder_leaves_room_for_its_socket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = tmp_path / ("d" * 60)
    deep.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(deep))
    folder = Path(short_folder())
    shutil.rmtree(folder)
    assert len(str(folder)) < 40


def test_an_address_where_nothing_answers_is_told_at_once() -> None:
    assert unreachable("127.0.0.1:1") == "Connection refused"
    assert unreachable("auto") is None
    assert unreachable("ray://somewhere:10001") is None
