from __future__ import annotations

import errno
import os

import pytest

from autotune.core.surroundings import DISK_ERRORS, explained


def refused(number: int, path: str | None = "/run/journal.jsonl") -> OSError:
    return OSError(number, os.strerror(number), path)


@pytest.mark.parametrize(
    "number", [*sorted(DISK_ERRORS), errno.ENAMETOOLONG, errno.ENOENT, errno.EACCES, errno.ENOTDIR]
)
def test_what_the_surroundings_refuse_is_told_in_two_lines(number: int) -> None:
    mistake = explained(refused(number))
    assert mistake is not None
    assert mistake.exit_code == 2
    assert "journal.jsonl" in mistake.problem
    assert len(str(mistake).splitlines()) == 2


@pytest.mark.parametrize("number", [errno.EINVAL, errno.EBADF, errno.EPIPE])
def test_what_a_program_does_wrong_stays_a_bug(number: int) -> None:
    assert explained(refused(number)) is None


def test_an_endless_name_is_shortened() -> None:
    mistake = explained(refused(errno.ENAMETOOLONG, "n" * 300))
    assert mistake is not None
    assert len(mistake.problem) < 160


def test_without_a_path_the_words_alone_are_told() -> None:
    mistake = explained(OSError(errno.ENOSPC, "No space left on device"))
    assert mistake is not None
    assert mistake.problem == "No space left on device"
