"""The public Python API: ``search`` and ``load``."""
