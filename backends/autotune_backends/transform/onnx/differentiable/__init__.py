"""A graph as a function that PyTorch can differentiate: the ONNX operators that models are pruned in, and no more.

Of operators that are not here a graph is left as it is, with the reason. What comes out is compared with onnxruntime before
anything is trained.
"""

from autotune_backends.transform.onnx.differentiable.function import GraphFunction
from autotune_backends.transform.onnx.differentiable.parts import Parts, split, without_derivative

__all__ = ["GraphFunction", "Parts", "split", "without_derivative"]
