"""Transformations of ONNX files: one file each, all of ``change.Transformation``'s form."""
