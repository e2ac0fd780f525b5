from __future__ import annotations

from collections.abc import Iterator

import pytest
from autotune_trials.process_executor import ProcessExecutor
from autotune_trials.ray_executor import RayExecutor

from autotune.testing.executor_suite import ExecutorSuite, fake_context


class TestProcessExecutor(ExecutorSuite):
    factory = ProcessExecutor


class TestRayExecutor(ExecutorSuite):
    factory = RayExecutor

    @pytest.fixture(scope="class", autouse=True)
    def _ray_started_once(self, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
        executor = RayExecutor(fake_context(tmp_path_factory.mktemp("run")))
        yield
        executor.shutdown()
