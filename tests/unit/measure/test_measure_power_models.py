from __future__ import annotations

from pathlib import Path

import pytest

from autotune.core.errors import UserError
from autotune.measure.power_models import find_power_model


@pytest.mark.parametrize(
    ("cpu", "isa", "name"),
    [
        ("Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz", ["amx_tile"], "Sapphire Rapids"),
        ("Intel(R) Xeon(R) Platinum 8375C CPU @ 2.90GHz", ["avx512_vnni"], "Ice Lake"),
        ("Intel(R) Xeon(R) Platinum 8259CL CPU @ 2.50GHz", ["avx512_vnni"], "Cascade Lake"),
        ("Intel(R) Xeon(R) Gold 6148 CPU @ 2.40GHz", ["avx512f"], "Skylake"),
        ("Intel(R) Xeon(R) CPU E5-2686 v4 @ 2.30GHz", ["avx2"], "Broadwell"),
        ("INTEL(R) XEON(R) PLATINUM 8581C CPU @ 2.30GHz", ["amx_tile"], "Emerald Rapids"),
        ("AMD EPYC Processor", ["avx2"], "EPYC with AVX2 (1st to 3rd generation)"),
        ("AMD EPYC 7763 64-Core Processor", ["avx2"], "EPYC 3rd generation"),
        ("AMD EPYC 9654 96-Core Processor", ["avx512f"], "EPYC 4th generation"),
        (
            "Intel(R) Xeon(R) Processor",
            ["avx2", "avx512f", "avx512_vnni", "amx_tile"],
            "Xeon with AMX (Sapphire Rapids or later)",
        ),
        ("Intel(R) Xeon(R) Processor @ 2.60GHz", ["avx2", "avx512f"], "Xeon with AVX-512 (Skylake)"),
    ],
)
def test_cpus_are_told_by_name_and_masked_ones_by_flags(cpu: str, isa: list[str], name: str) -> None:
    model = find_power_model(cpu, isa)
    assert model is not None
    assert model.name == name
    assert 0 < model.idle_w.low < model.idle_w.typical < model.idle_w.high
    assert model.busy_w.low < model.busy_w.typical < model.busy_w.high
    assert "SPECpower" in model.source


def test_a_masked_name_has_the_wider_interval() -> None:
    named = find_power_model("Intel(R) Xeon(R) Platinum 8481C", ["amx_tile"])
    masked = find_power_model("Intel(R) Xeon(R) Processor", ["amx_tile"])
    assert masked.idle_w.low < named.idle_w.low
    assert masked.idle_w.high >= named.idle_w.high


@pytest.mark.parametrize("cpu", ["", "Some New CPU 9000", "Intel(R) Core(TM) i7-9700"])
def test_an_unknown_cpu_has_no_model(cpu: str) -> None:
    assert find_power_model(cpu, ["avx2"]) is None


def test_a_users_file_wins(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("idle_w: 2\nbusy_w: [5, 9]\nsource: a wattmeter\n")
    model = find_power_model("anything", [], file)
    assert (model.name, model.source) == ("mine", "a wattmeter")
    assert (model.idle_w.low, model.idle_w.typical, model.busy_w.typical, model.busy_w.high) == (2, 2, 7, 9)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("idle_w: 2\n", "busy_w"),
        ("idle_w: two\nbusy_w: 3\n", "idle_w"),
        ("idle_w: -1\nbusy_w: 3\n", "idle_w"),
        ("idle_w: 4\nbusy_w: 3\n", "less than"),
        ("idle_w: 1\nbusy_w: 3\nidel_w: 2\n", "did you mean"),
        ("- 1\n", "mapping"),
        ("a: [\n", "YAML"),
    ],
)
def test_a_file_that_is_no_power_model_is_refused_in_words(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "p.yaml"
    file.write_text(text)
    with pytest.raises(UserError) as caught:
        find_power_model("", [], file)
    assert words in str(caught.value)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="No such file"):
        find_power_model("", [], tmp_path / "none.yaml")
