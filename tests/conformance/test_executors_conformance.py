from __future__ import annotations

from autotune_trials.process_executor import ProcessExecutor

from autotune.testing.executor_suite import ExecutorSuite


class TestProcessExecutor(ExecutorSuite):
    factory = ProcessExecutor
