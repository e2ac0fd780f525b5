from __future__ import annotations

import pytest

from autotune.core.candidate import Candidate
from autotune_backends.onnxruntime.settings import GRAPH_OPTIMIZATION, session_settings


def test_threads_are_always_set_to_the_counted_cpus() -> None:
    options = session_settings(Candidate(), cpus=3).options
    assert options["intra_op_num_threads"] == 3
    assert options["inter_op_num_threads"] == 1


def test_defaults_are_the_runtimes_own() -> None:
    settings = session_settings(Candidate(), cpus=2)
    assert settings.options["graph_optimization_level"] == "ORT_ENABLE_ALL"
    assert settings.options["execution_mode"] == "ORT_SEQUENTIAL"
    assert settings.options["enable_cpu_mem_arena"] is settings.options["enable_mem_pattern"] is True
    assert set(settings.config_entries.values()) == {"1"}


def test_an_arena_may_do_without_a_pattern() -> None:
    options = session_settings(Candidate(memory="arena"), cpus=1).options
    assert (options["enable_cpu_mem_arena"], options["enable_mem_pattern"]) == (True, False)


def test_a_candidates_parameters_are_set() -> None:
    candidate = Candidate(
        graph_optimization="disabled",
        intra_op_threads=1,
        execution_mode="parallel",
        inter_op_threads=2,
        spinning=False,
        memory="system",
    )
    settings = session_settings(candidate, cpus=8)
    assert settings.options == {
        "graph_optimization_level": "ORT_DISABLE_ALL",
        "execution_mode": "ORT_PARALLEL",
        "intra_op_num_threads": 1,
        "inter_op_num_threads": 2,
        "enable_cpu_mem_arena": False,
        "enable_mem_pattern": False,
        "log_severity_level": 3,
    }
    assert settings.config_entries == {
        "session.intra_op.allow_spinning": "0",
        "session.inter_op.allow_spinning": "0",
    }


def test_only_the_cpu_provider_is_used() -> None:
    assert session_settings(Candidate(), cpus=1).providers == ("CPUExecutionProvider",)


@pytest.mark.parametrize("name", sorted(GRAPH_OPTIMIZATION.values()))
def test_every_level_is_one_that_onnxruntime_has(name: str) -> None:
    import onnxruntime

    assert name in onnxruntime.GraphOptimizationLevel.__members__
