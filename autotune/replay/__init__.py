"""A deployed folder opened again: its model and the original side by side, its samples, its load. What verify and gate share."""
