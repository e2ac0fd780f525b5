"""The format ``triton``: a model repository for Triton Inference Server, written from an exported folder.

Triton's model configuration (docs/user_guide/model_configuration.md) and its onnxruntime backend's parameters (that backend's
README.md). What was measured is this machine's onnxruntime under our batcher: for Triton, every promise is an estimate.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

from autotune.core.deployment import Batching, ExportedConfig, Promise, SessionSettings
from autotune.core.errors import UserError
from autotune.core.model import TensorFacts
from autotune.core.values import Value
from autotune.export.ort import workload_text
from autotune.export.readme import expectations
from autotune.export.write import replacing
from autotune.replay.folder import read_exported

__all__ = ["model_name", "not_carried", "triton_config", "write_triton"]

_TYPES = {
    "bool": "TYPE_BOOL",
    "uint8": "TYPE_UINT8",
    "uint16": "TYPE_UINT16",
    "uint32": "TYPE_UINT32",
    "uint64": "TYPE_UINT64",
    "int8": "TYPE_INT8",
    "int16": "TYPE_INT16",
    "int32": "TYPE_INT32",
    "int64": "TYPE_INT64",
    "float16": "TYPE_FP16",
    "bfloat16": "TYPE_BF16",
    "float32": "TYPE_FP32",
    "float64": "TYPE_FP64",
    "str": "TYPE_STRING",
}
_LEVELS = {"ORT_ENABLE_BASIC": -1, "ORT_ENABLE_EXTENDED": 1, "ORT_DISABLE_ALL": 2}  # all: Triton's default
_MODES = {"ORT_SEQUENTIAL": "0", "ORT_PARALLEL": "1"}
_VERSION = "1"


def write_triton(exported: Path, to: Path) -> ExportedConfig:
    """Write the folder ``exported`` (format ``ort``) as a model repository in ``to``; an earlier one there is replaced.

    Returns its config. Raises ``UserError`` when the model needs what Triton's backend cannot be told, or ``to`` cannot be
    written.
    """
    from autotune.models import read_model

    config = read_exported(exported)
    if config.session.custom_op_library is not None:
        raise UserError(
            "a library of custom operators does not fit into a model repository", "export with --format ort"
        )
    if config.runtime != "onnxruntime":
        raise UserError(
            f"the point runs in {config.runtime}, not in onnxruntime", "export with --format ort, or another point"
        )
    facts = read_model(exported / config.model)
    name = model_name(config)
    place = f"models/{name}/{_VERSION}"
    written = _moved(config, place)
    with replacing(to) as fresh:
        for file in config.files or (config.model,):
            target = fresh / place / ("model.onnx" if file == config.model else file)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(exported / file, target)
        text = triton_config(name, config, facts.inputs, facts.outputs)
        (fresh / "models" / name / "config.pbtxt").write_text(text, encoding="utf-8")
        if (exported / "samples.npz").exists():
            shutil.copyfile(exported / "samples.npz", fresh / "samples.npz")
        (fresh / "workload.yaml").write_text(workload_text(config.promise.workload), encoding="utf-8")
        (fresh / "README.md").write_text(_readme(name, written), encoding="utf-8")
        (fresh / "config.json").write_text(written.to_json(indent=2) + "\n", encoding="utf-8")
    return written


def model_name(config: ExportedConfig) -> str:
    """What Triton calls the model: its file's name, with nothing that a URL or a folder would stumble over."""
    return "".join(letter if letter.isalnum() or letter in "_-" else "_" for letter in Path(config.model).stem)


def triton_config(
    name: str, config: ExportedConfig, inputs: Sequence[TensorFacts], outputs: Sequence[TensorFacts]
) -> str:
    """The text of ``config.pbtxt``. Without a policy that joins requests, the batch axis is an axis like any other."""
    policy = config.batching or Batching(max_batch=1, delay_s=0.0)
    batched = policy.max_batch > 1
    lines = [
        f"name: {_text(name)}",
        'backend: "onnxruntime"',
        'default_model_filename: "model.onnx"',
        f"max_batch_size: {policy.max_batch if batched else 0}",
        *(_tensor("input", tensor, batched=batched) for tensor in inputs),
        *(_tensor("output", tensor, batched=batched) for tensor in outputs),
        f"instance_group [ {{ count: {policy.instances} kind: KIND_CPU }} ]",
        *([_batching(policy)] if batched else []),
        *_session(config.session),
        "version_policy { latest { num_versions: 1 } }",
    ]
    return "\n".join(lines) + "\n"


