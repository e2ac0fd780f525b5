"""A candidate's files: the program without anything that could run, and what is made of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from autotune.core.artifact import Artifact
from autotune.core.candidate import Candidate
from autotune.core.errors import BuildError, UserError
from autotune.core.hashing import hash_files
from autotune.core.model import ModelFacts
from autotune.measure.causes import cause_of_exit
from autotune.models.pt2_plain import write_plain
from autotune_backends.torch.settings import build_options
from autotune_backends.transform.onnx.int8_dynamic import Int8Dynamic

__all__ = ["OPTIONS_FILE", "build"]

OPTIONS_FILE = "options.json"
"""Part of the artifact, since results depend on it as on weights: quality is kept by the artifact's hash."""

_NAMES = {"eager": "program.pt2", "inductor": "compiled.pt2", "onnxruntime": "model.onnx"}
_LAST_WORDS = 8192  # bytes


def build(model: ModelFacts, candidate: Candidate, folder: Path) -> Artifact:
    """Write the candidate's files into ``folder``. Raises ``BuildError``."""
    kernels = str(candidate.get("kernels", "eager"))
    name = _NAMES[kernels]
    try:
        with tempfile.TemporaryDirectory(prefix="autotune-program-") as place:
            plain = Path(place) / "plain.pt2"
            write_plain(model.path, folder / name if kernels == "eager" else plain)
            if kernels != "eager":
                _converted(candidate, plain, folder / name)
        (folder / OPTIONS_FILE).write_text(json.dumps(build_options(candidate)) + "\n", encoding="utf-8")
    except UserError as error:
        raise BuildError("unsupported", error.problem) from error
    except OSError as error:
        raise BuildError("disk", f"the program could not be written: {error}") from error
    return _artifact(candidate, folder, name)


def _converted(candidate: Candidate, plain: Path, target: Path) -> None:
    precision = candidate.get("precision", "fp32")
    exact = target if precision == "fp32" else plain.with_name(target.name)
    _in_process(plain, exact, build_options(candidate))
    if precision == "int8_dynamic":
        _quantised(exact, target, per_channel=candidate.get("int8_per_channel") is True)


def _in_process(plain: Path, target: Path, options: dict[str, str]) -> None:
    """Have ``converting`` load the program: this process does not. Raises ``BuildError``."""
    command = [
        sys.executable,
        "-P",
        "-m",
        "autotune_backends.torch.converting",
        str(plain),
        str(target),
        json.dumps(options),
    ]
    environment = {**os.environ, "TORCH_FORCE_WEIGHTS_ONLY_LOAD": "1"}
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment,
        check=False,
    )
    if done.returncode != 0:
        raise BuildError(*cause_of_exit(done.returncode, done.stdout[-_LAST_WORDS:].decode(errors="replace"), 0))


def _quantised(source: Path, target: Path, *, per_channel: bool) -> None:
    quantiser = Int8Dynamic(per_channel=per_channel, matmul_only=False, reduce_range=False, library=None, mixed=None)
    try:
        change = quantiser(source, target)
    except Exception as error:  # onnxruntime's quantiser raises what it likes
        raise BuildError("other", f"onnxruntime's quantiser failed: {type(error).__name__}: {error}") from error
    if change.unchanged:
        raise BuildError("unsupported", change.unchanged)


def _artifact(candidate: Candidate, folder: Path, name: str) -> Artifact:
    paths = sorted(file for file in folder.rglob("*") if file.is_file())
    return Artifact(
        backend="torch",
        folder=folder,
        model=name,
        files=tuple(path.relative_to(folder).as_posix() for path in paths),
        sha256=hash_files(paths, folder),
        size_bytes=sum(path.stat().st_size for path in paths),
        candidate=candidate,
    )
