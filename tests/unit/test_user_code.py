from __future__ import annotations

import sys
from pathlib import Path

import pytest

from autotune.core.errors import UserError
from autotune.user_code import find_code_in, names_function, user_function


def test_the_users_folder_is_looked_into_last_and_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "json.py").write_text("def loads(text):\n    return 'shadowed'\n")
    find_code_in(tmp_path)
    find_code_in(tmp_path)
    assert sys.path[-1] == str(tmp_path)
    assert sys.path.count(str(tmp_path)) == 1
    assert user_function("json:loads", "the metric")("1") == 1


@pytest.mark.parametrize(
    ("text", "is_one"), [("a:f", True), ("a.b:f_1", True), ("a", False), ("a:", False), ("d/x:f", False)]
)
def test_a_function_is_written_as_module_and_name(text: str, is_one: bool) -> None:
    assert names_function(text) is is_one


def test_what_is_no_function_is_refused() -> None:
    with pytest.raises(UserError, match="has no function 'pie'"):
        user_function("math:pie", "the metric")
    with pytest.raises(UserError, match="names no function"):
        user_function("math:", "the metric")


def test_a_value_that_is_no_function_is_refused_and_shown() -> None:
    with pytest.raises(UserError, match=r"'math:pi' is no function: it is 3\.14"):
        user_function("math:pi", "the metric")
