"""The ONNX project's own test models, as the ``onnx`` package ships them: each with inputs and the outputs that it must give."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

__all__ = ["KINDS", "SuiteModel", "suite_models"]

KINDS = ("node", "simple", "pytorch-converted", "pytorch-operator")
"""What the package holds whole; its ``real`` and ``light`` models are downloads or have no outputs."""


@dataclass(frozen=True)
class SuiteModel:
    """``case`` is an ``onnx.backend.test.case.test_case.TestCase``. A tensor is an array; a sequence a list; None: absent."""

    kind: str
    case: Any

    @property
    def name(self) -> str:
        """The suite's own name, by its kind."""
        return f"{self.kind}/{self.case.name}"

    @cached_property
    def proto(self) -> Any:
        """The ``ModelProto``."""
        import onnx

        return onnx.load(Path(self.case.model_dir) / "model.onnx") if self.case.model is None else self.case.model

    @cached_property
    def inputs(self) -> Mapping[str, Any]:
        """What is fed, by name."""
        return dict(zip(self._names(self.proto.graph.input), self._data[0], strict=False))

    @cached_property
    def outputs(self) -> Mapping[str, Any]:
        """What must come out, by name."""
        return dict(zip(self._names(self.proto.graph.output), self._data[1], strict=False))

    @cached_property
    def _data(self) -> tuple[Sequence[Any], Sequence[Any]]:
        if self.case.data_sets:
            inputs, outputs = self.case.data_sets[0]
            return [_plain(value) for value in inputs], [_plain(value) for value in outputs]
        folder, graph = Path(self.case.model_dir) / "test_data_set_0", self.proto.graph
        return _stored(folder, "input", graph.input), _stored(folder, "output", graph.output)

    def _names(self, values: Any) -> list[str]:
        return [value.name for value in values]


def suite_models(kinds: Sequence[str] = KINDS) -> Iterator[SuiteModel]:
    """Every model, by kind and name."""
    from onnx.backend.test.loader import load_model_tests

    for kind in kinds:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # numpy's, about the suite's own arithmetic
            cases = load_model_tests(kind=kind)
        yield from (SuiteModel(kind, case) for case in sorted(cases, key=lambda case: case.name))


def _plain(value: Any) -> Any:
    """Some of the node cases hold protobuf messages instead of arrays."""
    from onnx import TensorProto, numpy_helper

    return numpy_helper.to_array(value) if isinstance(value, TensorProto) else value


def _stored(folder: Path, what: str, values: Any) -> list[Any]:
    count = len(list(folder.glob(f"{what}_*.pb")))
    return [_read(folder / f"{what}_{number}.pb", values[number].type) for number in range(count)]


def _read(file: Path, kind: Any) -> Any:
    import onnx
    from onnx import numpy_helper

    forms = {
        "tensor_type": (onnx.TensorProto, numpy_helper.to_array),
        "sequence_type": (onnx.SequenceProto, numpy_helper.to_list),
        "optional_type": (onnx.OptionalProto, numpy_helper.to_optional),
    }
    form, convert = forms[kind.WhichOneof("value")]
    message = form()
    message.ParseFromString(file.read_bytes())
    return convert(message)
