"""Every way of changing a model, on every model that broke other tools: right, or unchanged and said so."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from autotune.core.candidate import Candidate
from autotune.data import batches, open_data, open_dataset
from autotune.measure.check import check_outputs
from autotune.models import read_model
from autotune.testing import onnx_cases

ONE = Candidate(precision="fp32", intra_op_threads=1)
WAYS = {
    "as it is": ONE,
    "dynamic int8": ONE.with_(precision="int8_dynamic", int8_per_channel=True),
    "mixed int8": ONE.with_(precision="int8_dynamic", quantised_share=0.5),
    "static int8": ONE.with_(precision="int8_static", int8_per_channel=True),
    "half": ONE.with_(precision="fp16"),
    "pruned": ONE.with_(pruning_ratio=0.5),
    "fused": ONE.with_(fusion="transformer"),
}
if find_spec("onnx_ir") is not None:
    WAYS["4-bit weights"] = ONE.with_(precision="int4_weights", weight_block=32)
UNREADABLE = {"H04", "H04 opset", "H10"}


@pytest.mark.parametrize("case", [name for name in onnx_cases.CASES if name not in UNREADABLE])
def test_an_odd_model_is_changed_rightly_or_not_at_all(workshop, tmp_path, case) -> None:
    path = onnx_cases.CASES[case](tmp_path / "m.onnx")
    facts = read_model(path)
    samples = [inputs for inputs, _ in batches(open_dataset(open_data(None, facts, 0), facts), range(4), facts)]
    original = workshop.build(path, workshop.plain)
    expected = workshop.run(original, samples[0])
    for way, candidate in (WAYS if not facts.quantised else {"as it is": ONE}).items():
        artifact = workshop.build(path, candidate, samples)
        found = workshop.run(artifact, samples[0])
        check_outputs(found, found, expected, exact=way == "as it is")
        assert artifact.unchanged is None or artifact.sha256 == original.sha256, way