def not_carried(session: SessionSettings) -> tuple[str, ...]:
    """Settings that Triton's backend has no parameter for: there they are onnxruntime's defaults."""
    entries = [f"{key}={value}" for key, value in session.config_entries.items() if value != "1"]
    level = session.options.get("graph_optimization_level")
    return (*entries, *([f"graph_optimization_level={level}"] if level == "ORT_ENABLE_LAYOUT" else []))


def _batching(policy: Batching) -> str:
    delay_us = round(policy.delay_s * 1e6)
    return (
        f"dynamic_batching {{ preferred_batch_size: [ {policy.max_batch} ] max_queue_delay_microseconds: {delay_us} }}"
    )


def _tensor(field: str, tensor: TensorFacts, *, batched: bool) -> str:
    if tensor.dtype not in _TYPES or tensor.kind != "tensor":
        raise UserError(
            f"Triton has no type for {tensor.name!r} ({tensor.kind} of {tensor.dtype})", "export with --format ort"
        )
    if tensor.shape is None:
        raise UserError(f"the rank of {tensor.name!r} is unknown, and Triton asks for it", "export with --format ort")
    sizes = [size if isinstance(size, int) else -1 for size in tensor.shape[1 if batched else 0 :]]
    dims = f"dims: [ {', '.join(map(str, sizes))} ]" if sizes else "dims: [ 1 ] reshape { shape: [ ] }"
    return f"{field} [ {{ name: {_text(tensor.name)} data_type: {_TYPES[tensor.dtype]} {dims} }} ]"


def _session(session: SessionSettings) -> list[str]:
    options = session.options
    parameters = {
        "intra_op_thread_count": options.get("intra_op_num_threads"),
        "inter_op_thread_count": options.get("inter_op_num_threads"),
        "execution_mode": _MODES.get(str(options.get("execution_mode"))),
        "enable_mem_arena": _flag(options.get("enable_cpu_mem_arena")),
        "enable_mem_pattern": _flag(options.get("enable_mem_pattern")),
    }
    level = _LEVELS.get(str(options.get("graph_optimization_level")))
    lines = [] if level is None else [f"optimization {{ graph {{ level: {level} }} }}"]
    return lines + [
        f'parameters {{ key: "{key}" value {{ string_value: "{value}" }} }}'
        for key, value in parameters.items()
        if value is not None
    ]


def _flag(value: object) -> str | None:
    return None if value is None else str(int(bool(value)))


def _text(text: str) -> str:
    """A string of protobuf's text format; JSON's escapes of what is not ASCII are not its own, so that is kept as it is."""
    return json.dumps(text, ensure_ascii=False)


def _moved(config: ExportedConfig, place: str) -> ExportedConfig:
    """The config with the files' new places; all that was measured becomes an estimate, for Triton was not there."""

    def at(file: str) -> str:
        return f"{place}/{'model.onnx' if file == config.model else file}"

    promise = Promise(
        metrics={name: _estimated(value) for name, value in config.promise.metrics.items()},
        workload=config.promise.workload,
        batch=config.promise.batch,
    )
    files = tuple(at(file) for file in config.files)
    changes = {"format": "triton", "model": at(config.model), "files": files, "promise": promise, "original": None}
    return config.model_copy(update=changes)


def _estimated(value: Value) -> Value:
    if value.provenance != "measured":
        return value
    basis = f"measured in onnxruntime itself, not in Triton{f'; {value.basis}' if value.basis else ''}"
    return value.model_copy(update={"provenance": "estimated", "basis": basis})


def _readme(name: str, config: ExportedConfig) -> str:
    lost = not_carried(config.session)
    notes = f"Triton's backend cannot be told: {', '.join(lost)}.\n\n" if lost else ""
    return (
        f"# {name}\n\nA model repository for Triton Inference Server: point `{config.source.point}` of the search "
        f"`{config.source.search}`, with the batch policy that was measured.\n\n"
        f"    tritonserver --model-repository=models\n"
        f"    autotune verify . --url http://localhost:8000      # what it does there\n\n{notes}{expectations(config)}"
    )
