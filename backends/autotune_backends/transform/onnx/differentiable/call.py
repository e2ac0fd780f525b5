"""One node as its operator sees it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Call", "Operator", "attributes_of"]


@dataclass(frozen=True)
class Call:
    """``inputs`` are tensors, None where one is left out. ``torch`` is the package, imported where it is needed.

    ``outputs``: how many the node has. ``opset`` is the version of the default operator set.
    """

    torch: Any
    inputs: Sequence[Any]
    attributes: Mapping[str, Any]
    outputs: int
    opset: int

    def __getitem__(self, position: int) -> Any:
        """The input there; None when it is left out."""
        return self.inputs[position] if position < len(self.inputs) else None

    def get(self, name: str, default: Any = None) -> Any:
        """An attribute."""
        return self.attributes.get(name, default)

    def axes(self, position: int = 1) -> list[int] | None:
        """``axes`` as newer operator sets give them (an input) or older ones (an attribute); None: none are given."""
        given = self[position]
        return self.get("axes") if given is None else [int(axis) for axis in given.reshape(-1)]

    @property
    def functional(self) -> Any:
        """``torch.nn.functional``."""
        return self.torch.nn.functional


Operator = Callable[[Call], Any]
"""Returns a tensor, or a sequence of them when the node has several outputs."""


def attributes_of(node: Any) -> dict[str, Any]:
    """Attributes as Python's own values; text is decoded, tensors are arrays."""
    from onnx import TensorProto, helper, numpy_helper

    plain: dict[str, Any] = {}
    for attribute in node.attribute:
        value = helper.get_attribute_value(attribute)
        if isinstance(value, TensorProto):
            value = numpy_helper.to_array(value)
        plain[attribute.name] = value.decode() if isinstance(value, bytes) else value
    return plain
