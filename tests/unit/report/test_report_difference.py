from __future__ import annotations

from autotune.core.candidate import Candidate
from autotune.report.answer import difference

BASELINE = Candidate(runtime="onnxruntime", spinning=True, batch_size=1)


def test_a_parameter_that_no_longer_applies_is_said_within_a_runtime() -> None:
    assert difference(BASELINE.without("spinning").with_(batch_size=8), BASELINE) == "batch_size=8 no spinning"


def test_another_runtimes_point_does_not_list_what_it_never_had() -> None:
    assert difference(Candidate(runtime="openvino", batch_size=8), BASELINE) == "runtime=openvino batch_size=8"
