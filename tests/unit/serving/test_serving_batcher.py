from __future__ import annotations

import threading
from concurrent.futures import wait

import numpy as np
import pytest

from autotune.serving.batcher import Batcher, QueueFullError


def request(value: float, rows: int = 1, width: int = 2) -> dict[str, np.ndarray]:
    return {"x": np.full((rows, width), value, dtype=np.float32)}


class Gate:
    """A runner that doubles, notes its batches, and works only while it is open."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.entered = threading.Semaphore(0)
        self.seen: list[list[float]] = []

    def __call__(self, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        self.seen.append([float(row[0]) for row in inputs["x"]])
        self.entered.release()
        assert self.open.wait(10)
        return {"y": inputs["x"] * 2}


def test_each_request_gets_its_own_rows_back() -> None:
    gate = Gate()
    with Batcher([gate], max_batch=4) as batcher:
        first = batcher.submit(request(0))
        gate.entered.acquire()
        futures = [batcher.submit(request(value, rows)) for value, rows in ((1, 1), (2, 2), (3, 1), (4, 3))]
        gate.open.set()
        assert [f.result(10)["y"].shape[0] for f in futures] == [1, 2, 1, 3]
        assert [float(f.result()["y"][0, 0]) for f in (first, *futures)] == [0, 2, 4, 6, 8]
    assert gate.seen == [[0], [1, 2, 2, 3], [4, 4, 4]]
    assert batcher.batches == [1, 4, 3]


def test_a_batch_leaves_as_soon_as_it_is_full_however_long_the_delay() -> None:
    gate = Gate()
    gate.open.set()
    with Batcher([gate], max_batch=3, delay_s=60) as batcher:
        done, waiting = wait([batcher.submit(request(value)) for value in range(3)], timeout=10)
        assert len(done) == 3
        assert not waiting
    assert gate.seen == [[0, 1, 2]]


def test_a_batch_that_does_not_fill_leaves_after_the_delay() -> None:
    with Batcher([lambda inputs: {"y": inputs["x"]}], max_batch=8, delay_s=0.01) as batcher:
        assert batcher.infer(request(5))["y"][0, 0] == 5


def test_a_request_larger_than_a_batch_runs_alone() -> None:
    gate = Gate()
    gate.open.set()
    with Batcher([gate], max_batch=2) as batcher:
        assert batcher.infer(request(1, rows=5))["y"].shape == (5, 2)


def test_urgent_requests_go_first_and_others_stay_in_order() -> None:
    gate = Gate()
    with Batcher([gate], max_batch=1, priorities=2) as batcher:
        batcher.submit(request(0), 1)
        gate.entered.acquire()
        futures = [batcher.submit(request(value), level) for value, level in ((1, 1), (2, 1), (3, 0), (4, 0))]
        gate.open.set()
        wait(futures, timeout=10)
    assert gate.seen == [[0], [3], [4], [1], [2]]


def test_requests_of_other_sizes_or_types_are_not_joined() -> None:
    gate = Gate()
    with Batcher([gate], max_batch=8) as batcher:
        batcher.submit(request(0))
        gate.entered.acquire()
        batcher.submit(request(1)), batcher.submit(request(2, width=3)), batcher.submit(request(3, width=3))
        gate.open.set()
    assert gate.seen == [[0], [1], [2, 3]]


def test_a_full_queue_drops_what_comes_next() -> None:
    gate = Gate()
    with Batcher([gate], queue_limit=1) as batcher:
        batcher.submit(request(0))
        gate.entered.acquire()
        kept = batcher.submit(request(1))
        with pytest.raises(QueueFullError, match="1 requests are waiting"):
            batcher.submit(request(2))
        gate.open.set()
        assert kept.result(10)["y"][0, 0] == 2


def test_several_instances_serve_at_once() -> None:
    gates = [Gate(), Gate()]
    with Batcher(gates) as batcher:
        futures = [batcher.submit(request(value)) for value in (1, 2)]
        assert all(gate.entered.acquire(timeout=10) for gate in gates)
        for gate in gates:
            gate.open.set()
        assert sorted(float(f.result(10)["y"][0, 0]) for f in futures) == [2, 4]


def test_a_run_that_fails_fails_its_own_batch_alone() -> None:
    def run(inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        if inputs["x"][0, 0] == 1:
            raise RuntimeError("node 7")
        return {"y": inputs["x"]}

    with Batcher([run]) as batcher:
        with pytest.raises(RuntimeError, match="node 7"):
            batcher.infer(request(1))
        assert batcher.infer(request(2))["y"][0, 0] == 2


def test_an_output_without_a_row_for_each_request_is_an_error_and_not_shared_out() -> None:
    gate = threading.Event()

    def run(inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        gate.wait(10)
        return {"y": np.zeros(1)}

    with Batcher([run], max_batch=4) as batcher:
        batcher.submit(request(0))
        futures = [batcher.submit(request(value)) for value in (1, 2)]
        gate.set()
        errors = [future.exception(10) for future in futures]
    assert any("not one row" in str(error) for error in errors)


def test_closing_serves_what_waits_or_drops_it_when_asked() -> None:
    gate = Gate()
    batcher = Batcher([gate])
    batcher.submit(request(0))
    gate.entered.acquire()
    late = batcher.submit(request(1))
    threading.Timer(0.05, gate.open.set).start()
    batcher.close(drop=True)
    assert late.cancelled()
    with pytest.raises(RuntimeError, match="closed"):
        batcher.submit(request(2))


def test_the_file_that_ships_needs_numpy_alone() -> None:
    import ast
    import inspect
    import sys

    from autotune.serving import batcher

    tree = ast.parse(inspect.getsource(batcher))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.split(".")[0] for name in imported} - set(sys.stdlib_module_names) == {"numpy"}
