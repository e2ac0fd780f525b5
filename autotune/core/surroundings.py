"""What a system call refuses because of where a program runs: a full disk, a path that is too long or gone. Nobody's bug."""

from __future__ import annotations

import errno
from typing import Final

from autotune.core.errors import UserError

__all__ = ["DISK_ERRORS", "explained"]

DISK_ERRORS: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO})
"""The disk is full, over its quota, read-only or broken, or a file is larger than the limit (errno(3), setrlimit(2))."""

_PATH_REMEDIES: Final = {
    errno.ENAMETOOLONG: "give a shorter name",
    errno.ENOENT: "was it removed or moved meanwhile?",
    errno.ENOTDIR: "a part of its path is a file",
    errno.EISDIR: "give a file",
    errno.ELOOP: "its symbolic links lead in a circle",
    errno.EEXIST: "a file of that name is in the way",
    errno.EACCES: "check its permissions",
    errno.EPERM: "check its permissions",
    errno.EMFILE: "raise the limit of open files: ulimit -n",
    errno.ENFILE: "too many files are open on this machine",
    errno.ESTALE: "the file system it is on has gone",
}


def explained(error: OSError) -> UserError | None:
    """Return what a person can do about ``error``; None when it is none of these, and so a bug."""
    remedy = _PATH_REMEDIES.get(error.errno or 0)
    if error.errno in DISK_ERRORS:
        remedy = "free some space, or write to another disk; what was found so far is kept"
    if remedy is None:
        return None
    where = f"{_shortened(str(error.filename))}: " if error.filename is not None else ""
    return UserError(f"{where}{error.strerror}", remedy)


def _shortened(path: str) -> str:
    return path if len(path) <= 120 else f"{path[:60]}…{path[-40:]}"
