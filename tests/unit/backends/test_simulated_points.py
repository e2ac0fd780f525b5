from __future__ import annotations

import csv
from pathlib import Path

import pytest

from autotune.core.errors import UserError
from autotune_backends.simulated.points import PREDICTED, predict_points
from autotune_backends.simulated.points_file import predict_file

ROW = {
    "system": "h100_sxm",
    "model": "llama-3.1-8b",
    "precision": "bf16",
    "tp": "1.0",
    "concurrency": "8",
    "isl": "1024",
    "osl": "128",
}


def test_a_point_has_values_within_their_intervals_and_says_where_they_are_from() -> None:
    (row,) = predict_points([ROW])
    assert set(row) == {*ROW, *PREDICTED}
    assert row["provenance"] == "simulated"
    assert row["basis"] == "fitted"
    assert float(row["tpot_s_low"]) < float(row["tpot_s"]) < float(row["tpot_s_high"])
    assert row["error_tpot"] == ""


def test_a_measured_column_gives_the_error() -> None:
    (row,) = predict_points([ROW | {"tpot_ms_measured": "8.0"}])
    assert float(row["error_tpot"]) == pytest.approx(float(row["tpot_s"]) / 0.008 - 1, abs=1e-4)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"model": "llama-3.1-70b"}, "does not fit"),
        ({"system": "a100", "precision": "fp8"}, "no fp8"),
        ({"isl": "900000"}, "does not fit a KV cache"),
    ],
)
def test_a_point_that_cannot_run_says_why_and_has_no_figures(change: dict[str, str], reason: str) -> None:
    (row,) = predict_points([ROW | change])
    assert reason in row["reason"]
    assert not any(row[name] for name in PREDICTED if name != "reason")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"system": "h100x"}, r"row 3: unknown device 'h100x' \(did you mean"),
        ({"model": "llama-3.1-80b"}, "row 3: unknown language model"),
        ({"precision": "fp7"}, "row 3: unknown precision"),
        ({"tp": "x"}, "row 3: tp is 'x'"),
        ({"tp": ""}, "row 3: tp is empty"),
        ({"concurrency": "-4"}, "row 3: concurrency is"),
        ({"isl": "nan"}, "row 3: isl is"),
        ({"backend": "vlm"}, "row 3: unknown engine"),
        ({"tpot_ms_measured": "fast"}, "row 3: tpot_ms_measured is"),
    ],
)
def test_a_bad_row_is_named_by_its_number(change: dict[str, str], problem: str) -> None:
    with pytest.raises(UserError, match=problem):
        predict_points([ROW, ROW | change])


def test_a_file_is_written_with_its_own_columns_first(tmp_path: Path) -> None:
    source, target = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text(",".join(ROW) + ",note\n" + ",".join(ROW.values()) + ",mine\n")
    predict_file(source, target)
    with target.open() as stream:
        assert next(csv.DictReader(stream))["note"] == "mine"
    assert target.read_text().startswith(",".join(ROW) + ",note,ttft_s,")


@pytest.mark.parametrize(
    ("text", "problem"), [("system,modl\n", "no column model"), ("", "no column system"), (",".join(ROW), "no rows")]
)
def test_a_table_without_a_column_or_a_row_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    source = tmp_path / "in.csv"
    source.write_text(text)
    with pytest.raises(UserError, match=problem):
        predict_file(source, tmp_path / "out.csv")
