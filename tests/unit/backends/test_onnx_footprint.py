"""A build that the memory does not hold is refused before it begins."""

from __future__ import annotations

import pytest

from autotune.core.errors import BuildError
from autotune_backends.transform.onnx.block_weights import BlockWeights
from autotune_backends.transform.onnx.footprint import peak_bytes, refuse_beyond_memory
from autotune_backends.transform.onnx.fuse_transformer import FuseTransformer
from autotune_backends.transform.onnx.int8_dynamic import Int8Dynamic

GIB = 2**30


def test_a_model_beyond_the_memory_is_refused_with_both_sizes() -> None:
    with pytest.raises(BuildError, match=r"takes about 20\.0 GiB, and this machine has 16\.0 GiB") as caught:
        refuse_beyond_memory([FuseTransformer(), Int8Dynamic()], 4 * GIB, 16 * GIB)
    assert caught.value.cause == "out_of_memory"


def test_what_fits_and_what_nobody_knows_is_built() -> None:
    refuse_beyond_memory([BlockWeights()], 4 * GIB, 16 * GIB)
    refuse_beyond_memory([FuseTransformer()], 4 * GIB, None)
    refuse_beyond_memory([], 400 * GIB, GIB)


def test_steps_come_one_after_another_so_that_the_largest_counts() -> None:
    steps = [FuseTransformer(), BlockWeights()]
    assert peak_bytes(steps, GIB) == peak_bytes(steps[:1], GIB) > peak_bytes(steps[1:], GIB)
