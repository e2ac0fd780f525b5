#!/usr/bin/env python3
"""Runs an exported model exactly as it was measured. Needs numpy and the runtime that config.json names, alone.

    python run.py                                    the outputs for samples.npz, and how far they are from the original's
    python run.py --input in.npz --output out.npz    your own inputs: one array per input of the model, by its name
    python run.py --time                             the median latency of one run
    python run.py --serve [--port 8000]              an HTTP server (KServe v2), with the batching of config.json; needs
                                                     fastapi and uvicorn besides

From Python:  ``import run; model = run.load(); outputs = model.run({"input": array})``; and ``run.batcher()`` is what requests
from many threads meet: ``batcher.infer({"input": array})``.
The session's options, config entries and providers come from config.json beside this file.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote, unquote

import numpy as np

HERE = Path(__file__).resolve().parent
LITERAL = " /:,;+*()[]{}<>=@!$&~'"  # kept as they are in an array's name, besides letters, digits and _.-


class Model:
    """A session with the settings of ``folder/config.json``. ``session`` is an InferenceSession, or alike."""

    def __init__(self, folder: Path = HERE) -> None:
        self.config: dict[str, Any] = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        settings = self.config["session"]
        self.session: Any = open_session(folder / self.config["model"], settings, folder)
        self.inputs: list[str] = [entry.name for entry in self.session.get_inputs()]
        self.outputs: list[str] = [entry.name for entry in self.session.get_outputs()]

    def run(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """Infer once: arrays by input name in, arrays by output name out (see ``flat_outputs``)."""
        return flat_outputs(self.outputs, self.session.run(self.outputs, inputs))


def load(folder: Path = HERE) -> Model:
    """Open the exported model in ``folder``."""
    return Model(Path(folder))


def flat_outputs(names: Sequence[str], values: Sequence[Any]) -> dict[str, Any]:
    """One array an output, whatever it is; an optional output that is absent is left out.

    A map (the probabilities of classes, say) becomes its values, in the order of its keys; a sequence is stacked on a first axis,
    or strung together when its parts differ in shape.
    """
    return {name: _as_array(value) for name, value in zip(names, values, strict=True) if value is not None}


def batcher(folder: Path = HERE, first: Model | None = None) -> Any:
    """The batcher (batcher.py) under the policy of config.json, one session an instance; without one, requests run one by one.

    ``first`` is the first instance where it is open already.
    """
    model = first or load(folder)
    policy = model.config.get("batching") or {"max_batch": 1, "delay_s": 0.0, "instances": 1}
    runners = [model.run, *(load(folder).run for _ in range(1, policy["instances"]))]
    kind = _beside("batcher").Batcher
    return kind(runners, max_batch=policy["max_batch"], delay_s=policy["delay_s"])


def serve(host: str, port: int) -> None:
    """Serve the model in this folder over HTTP (endpoint.py) until interrupted."""
    endpoint = _beside("endpoint")
    model = load()

    def tensors(entries: Any) -> list[Any]:
        return [endpoint.Tensor(entry.name, _datatype(entry.type), _sizes(entry.shape)) for entry in entries]

    name = Path(model.config["model"]).stem
    inputs, outputs = tensors(model.session.get_inputs()), tensors(model.session.get_outputs())
    found = endpoint.Endpoint(name, platform(model.config), inputs, outputs, batcher(first=model))
    endpoint.serve(found, host, port)


def platform(config: dict[str, Any]) -> str:
    """What runs the model and in which format, as the protocol puts it: ``openvino_onnx``, ``torch_pt2``."""
    return f"{_runtime(config['session'])}_{Path(config['model']).suffix.removeprefix('.')}"


def open_session(model: Path, settings: dict[str, Any], folder: Path) -> Any:
    """The model opened in its runtime; OpenVINO and PyTorch by openvino_session.py or torch_session.py, beside this file.

    Raises ``RuntimeError`` for a runtime of somebody's own backend: in another one it would not be what was measured.
    """
    runtime = _runtime(settings)
    if runtime == "openvino":
        return _beside("openvino_session").OpenVinoSession(model, settings)
    if runtime == "torch":
        return _beside("torch_session").TorchSession(model, settings)
    if runtime != "onnxruntime":
        raise RuntimeError(f"this was measured in {runtime}, which run.py cannot open")
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    options = session_options(settings, folder)
    return onnxruntime.InferenceSession(str(model), sess_options=options, providers=providers(settings))


def session_options(settings: dict[str, Any], folder: Path) -> Any:
    """The SessionOptions with every option and config entry of ``settings``; enumerations by name or number."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    for name, value in settings.get("options", {}).items():
        kind = type(getattr(options, name))
        enumerated = hasattr(kind, "__members__")
        setattr(options, name, _member(kind, value) if enumerated else value)
    for key, text in settings.get("config_entries", {}).items():
        options.add_session_config_entry(key, text)
    if settings.get("custom_op_library"):
        options.register_custom_ops_library(str(folder / settings["custom_op_library"]))
    return options


