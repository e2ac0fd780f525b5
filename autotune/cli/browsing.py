"""Opens a page in the person's browser once its server answers."""

from __future__ import annotations

import time
import urllib.request
import webbrowser
from collections.abc import Callable
from contextlib import suppress

__all__ = ["open_when_answered"]

_LIMIT_S, _BETWEEN_S = 60.0, 0.3


def open_when_answered(
    host: str, link: str, browse: Callable[[str], object] = webbrowser.open, limit_s: float = _LIMIT_S
) -> bool:
    """Wait until ``host`` answers, then open ``link``; return whether it did within ``limit_s`` seconds."""
    until = time.monotonic() + limit_s
    while time.monotonic() < until:
        with suppress(OSError):
            with urllib.request.urlopen(host, timeout=2):
                pass
            browse(link)
            return True
        time.sleep(_BETWEEN_S)
    return False
