"""The CI gate: two deployments measured side by side, and a verdict with honest statistics."""
