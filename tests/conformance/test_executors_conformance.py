from __future__ import annotations

from collections.abc import Iterator

import pytest

from autotune.testing.executor_suite import ExecutorSuite, fake_context
from autotune_trials.process_executor import ProcessExecutor
from autotune_trials.ray_executor import RayExecutor


class TestProcessExecutor(ExecutorSuite):
    factory = ProcessExecutor


@pytest.fixture(scope="module")
def _ray_runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    executor = RayExecutor(fake_context(tmp_path_factory.mktemp("run")))
    executor.start()
    yield
    executor.shutdown()


@pytest.mark.usefixtures("_ray_runs")
class TestRayExecutor(ExecutorSuite):
    factory = RayExecutor
