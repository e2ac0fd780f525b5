"""What an export needs to know of an artifact, and what an exported folder states about itself."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from autotune.core.candidate import Candidate
from autotune.core.device import DeviceSpec
from autotune.core.environment import Environment
from autotune.core.frozen import FileRecord, Record
from autotune.core.power import PowerModel
from autotune.core.values import Value
from autotune.core.workload import Workload

__all__ = ["Batching", "Deployment", "ExportedConfig", "Original", "Promise", "Quality", "SessionSettings", "Source"]


class SessionSettings(Record):
    """How the runtime opens the model. ``options`` are named as the runtime names them (onnxruntime: SessionOptions' fields;
    openvino: its properties);
    ``config_entries`` are its free-form settings; ``providers`` in order of preference.
    ``custom_op_library`` is a file beside the model, None: none. ``runtime`` is the package that opens it.
    """

    runtime: str = "onnxruntime"
    options: dict[str, Any] = Field(default_factory=dict)
    config_entries: dict[str, str] = Field(default_factory=dict)
    providers: tuple[str, ...] = ()
    custom_op_library: str | None = None


class Deployment(Record):
    """A backend's description of one artifact: everything a target format is written from.

    ``files`` are relative to the artifact's folder, ``model`` is one of them.
    ``batch`` is the batch size that the throughput was measured with.
    """

    runtime: str
    model: str
    files: tuple[str, ...]
    session: SessionSettings
    batch: int = 1


class Batching(Record):
    """A dynamic batcher's policy."""

    max_batch: int
    delay_s: float
    instances: int = 1


class Promise(Record):
    """What was measured, and what ``verify`` checks again. ``ratios`` are this point / the original, paired.

    ``dims``: the sizes of the model's symbolic dimensions then, where the load does not mix several; the batch is not among them.
    """

    metrics: dict[str, Value]
    ratios: dict[str, Value] = Field(default_factory=dict)
    workload: Workload
    batch: int = 1
    dims: dict[str, int] = Field(default_factory=dict)


class Quality(Record):
    """What the accuracy of the promise is: ``name`` accuracy or fidelity, by ``metric``, over ``n`` samples.

    ``generated`` says that the inputs were not the user's. ``seed`` is what the data were split by. ``preprocess``: what was
    done to images, None: they were none.
    """

    name: Literal["accuracy", "fidelity"]
    metric: str
    data_sha256: str
    n: int
    generated: bool = False
    seed: int = 0
    preprocess: str | None = None


class Source(Record):
    """Where an exported folder came from."""

    search: str
    trial: str
    point: str
    model_sha256: str


class Original(Record):
    """The original model's session, against which the promise's ratios were measured, so that they can be checked again.

    ``model`` is its file relative to the exported folder, None when it was left out. ``batch`` as in ``Deployment``.
    """

    model: str | None = None
    session: SessionSettings = SessionSettings()
    batch: int = 1


class ExportedConfig(FileRecord):
    """``config.json`` of an exported folder. ``original`` None: the promise has no ratios that could be checked.

    ``power`` is what energy was estimated with, None: it was not (or that is unknown). ``files`` are the model's, relative to
    the folder; ``model`` is one of them.
    """

    schema_: str = Field(default="autotune/config/1", alias="schema")
    format: str
    runtime: str
    model: str
    files: tuple[str, ...] = ()
    candidate: Candidate
    device: DeviceSpec
    session: SessionSettings
    batching: Batching | None = None
    promise: Promise
    quality: Quality
    environment: Environment
    source: Source
    original: Original | None = None
    power: PowerModel | None = None
