from __future__ import annotations

from pathlib import Path

import pytest

from autotune.core.candidate import Candidate
from autotune.core.device import DeviceSpec
from autotune_backends.onnxruntime.devices import channel_block
from autotune_backends.onnxruntime.steps import carry_out, steps_of
from autotune_backends.transform.onnx.block_weights import BlockWeights
from autotune_backends.transform.onnx.change import Change
from autotune_backends.transform.onnx.float16 import Float16
from autotune_backends.transform.onnx.fuse_transformer import FuseTransformer
from autotune_backends.transform.onnx.int8_dynamic import Int8Dynamic
from autotune_backends.transform.onnx.int8_static import Int8Static
from autotune_backends.transform.onnx.prune import Prune
from autotune_backends.transform.onnx.recover import Recover


def steps(**parameters: bool | int | str) -> list[object]:
    return list(steps_of(Candidate(parameters), Path("m.onnx"), list, None))


def test_nothing_asked_for_is_no_step() -> None:
    assert steps(precision="fp32", fusion="none", graph_optimization="all") == []


@pytest.mark.parametrize(("isa", "block"), [(("avx2", "avx512f"), 16), (("avx2",), 8), (("asimdhp",), 8)])
def test_channels_are_kept_in_blocks_of_the_devices_vectors(isa: tuple[str, ...], block: int) -> None:
    assert channel_block(DeviceSpec(name="cpu", isa=isa)) == block
    candidate = Candidate(precision="int8_static", pruning_ratio=0.5, recovery_s=9.0)
    prune, recover, _ = steps_of(candidate, Path("m.onnx"), list, None, block)
    assert isinstance(prune, Prune)
    assert isinstance(recover, Recover)
    assert (prune.ratio, prune.block, recover.teacher, recover.seconds) == (0.5, block, Path("m.onnx"), 9.0)


def test_what_is_fused_is_quantised_afterwards() -> None:
    assert [type(step) for step in steps(precision="int8_dynamic", fusion="transformer")] == [
        FuseTransformer,
        Int8Dynamic,
    ]


def test_parameters_reach_their_transformation() -> None:
    (static,) = steps(
        precision="int8_static", int8_types="s8s8", int8_calibration="entropy", int8_static_operators="products"
    )
    assert isinstance(static, Int8Static)
    assert (static.types, static.method, static.products_only, static.per_channel) == ("s8s8", "entropy", True, False)
    assert steps(precision="int4_weights", weight_block=64, weight_products="fp32") == [BlockWeights(4, 64, "fp32")]
    assert steps(precision="int8_weights", weight_block=32) == [BlockWeights(8, 32, "int8")]
    assert isinstance(steps(precision="fp16")[0], Float16)


def appends(word: str, idle: bool = False):  # type: ignore[no-untyped-def]
    def step(source: Path, target: Path) -> Change:
        if idle:
            return Change(word, unchanged="nothing to do")
        target.write_text(source.read_text() + word)
        (target.parent / "weights").write_text(word)
        return Change(word)

    return step


@pytest.mark.parametrize("idle", [0, 1, 2])
def test_a_step_starts_from_what_the_last_one_wrote(tmp_path: Path, idle: int) -> None:
    source, target = tmp_path / "source", tmp_path / "folder" / "model"
    source.write_text("a")
    target.parent.mkdir()
    words = ["b", "c", "d"]
    changes = carry_out([appends(word, number == idle) for number, word in enumerate(words)], source, target)
    assert [change.name for change in changes] == words
    assert target.read_text() == "a" + "".join(word for number, word in enumerate(words) if number != idle)
    assert sorted(file.name for file in target.parent.iterdir()) == ["model", "weights"]


def test_steps_that_change_nothing_write_nothing(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_text("a")
    (tmp_path / "folder").mkdir()
    carry_out([appends("b", True)], source, tmp_path / "folder" / "model")
    assert list((tmp_path / "folder").iterdir()) == []
