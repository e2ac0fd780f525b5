"""The environment variables of a trial's process: an allow-list, so that a number does not depend on who started it."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Mapping

__all__ = ["trial_environment"]

# What programs need to find themselves, their libraries, devices, caches and temporary files. Thread counts are absent on
# purpose (OMP_NUM_THREADS, which Ray sets in its workers): they are parameters of a candidate.
_ALLOWED = (
    "PATH",
    "HOME",
    "USER",
    "LANG",
    "LC_*",
    "TZ",
    "TMPDIR",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "VIRTUAL_ENV",
    "PYTHONPATH",
    "PYTHONHOME",
    "PYTHONUTF8",
    "CXX",
    "CONDA_*",
    "XDG_*",
    "HF_*",
    "CUDA_*",
    "NVIDIA_*",
    "ROCR_VISIBLE_DEVICES",
    "HIP_VISIBLE_DEVICES",
    "ZE_AFFINITY_MASK",
    "SSL_CERT_*",
    "REQUESTS_CA_BUNDLE",
)

_SET = {
    "PYTHONUNBUFFERED": "1",
    "PYTHONSAFEPATH": "1",  # a file of the user's folder must not stand for a library's module of that name
    "TORCH_FORCE_WEIGHTS_ONLY_LOAD": "1",  # a .pt2 archive can run code when it is loaded
    "HF_HUB_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "DO_NOT_TRACK": "1",
    "RAY_USAGE_STATS_ENABLED": "0",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "VLLM_NO_USAGE_STATS": "1",
}


def trial_environment(source: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return what a trial's process gets of ``source`` (None: this process's), with telemetry and downloads off."""
    source = os.environ if source is None else source
    passed = {name: value for name, value in source.items() if any(fnmatch.fnmatchcase(name, p) for p in _ALLOWED)}
    return passed | _SET
