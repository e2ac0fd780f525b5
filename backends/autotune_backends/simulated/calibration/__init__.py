"""A user's own measured points: how far the simulator is off on them, and what that says of what was not measured."""

from autotune_backends.simulated.calibration.applied import calibrated_on, corrected
from autotune_backends.simulated.calibration.correction import Belief, Correction, correction_of
from autotune_backends.simulated.calibration.reading import calibrated
from autotune_backends.simulated.calibration.residual import residual_of

__all__ = ["Belief", "Correction", "calibrated", "calibrated_on", "corrected", "correction_of", "residual_of"]
