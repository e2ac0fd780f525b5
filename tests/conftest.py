"""Property tests try the same examples on every run: what CI shows is what a person sees."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True)
settings.load_profile("repeatable")
