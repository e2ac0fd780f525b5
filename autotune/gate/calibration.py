"""What a head is calibrated on: never on inputs of another kind than the baseline was."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from autotune.core.deployment import ExportedConfig
from autotune.core.errors import UserError
from autotune.core.model import ModelFacts
from autotune.core.samples import Tensors
from autotune.core.units import counted
from autotune.replay.samples import read_samples

__all__ = ["Calibration"]


class Calibration:
    """The same part of ``data`` that a search calibrates on. Without data, what the baseline's folder holds of its own.

    A baseline that was searched on a person's data is never compared with a head that was calibrated on generated inputs:
    ranges of noise make int8 of anything fail. ``notes`` tell, after a build, what was taken instead of data.
    """

    def __init__(self, facts: ModelFacts, config: ExportedConfig, baseline: Path, data: str | None) -> None:
        self._facts, self._config, self._baseline, self._data = facts, config, baseline, data
        self.notes: tuple[str, ...] = ()

    def inputs(self) -> Iterable[Tensors]:
        """Inputs of batch 1, anew each time. Raises ``UserError`` when there are none of the right kind."""
        if self._data is None and not self._config.quality.generated:
            return self._samples()
        from autotune.data import batches, open_data, open_dataset

        given = open_data(self._data, self._facts, self._config.quality.seed)
        return (one for one, _ in batches(open_dataset(given, self._facts), given.split.calibrate, self._facts))

    def _samples(self) -> Iterable[Tensors]:
        file = self._baseline / "samples.npz"
        if not file.is_file():
            raise UserError(
                f"{self._baseline} was calibrated on data, and it holds no samples to calibrate on", "give --data"
            )
        inputs = read_samples(file).inputs
        self.notes = (f"calibrated on the baseline's own {counted(len(inputs), 'sample')}: --data gives more",)
        return iter(inputs)
