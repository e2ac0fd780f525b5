from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from autotune.core.samples import Samples
from autotune.measure.disturbance import Sighting, SystemWatch, judge, sight

QUIET = Samples(np.full(50, 0.02), 1, wall_s=1.0, cpu_s=1.0)


def reasons(after: Sighting, samples: Samples = QUIET, before: Sighting | None = None) -> tuple[str, ...]:
    return judge(before or Sighting(), after, samples, cpus=2)


def test_a_round_that_used_what_was_used_is_undisturbed() -> None:
    assert reasons(Sighting(busy_s=1.02, running=2)) == ()


@pytest.mark.parametrize(
    ("after", "word"),
    [
        (Sighting(busy_s=1.0, steal_s=0.05), "stolen"),
        (Sighting(busy_s=1.6), "other processes"),
        (Sighting(busy_s=1.0, throttled_s=0.01), "throttled"),
    ],
)
def test_each_disturbance_is_named(after: Sighting, word: str) -> None:
    [reason] = reasons(after)
    assert word in reason


def test_waiting_threads_are_noticed() -> None:
    waiting = Samples(QUIET.latency_s, 1, 1.0, 1.0, counters={"run_delay_s": 0.2})
    assert reasons(Sighting(busy_s=1.0), waiting) == ("threads waited for a CPU",)


def test_a_crowded_run_queue_must_last() -> None:
    assert reasons(Sighting(busy_s=1.0, running=9)) == ()
    assert "crowded" in reasons(Sighting(busy_s=1.0, running=9), before=Sighting(running=8))[0]


def test_a_falling_frequency_is_noticed() -> None:
    fast, slow = Sighting(frequency_hz=3e9), Sighting(busy_s=1.0, frequency_hz=2e9)
    assert "frequency" in reasons(slow, before=fast)[0]


def test_a_short_round_allows_for_the_counters_steps() -> None:
    short = Samples(np.full(5, 0.001), 1, wall_s=0.005, cpu_s=0.005)
    assert reasons(Sighting(busy_s=0.01, steal_s=0.01), short) == ()


def tree(root: Path, version: int = 2) -> None:
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/stat").write_text("cpu  100 10 50 900 5 3 2 40 60 0\ncpu0 1 1 1 1 1 1 1 1 0 0\nprocs_running 3\n")
    controller = "" if version == 2 else "cpu"
    number = 0 if version == 2 else 3
    (root / "proc/self/cgroup").write_text(f"{number}:{controller}:/a\n")
    kind = "cgroup2 cgroup2 rw" if version == 2 else "cgroup cgroup rw,cpu"
    (root / "proc/self/mountinfo").write_text(f"30 23 0:26 / /cg rw - {kind}\n")
    (root / "cg/a").mkdir(parents=True)
    (root / "sys/devices/system/cpu/cpu0/cpufreq").mkdir(parents=True)
    (root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq").write_text("2600000\n")


def test_counters_are_read_from_the_kernels_files(tmp_path: Path) -> None:
    tree(tmp_path)
    (tmp_path / "cg/a/cpu.stat").write_text("usage_usec 9\nnr_throttled 4\nthrottled_usec 1500000\n")
    seen = sight(tmp_path)
    assert (seen.busy_s, seen.steal_s, seen.running) == (1.65, 0.4, 3)
    assert seen.throttled_s == 1.5
    assert seen.frequency_hz == 2.6e9


def test_throttling_is_read_from_version_one_too(tmp_path: Path) -> None:
    tree(tmp_path, version=1)
    (tmp_path / "cg/a/cpu.stat").write_text("nr_periods 0\nnr_throttled 1\nthrottled_time 2000000000\n")
    assert sight(tmp_path).throttled_s == 2.0


def test_nothing_is_seen_where_nothing_can_be_read(tmp_path: Path) -> None:
    watch = SystemWatch(cpus=2, root=tmp_path)
    watch.start()
    assert watch.stop(QUIET) == ()
