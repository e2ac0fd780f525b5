"""A backend whose candidates misbehave on request: what executors and searches are tested with.

It is a real plug-in: a test makes it known through an entry point (``install``), and its trials run in real processes.
A candidate's ``behaviour`` is what happens and ``where`` is when: ``build`` (in the trial's own process), ``open`` or ``run``
(in the session's).
"""

# ruff: noqa: ARG002  - the protocol's signatures
from __future__ import annotations

import json
import os
import resource
import signal
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from autotune.core.artifact import Artifact
from autotune.core.candidate import Candidate
from autotune.core.deployment import Deployment, SessionSettings
from autotune.core.device import DeviceSpec
from autotune.core.errors import BuildError
from autotune.core.hashing import hash_files
from autotune.core.model import ModelFacts
from autotune.core.ports import Session
from autotune.core.samples import Tensors
from autotune.core.space import Offer, Parameter
from autotune.measure.session_process import SessionProcess

__all__ = ["BEHAVIOURS", "FakeBackend", "install", "misbehave"]

BEHAVIOURS = ("ok", "refused", "unchanged", "bug", "crash", "hang", "memory", "nan", "wrong")
_MODEL = "model.json"
_STEP_BYTES = 32 * 2**20


class FakeBackend:
    """Implements ``core.ports.Backend`` for the model y = 2x. Its artifact is one small JSON file."""

    name = "fake"

    def versions(self) -> Mapping[str, str]:
        """Its one version."""
        return {"fake": "1"}

    def devices(self) -> Sequence[DeviceSpec]:
        """A CPU."""
        return [DeviceSpec(name="cpu", cpus=os.cpu_count())]

    def offers(self, model: ModelFacts, device: DeviceSpec) -> Offer:
        """All behaviours, at every stage."""
        parameters = (
            Parameter(name="runtime", choices=("fake",), affects="build"),
            Parameter(name="behaviour", choices=BEHAVIOURS, affects="build"),
            Parameter(name="where", choices=("build", "open", "run"), affects="build"),
        )
        return Offer(backend=self.name, device=device.name, parameters=parameters)

    def build(
        self,
        model: ModelFacts,
        candidate: Candidate,
        device: DeviceSpec,
        folder: Path,
        calibration: Callable[[], Iterable[Tensors]],
        custom_op_library: Path | None = None,
    ) -> Artifact:
        """Write the behaviour down, or show it here. Raises ``BuildError`` when refusing is the behaviour."""
        behaviour, where = str(candidate.get("behaviour", "ok")), candidate.get("where", "run")
        if behaviour == "refused":
            raise BuildError("unsupported", "refused, as asked")
        if where == "build":
            misbehave(behaviour)
        file = folder / _MODEL
        file.write_text(json.dumps({"behaviour": behaviour, "where": where}))
        return Artifact(
            backend=self.name,
            folder=folder,
            model=_MODEL,
            files=(_MODEL,),
            sha256=hash_files([file], folder),
            size_bytes=file.stat().st_size,
            candidate=candidate,
            unchanged="there was nothing to change" if behaviour == "unchanged" else None,
        )

    def open(self, artifact: Artifact, device: DeviceSpec) -> Session:
        """Open in a process of its own."""
        return SessionProcess("autotune.testing.fake_session:open_session", artifact, device)

    def deployment(self, artifact: Artifact, candidate: Candidate) -> Deployment:
        """The one file."""
        return Deployment(runtime=self.name, model=_MODEL, files=(_MODEL,), session=SessionSettings())


def misbehave(behaviour: str) -> None:
    """Do what only ends by a signal, a limit or an error; return when the behaviour is another kind."""
    if behaviour == "bug":
        raise AssertionError("a bug, as asked")
    if behaviour == "crash":
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.kill(os.getpid(), signal.SIGSEGV)
    while behaviour == "hang":
        time.sleep(60)
    taken = []
    while behaviour == "memory":
        taken.append(bytearray(os.urandom(4096)) * (_STEP_BYTES // 4096))
        time.sleep(0.05)


def install(folder: Path) -> None:
    """Make the backend known to every process that has ``folder`` in its PYTHONPATH, as ``pip install`` would."""
    information = folder / "autotune_fake_backend-1.dist-info"
    information.mkdir(parents=True)
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: autotune-fake-backend\nVersion: 1\n")
    (information / "entry_points.txt").write_text(
        "[autotune.backends]\nfake = autotune.testing.fake_backend:FakeBackend\n"
    )