def providers(settings: dict[str, Any]) -> list[str]:
    """The execution providers asked for. Raises ``RuntimeError`` when onnxruntime here lacks one."""
    import onnxruntime

    wanted = list(settings.get("providers", ())) or ["CPUExecutionProvider"]
    missing = [name for name in wanted if name not in onnxruntime.get_available_providers()]
    if missing:
        raise RuntimeError(f"onnxruntime {onnxruntime.__version__} here has no {', '.join(missing)}")
    return wanted


def read_samples(file: Path | IO[bytes]) -> tuple[list[dict[str, Any]], list[dict[str, Any]], Any]:
    """Return the requests in samples.npz, the original's outputs for each, and their labels (None: there are none).

    Arrays are named ``input:NAME`` and ``output:NAME``; their first axis counts requests.
    """
    with np.load(file, allow_pickle=False) as arrays:
        inputs = {name: _from_file(arrays, f"input:{name}") for name in _names(arrays, "input:")}
        outputs = {name: _from_file(arrays, f"output:{name}") for name in _names(arrays, "output:")}
        labels = arrays["labels"] if "labels" in arrays.files else None
    counts = {len(array) for array in (*inputs.values(), *outputs.values())}
    if len(counts) > 1:
        raise ValueError("its arrays differ in how many requests they hold")
    count = max(counts, default=0)  # a model without inputs has outputs alone
    return _requests(inputs, count), _requests(outputs, count), labels


def array_name(prefix: str, name: str) -> str:
    """The name of a tensor's array in samples.npz: any name survives, since what a zip file cannot hold is %-escaped."""
    return prefix + quote(name, safe=LITERAL)


def to_file(array: Any) -> Any:
    """An array that can be written without pickling: strings get a fixed width."""
    return array.astype(np.str_) if array.dtype == object else array


def _as_array(value: Any) -> Any:
    if isinstance(value, dict):
        return np.asarray([value[key] for key in sorted(value)])
    if not isinstance(value, list):
        return np.asarray(value)
    parts = [_as_array(part) for part in value]
    if len({part.shape for part in parts}) == 1:
        return np.stack(parts)
    return np.concatenate([part.ravel() for part in parts]) if parts else np.empty(0, np.float32)


def _runtime(settings: dict[str, Any]) -> str:
    return str(settings.get("runtime", "onnxruntime"))


def _datatype(kind: str) -> str:
    """The Open Inference Protocol's name of a type that onnxruntime calls ``tensor(float)``."""
    name = kind.removeprefix("tensor(").removesuffix(")")
    known = {"float": "FP32", "double": "FP64", "float16": "FP16", "string": "BYTES"}
    return known.get(name, name.upper())


def _sizes(shape: Any) -> tuple[int, ...]:
    return tuple(size if isinstance(size, int) else -1 for size in shape)


