"""The class that autotune finds by its entry point. It imports no runtime: that is the session's to do."""

# ruff: noqa: ARG002 - the protocol's arguments
from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

from autotune.core.artifact import Artifact
from autotune.core.candidate import Candidate
from autotune.core.deployment import Deployment, SessionSettings
from autotune.core.device import DeviceSpec
from autotune.core.hashing import hash_files
from autotune.core.model import ModelFacts
from autotune.core.ports import Session
from autotune.core.samples import Tensors
from autotune.core.space import Offer, Parameter
from autotune.host import counted_cpus
from autotune.host.isa import read_cpu
from autotune.measure.session_process import SessionProcess

COLLECT = "garbage_collection"


class ReferenceBackend:
    """ONNX models in Python and NumPy, through onnx's reference implementation.

    Implements ``autotune.core.ports.Backend``.
    """

    name = "reference"

    def versions(self) -> Mapping[str, str]:
        """What a result depends on: other versions, other numbers."""
        return {"onnx": version("onnx")}

    def devices(self) -> Sequence[DeviceSpec]:
        """Where it can run, here and now."""
        cpu = read_cpu()
        return [DeviceSpec(name="cpu", model=cpu.model, cpus=counted_cpus(), isa=cpu.flags)]

    def offers(self, model: ModelFacts, device: DeviceSpec) -> Offer:
        """What there is to choose, or why the model cannot run there."""
        refusal = None
        if device.kind != "real" or device.device_class != "cpu":
            refusal = f"it runs on this machine's CPU, not on {device.name}"
        elif model.format != "onnx":
            refusal = f"it reads ONNX, not {model.format}"
        if refusal is not None:
            return Offer(backend=self.name, device=device.name, refusal=refusal)
        collect = Parameter(name=COLLECT, choices=(True, False), doc="whether Python looks for garbage meanwhile")
        return Offer(backend=self.name, device=device.name, parameters=(collect,))

    def build(
        self,
        model: ModelFacts,
        candidate: Candidate,
        device: DeviceSpec,
        folder: Path,
        calibration: Callable[[], Iterable[Tensors]],
        custom_op_library: Path | None = None,
    ) -> Artifact:
        """The candidate's files: here the model's own, whatever the candidate. Raises ``BuildError``."""
        for name in model.files:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(model.path.parent / name, folder / name)
        written = [folder / name for name in model.files]
        return Artifact(
            backend=self.name,
            folder=folder,
            model=model.path.name,
            files=model.files,
            sha256=hash_files(written, folder),
            size_bytes=sum(file.stat().st_size for file in written),
            candidate=candidate,
        )

    def open(self, artifact: Artifact, device: DeviceSpec) -> Session:
        """A process of its own, in which ``open_session`` is called."""
        return SessionProcess("autotune_reference.session:open_session", artifact, device)

    def deployment(self, artifact: Artifact, candidate: Candidate) -> Deployment:
        """What an export says of it, as data."""
        settings = SessionSettings(runtime=self.name, options={COLLECT: candidate.get(COLLECT, True)})
        return Deployment(runtime=self.name, model=artifact.model, files=artifact.files, session=settings)
