from __future__ import annotations

from pathlib import Path

import autotune
from autotune.host import disk_free_bytes, environment, shared_memory_bytes
from autotune.host.isa import FLAGS, isa_flags, read_cpu

X86 = """processor\t: 0
vendor_id\t: GenuineIntel
model name\t: Some Xeon
flags\t\t: fpu sse avx2 hypervisor avx512_vnni avx512f

processor\t: 1
flags\t\t: amx_tile
"""
ARM = """processor\t: 0
Features\t: fp asimd asimddp i8mm bf16 sve
CPU implementer\t: 0x41
CPU part\t: 0xd40
"""


def tree(root: Path, text: str) -> Path:
    (root / "proc").mkdir()
    (root / "proc/cpuinfo").write_text(text)
    return root


def test_x86_flags_come_in_a_fixed_order_and_from_the_first_processor(tmp_path: Path) -> None:
    cpu = read_cpu(tree(tmp_path, X86))
    assert cpu.flags == ("avx2", "avx512f", "avx512_vnni")
    assert (cpu.model, cpu.virtual) == ("Some Xeon", True)


def test_x86_without_hypervisor_flag_is_not_virtual(tmp_path: Path) -> None:
    assert read_cpu(tree(tmp_path, X86.replace("hypervisor ", ""))).virtual is False


def test_arm_has_no_name_but_numbers_and_may_be_virtual_or_not(tmp_path: Path) -> None:
    cpu = read_cpu(tree(tmp_path, ARM))
    assert cpu.flags == ("asimd", "asimddp", "i8mm", "bf16", "sve")
    assert (cpu.model, cpu.virtual) == ("Arm implementer 0x41 part 0xd40", None)


def test_environment_is_the_same_twice_and_names_autotune() -> None:
    first, second = environment({"onnxruntime": "1.0"}), environment({"onnxruntime": "1.0"})
    assert first.sha256 == second.sha256
    assert first.versions == {"autotune": autotune.__version__, "onnxruntime": "1.0"}
    assert set(isa_flags()) <= set(FLAGS)


def test_disk_free_is_known_for_a_folder_that_does_not_exist_yet(tmp_path: Path) -> None:
    assert (disk_free_bytes(tmp_path / "not/yet") or 0) > 0


def test_no_shared_memory_is_none(tmp_path: Path) -> None:
    assert shared_memory_bytes(tmp_path / "absent") is None
    assert shared_memory_bytes(tmp_path) is not None