def _beside(name: str) -> Any:
    """The module of that file beside this one, however this one was imported."""
    qualified = f"{__name__}_{name}"
    if qualified not in sys.modules:
        spec = importlib.util.spec_from_file_location(qualified, Path(__file__).resolve().parent / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[qualified] = module  # dataclasses look their module up there
        spec.loader.exec_module(module)
    return sys.modules[qualified]


def _member(kind: Any, value: Any) -> Any:
    return kind.__members__[value] if isinstance(value, str) else kind(value)


def _names(arrays: Any, prefix: str) -> list[str]:
    return [unquote(name.removeprefix(prefix)) for name in arrays.files if name.startswith(prefix)]


def _from_file(arrays: Any, name: str) -> Any:
    prefix, _, tensor = name.partition(":")
    array = arrays[array_name(f"{prefix}:", tensor) + ".npy"]  # with the suffix, "x" and "x.npy" are told apart
    return array.astype(object) if array.dtype.kind == "U" else array


def _requests(arrays: dict[str, Any], count: int) -> list[dict[str, Any]]:
    # [i, ...] and not [i]: a scalar string stays an array
    return [{name: np.asarray(array[index, ...]) for name, array in arrays.items()} for index in range(count)]


def _read_input(file: Path) -> dict[str, Any]:
    with np.load(file, allow_pickle=False) as arrays:
        return {
            name: arrays[name].astype(object) if arrays[name].dtype.kind == "U" else arrays[name] for name in arrays
        }


def _show(outputs: dict[str, Any]) -> None:
    for name, array in outputs.items():
        print(f"{name}: {array.dtype} {list(array.shape)}")
        print(np.array2string(array, threshold=16, edgeitems=4, precision=6))


def _difference(found: Any, original: Any) -> str:
    if found.shape != original.shape or found.dtype.kind not in "fiub":
        return "equal" if np.array_equal(found, original) else "different"
    largest = float(np.max(np.abs(found.astype(np.float64) - original.astype(np.float64)), initial=0.0))
    return f"at most {largest:.3g} away"


def _show_samples(requests: list[dict[str, Any]], found: list[dict[str, Any]], originals: list[dict[str, Any]]) -> None:
    print(f"{len(requests)} samples; the outputs for the first:")
    _show(found[0])
    for name in originals[0] if originals else ():
        pairs = zip(found, originals, strict=True)
        differences = {_difference(ours[name], original[name]) for ours, original in pairs}
        numbers = [float(text.split()[2]) for text in differences if text.startswith("at most")]
        worst = f"at most {max(numbers):.3g} away" if len(numbers) == len(differences) else min(differences)
        print(f"{name}: {worst} from the original's, over all samples")


def _time(model: Model, request: dict[str, Any]) -> None:
    for _ in range(10):
        model.run(request)
    seconds: list[float] = []
    end = time.perf_counter() + 3.0
    while len(seconds) < 20 or (time.perf_counter() < end and len(seconds) < 1000):
        start = time.perf_counter()
        model.run(request)
        seconds.append(time.perf_counter() - start)
    print(f"median latency {np.median(seconds) * 1e3:.3g} ms over {len(seconds)} runs")


def main(arguments: list[str] | None = None) -> int:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--input", type=Path, metavar="FILE.npz", help="inputs by name; default: samples.npz")
    parser.add_argument("--output", type=Path, metavar="FILE.npz", help="write the outputs here")
    parser.add_argument("--time", action="store_true", help="print the median latency of one run")
    parser.add_argument("--serve", action="store_true", help="serve over HTTP; needs fastapi and uvicorn")
    parser.add_argument("--host", default="127.0.0.1", help="address to serve on; default: this machine alone")
    parser.add_argument("--port", type=int, default=8000, help="port to serve on; default: 8000")
    chosen = parser.parse_args(arguments)
    if chosen.serve:
        serve(chosen.host, chosen.port)
        return 0
    samples = HERE / "samples.npz"
    if chosen.input is None and not samples.exists():
        parser.error("there is no samples.npz: give --input FILE.npz")
    model = load()
    requests, originals, _ = read_samples(samples) if chosen.input is None else ([_read_input(chosen.input)], [], None)
    found = [model.run(request) for request in requests]
    if chosen.time:
        _time(model, requests[0])
    elif chosen.input is None:
        _show_samples(requests, found, originals)
    else:
        _show(found[0])
    if chosen.output:
        whole = chosen.input is not None
        arrays = {name: found[0][name] if whole else np.stack([one[name] for one in found]) for name in model.outputs}
        np.savez(chosen.output, **{name: to_file(array) for name, array in arrays.items()})
    return 0


if __name__ == "__main__":
    sys.exit(main())
