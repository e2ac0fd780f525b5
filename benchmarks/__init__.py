"""Benchmarks: each prints what it measured. ``python -m benchmarks.NAME [--json] [--quick] [--seed N]``."""
