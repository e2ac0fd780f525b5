"""Searches that are stopped: killed, interrupted, or driven by two at once."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

Journal = Callable[[Path], list[dict]]

EXAMPLE = Path(__file__).parents[2] / "examples" / "digits"
SEARCH = ["search", str(EXAMPLE / "model.onnx"), "--data", str(EXAMPLE / "test.npz"), "--metric", "top1"]


def test_a_killed_search_resumes_without_losing_or_repeating_a_trial(
    tmp_path: Path, journal: Journal, environment: Mapping[str, str]
) -> None:
    command = [
        *SEARCH,
        "--trials",
        "3",
        "--budget",
        "40s",
        "--executor",
        "process",
        "--no-tracking",
        "-o",
        "killed",
        "-q",
    ]
    driver = subprocess.Popen(
        [sys.executable, "-m", "autotune", *command], cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL
    )
    wait_for_records(tmp_path / "killed", 2)
    driver.send_signal(signal.SIGKILL)
    driver.wait(10)
    before = [record["trial"]["key"] for record in journal(tmp_path / "killed")]
    resume = [sys.executable, "-m", "autotune", "search", "--resume", "killed", "-q"]
    subprocess.run(resume, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL, timeout=150, check=True)
    after = [record["trial"]["key"] for record in journal(tmp_path / "killed")]
    assert after[: len(before)] == before
    assert len(set(after)) == len(after)
    assert len([record for record in journal(tmp_path / "killed") if record["trial"]["purpose"] != "front"]) == 3


def test_sigint_keeps_what_was_found_and_exits_130(tmp_path: Path, environment: Mapping[str, str]) -> None:
    command = [*SEARCH, "--budget", "90s", "--executor", "process", "--no-tracking", "-o", "stopped", "-q"]
    driver = subprocess.Popen(
        [sys.executable, "-m", "autotune", *command], cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True
    )
    wait_for_records(tmp_path / "stopped", 2)
    driver.send_signal(signal.SIGINT)
    out, _ = driver.communicate(timeout=30)
    assert driver.returncode == 130
    assert "original" in out
    assert (
        "next:" not in out
    )  # what goes on with a stopped search is said beside the answer: --resume, and nothing else
    assert (tmp_path / "stopped" / "front.json").is_file()


def test_a_second_driver_is_refused_with_the_firsts_pid(tmp_path: Path, environment: Mapping[str, str]) -> None:
    command = [*SEARCH, "--budget", "60s", "--executor", "process", "--no-tracking", "-o", "busy", "-q"]
    driver = subprocess.Popen([sys.executable, "-m", "autotune", *command], cwd=tmp_path, env=environment)
    try:
        wait_for_records(tmp_path / "busy", 1)
        refused = subprocess.run(
            [sys.executable, "-m", "autotune", "search", "--resume", "busy"],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert refused.returncode == 2
        assert str(driver.pid) in refused.stderr
    finally:
        driver.terminate()
        assert driver.wait(30) == 143


def wait_for_records(run: Path, count: int) -> None:
    due = time.monotonic() + 90
    while time.monotonic() < due:
        if (run / "journal.jsonl").is_file() and len((run / "journal.jsonl").read_text().splitlines()) > count:
            return
        time.sleep(0.1)
    raise AssertionError(f"{run} did not reach {count} records")
