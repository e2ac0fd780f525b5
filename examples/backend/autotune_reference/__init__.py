"""A backend of autotune's in a package of its own: onnx's reference implementation, in Python and NumPy."""
