"""Where this process's control groups lie in the file tree, version 1 and 2, and what their files say.

Sources: cgroups(7), the kernel's admin-guide/cgroup-v2 and cgroup-v1, proc(5) for ``mountinfo``.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath

__all__ = ["Level", "levels", "read_text"]


@dataclass(frozen=True)
class Level:
    """One folder of the hierarchy of ``version`` (1 or 2) that governs this process."""

    folder: Path
    version: int

    def read(self, name: str) -> str | None:
        """A file's text, stripped; None when it is absent or cannot be read."""
        return read_text(self.folder / name)


def levels(controller: str, root: Path = Path("/")) -> list[Level]:
    """Return the levels that bound this process for ``controller`` (``cpu``, ``cpuset``, ``memory``), innermost first.

    A limit anywhere between a process and the mount point binds it. Empty: no control groups are in sight.
    """
    memberships = _memberships(root)
    version = 1 if controller in memberships else 2
    path = memberships.get(controller, memberships.get("", None))
    mount = _mount(controller, version, root)
    if path is None or mount is None:
        return []
    point, below = mount.point, _relative(path, mount.root)
    inner = [point.joinpath(*below.parts[:depth]) for depth in range(len(below.parts), -1, -1)]
    return [Level(folder, version) for folder in inner if folder.is_dir()]


def read_text(path: Path) -> str | None:
    """A small file's text, stripped; None when it is absent or cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None


@dataclass(frozen=True)
class _Mount:
    point: Path
    root: PurePosixPath


def _memberships(root: Path) -> dict[str, PurePosixPath]:
    """Controller → this process's path in its hierarchy; the key of version 2's is ``""``."""
    found = {}
    for line in (read_text(root / "proc/self/cgroup") or "").splitlines():
        _, controllers, path = line.split(":", 2)
        for controller in controllers.split(","):
            found[controller] = PurePosixPath(path)
    return found


def _mount(controller: str, version: int, root: Path) -> _Mount | None:
    for line in (read_text(root / "proc/self/mountinfo") or "").splitlines():
        before, _, after = line.partition(" - ")
        fields, (kind, _, options) = before.split(), after.split(maxsplit=2)
        fits = kind == "cgroup2" if version == 2 else kind == "cgroup" and controller in options.split(",")
        if fits:
            return _Mount(root / fields[4].lstrip("/"), PurePosixPath(fields[3]))
    return None


def _relative(path: PurePosixPath, mounted: PurePosixPath) -> PurePosixPath:
    """``path`` as seen below the mount point; the mount point itself when it lies elsewhere (another namespace)."""
    if ".." in path.parts or not path.is_relative_to(mounted):
        return PurePosixPath()
    return path.relative_to(mounted)
