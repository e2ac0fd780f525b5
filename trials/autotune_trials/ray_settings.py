"""How Ray is started: closed to the network, silent, small. Nothing here imports Ray."""

from __future__ import annotations

import importlib.util
import os
import secrets
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from autotune_trials.ray_leftovers import PREFIX, claim, sweep_leftovers

__all__ = ["OBJECT_STORE_BYTES", "ray_environment", "short_folder", "unreachable", "without_amdsmi"]

OBJECT_STORE_BYTES = 80 * 2**20
"""Ray's least is 75 MiB. Assignments and records are all that passes through it, a few kB each: paths travel, not contents."""

_TOKEN = secrets.token_hex(32)  # Ray keeps a process's first token, so it is one a process

_VARIABLES = {
    "RAY_AUTH_MODE": "token",
    "RAY_AUTH_TOKEN": _TOKEN,
    # Off, Ray takes the loopback address for the node's, and then its servers listen on that alone.
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    "RAY_USAGE_STATS_ENABLED": "0",
    # Trials have a memory limit of their own; Ray's monitor would end the worker, and lose the reason.
    "RAY_memory_monitor_refresh_ms": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}

_CONNECT_S = 5.0
_SOCKET_PATH_BYTES = 107  # unix(7): sun_path
_RAY_PATH_BYTES = 70  # what Ray adds: /session_<time>_<pid>/sockets/plasma_store


@contextmanager
def ray_environment() -> Iterator[None]:
    """Set Ray's variables in this process's environment while Ray starts, for it and its daemons."""
    before = {name: os.environ.get(name) for name in _VARIABLES}
    os.environ.update(_VARIABLES)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def without_amdsmi(folder: Path) -> Iterator[None]:
    """Keep Ray from AMD's ``amdsmi`` package while it starts; ``folder``, not there yet, is for what that takes.

    The package may be there without its library (the Zeus energy library installs it everywhere): importing it then prints on
    stdout and raises ``KeyError``, and so does importing Ray, which is ready for ``ImportError`` alone. Ray is not needed to
    count GPUs. A module that raises ``ImportError`` stands before the package, in this process and in Ray's daemons.
    """
    if importlib.util.find_spec("amdsmi") is None or "amdsmi" in sys.modules:
        yield
        return
    folder.mkdir()
    (folder / "amdsmi.py").write_text('raise ImportError("hidden from Ray")\n')
    path = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(folder), *([path] if path else [])])
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        if path is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = path


def unreachable(address: str) -> str | None:
    """Say why nothing answers at ``host:port``, None when something does or the address is no such pair.

    Ray itself would try for minutes.
    """
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdigit() or "/" in host:
        return None
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECT_S).close()
    except OSError as error:
        return error.strerror or str(error)
    return None


def short_folder() -> str:
    """Make a folder whose path leaves Ray room for its socket's; those of drivers that were killed are cleared away."""
    parent = tempfile.gettempdir()
    long = len(os.fsencode(parent)) + len("/autotune-12345678") + _RAY_PATH_BYTES > _SOCKET_PATH_BYTES
    place = Path("/tmp" if long else parent)
    sweep_leftovers(place)
    folder = tempfile.mkdtemp(prefix=PREFIX, dir=place)
    claim(Path(folder))
    return folder
