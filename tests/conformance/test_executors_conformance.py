from __future__ import annotations

from autotune.testing.executor_suite import ExecutorSuite
from autotune_trials.process_executor import ProcessExecutor


class TestProcessExecutor(ExecutorSuite):
    factory = ProcessExecutor
