from __future__ import annotations

from pathlib import Path

import pytest

from autotune.host.cpus import count_cpus, counted_cpus
from autotune.host.memory import memory_limit

V2_MOUNT = "31 23 0:28 / /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw"


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    return root


def v2(root: Path, path: str, files: dict[str, str], mount: str = V2_MOUNT) -> Path:
    (root / "sys/fs/cgroup" / path.strip("/")).mkdir(parents=True, exist_ok=True)
    return write(root, {"proc/self/cgroup": f"0::{path}", "proc/self/mountinfo": mount, **files})


def v1(root: Path, controllers: str, path: str, files: dict[str, str]) -> Path:
    mount = f"32 31 0:29 / /sys/fs/cgroup/{controllers} rw - cgroup cgroup rw,{controllers}"
    (root / "sys/fs/cgroup" / controllers / path.strip("/")).mkdir(parents=True, exist_ok=True)
    return write(root, {"proc/self/cgroup": f"4:{controllers}:{path}\n0::/", "proc/self/mountinfo": mount, **files})


def test_without_control_groups_affinity_counts(tmp_path: Path) -> None:
    assert count_cpus(tmp_path, affinity=8).counted == 8


def test_v2_quota_bounds(tmp_path: Path) -> None:
    root = v2(tmp_path, "/box", {"sys/fs/cgroup/box/cpu.max": "250000 100000"})
    count = count_cpus(root, affinity=8)
    assert (count.quota, count.counted) == (2.5, 2)


def test_v2_quota_of_an_ancestor_binds(tmp_path: Path) -> None:
    files = {"sys/fs/cgroup/slice/cpu.max": "300000 100000", "sys/fs/cgroup/slice/box/cpu.max": "max 100000"}
    assert count_cpus(v2(tmp_path, "/slice/box", files), affinity=8).counted == 3


def test_v2_cpuset_bounds(tmp_path: Path) -> None:
    root = v2(tmp_path, "/box", {"sys/fs/cgroup/box/cpuset.cpus.effective": "0-2,7"})
    assert count_cpus(root, affinity=8).cpuset == 4


def test_unlimited_v2_is_no_bound(tmp_path: Path) -> None:
    count = count_cpus(v2(tmp_path, "/", {"sys/fs/cgroup/cpu.max": "max 100000"}), affinity=6)
    assert (count.quota, count.counted) == (None, 6)


def test_a_container_sees_its_own_group_at_the_mount_point(tmp_path: Path) -> None:
    mount = "31 23 0:28 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup2 rw"
    root = v2(tmp_path, "/docker/abc", {"sys/fs/cgroup/cpu.max": "100000 100000"}, mount)
    assert count_cpus(root, affinity=8).counted == 1


def test_a_path_outside_the_namespace_falls_back_to_the_mount_point(tmp_path: Path) -> None:
    root = v2(tmp_path, "/box", {"sys/fs/cgroup/cpu.max": "200000 100000"})
    write(root, {"proc/self/cgroup": "0::/../elsewhere"})
    assert count_cpus(root, affinity=8).counted == 2


@pytest.mark.parametrize(("quota", "counted"), [("150000", 1), ("50000", 1), ("400000", 4), ("-1", 8)])
def test_v1_quota_bounds_and_is_never_below_one(tmp_path: Path, quota: str, counted: int) -> None:
    folder = "sys/fs/cgroup/cpu,cpuacct/box"
    files = {f"{folder}/cpu.cfs_quota_us": quota, f"{folder}/cpu.cfs_period_us": "100000"}
    assert count_cpus(v1(tmp_path, "cpu,cpuacct", "/box", files), affinity=8).counted == counted


def test_v1_cpuset_bounds(tmp_path: Path) -> None:
    root = v1(tmp_path, "cpuset", "/box", {"sys/fs/cgroup/cpuset/box/cpuset.cpus": "1,3"})
    assert count_cpus(root, affinity=8).counted == 2


def test_here_at_least_one_cpu_counts() -> None:
    assert counted_cpus() >= 1


def test_memory_is_the_smaller_of_machine_and_group(tmp_path: Path) -> None:
    files = {"proc/meminfo": "MemTotal:       16384 kB", "sys/fs/cgroup/box/memory.max": str(4 * 2**20)}
    limit = memory_limit(v2(tmp_path, "/box", files))
    assert (limit.physical, limit.cgroup, limit.bytes) == (16 * 2**20, 4 * 2**20, 4 * 2**20)


def test_v1_unlimited_memory_is_no_bound(tmp_path: Path) -> None:
    files = {"proc/meminfo": "MemTotal: 16384 kB", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712"}
    limit = memory_limit(v1(tmp_path, "memory", "/", files))
    assert (limit.cgroup, limit.bytes) == (None, 16 * 2**20)


def test_unknown_memory_is_none(tmp_path: Path) -> None:
    assert memory_limit(tmp_path).bytes is None
