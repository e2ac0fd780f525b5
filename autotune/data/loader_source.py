"""Samples that a function of the user's yields: ``module:function``."""

from __future__ import annotations

import errno
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final, Self

import numpy as np

from autotune.core.errors import UserError
from autotune.core.model import ModelFacts
from autotune.data.dataset import Dataset, Fit, Sample
from autotune.data.fit import fit_sample
from autotune.data.headers import SampleHeader, header_of
from autotune.data.rows import model_row
from autotune.data.sample_store import StoredSamples, digest_of, keep, store_root
from autotune.user_code import user_function

__all__ = ["MOST_KEPT", "LoaderSource", "reopened"]

MOST_KEPT: Final = 20_000  # samples of a generator that are kept on disk: far more than are ever used
_FORM: Final = "yield ({input name: array}, label or None)"


@dataclass(frozen=True)
class LoaderSource:
    """What the function returned. A sequence is read by index, as it is; what only iterates is run once and kept on disk.

    ``headers`` are those of all samples; of a sequence that is opened again, of the first.
    """

    loader: str
    path: Path
    digest: str
    headers: Sequence[SampleHeader]
    samples: Sequence[Sample]
    preprocess: None = None

    @classmethod
    def open(cls, spec: str) -> Self:
        """Call the function and go through its samples once. Raises ``UserError``."""
        file, returned = _called(spec)
        if _is_sequence(returned):
            read = _Checked(spec, returned)
            digest, headers = digest_of(read)
            _refuse_unlike(spec, read, headers)
            return cls(spec, file, digest, headers, read)
        folder, digest, headers = _kept(spec, returned)
        _refuse_mixed_labels(spec, headers)
        return cls(spec, folder, digest, headers, StoredSamples(folder))

    def sha256(self) -> str:
        """The hash of all samples' names, types, shapes, bytes and labels, in order: not of the code that yields them."""
        return self.digest

    def fit(self, model: ModelFacts) -> Fit:
        """Hold every sample against the model. Raises ``UserError``."""
        seen: dict[Any, Mapping[str, int]] = {}
        counts: Counter[Any] = Counter()
        for number, header in enumerate(self.headers):
            key = header.key()
            if key not in seen:
                seen[key] = fit_sample(f"{self.loader}: sample {number}", header.inputs, model).sizes
            counts[key] += 1
        commonest = seen[counts.most_common(1)[0][0]]
        varying = [dim for dim in commonest if len({sizes[dim] for sizes in seen.values()}) > 1]
        if not varying:
            _refuse_sizes_without_a_name(self.loader, self.headers)
        return Fit(len(self.headers), self.headers[0].labelled, commonest, tuple(varying))

    def dataset(self, model: ModelFacts) -> Dataset:
        """The samples. Raises ``UserError`` when the first one does not fit."""
        layout = fit_sample(f"{self.loader}: sample 0", self.headers[0].inputs, model)
        return _LoaderDataset(self.loader, self.samples, model, layout.lacking_axis)


def reopened(spec: str, path: Path) -> LoaderSource:
    """Open again, in another process, what ``LoaderSource.open`` found at ``path``. Raises ``UserError``."""
    if path.is_dir() or not path.exists():
        stored = StoredSamples(path)
        return LoaderSource(spec, path, path.name, stored.headers, stored)
    file, returned = _called(spec)
    if not _is_sequence(returned):
        raise UserError(f"--data {spec} returned a sequence when the search began", "let it do so again")
    samples = _Checked(spec, returned)
    return LoaderSource(spec, file, "", [header_of(samples[0])], samples)


class _LoaderDataset:
    """The samples made what the model takes."""

    def __init__(self, name: str, samples: Sequence[Sample], model: ModelFacts, lacking: frozenset[str]) -> None:
        self._name, self._samples, self._model, self._lacking = name, samples, model, lacking

    def __len__(self) -> int:
        return len(self._samples)

    def sample(self, index: int) -> Sample:
        inputs, label = self._samples[index]
        where = f"{self._name}: sample {index}"
        rows = {
            one.name: model_row(inputs[one.name], one, where, lacks_axis=one.name in self._lacking)
            for one in self._model.inputs
        }
        return rows, label


class _Checked(Sequence[Sample]):
    """A user's sequence; each sample is checked for its form. Raises ``UserError`` where it cannot be read."""

    def __init__(self, spec: str, samples: Any) -> None:
        self._spec, self._samples = spec, samples

    def __len__(self) -> int:
        return len(self._samples)

    def __getitem__(self, index: Any) -> Any:
        try:
            found = self._samples[index]
        except Exception as error:
            raise _failed(self._spec, f"sample {index}", error) from error
        return _sample(self._spec, index, found)

    def __iter__(self) -> Iterator[Sample]:
        """By length: a sequence of the user's need not raise ``IndexError`` at its end."""
        return (self[index] for index in range(len(self)))


def _called(spec: str) -> tuple[Path, Any]:
    """The function's source file, and what it returned."""
    function = user_function(spec, "--data")
    try:
        returned = function()
    except Exception as error:
        raise _failed(spec, "calling it", error) from error
    iterable = _is_sequence(returned) or isinstance(returned, Iterable)
    if not iterable or isinstance(returned, Mapping | str | bytes | np.ndarray):
        raise UserError(f"--data {spec} returns a {type(returned).__name__}, not samples", _FORM)
    return _source_file(spec), returned


def _source_file(spec: str) -> Path:
    module = spec.partition(":")[0]
    file = getattr(sys.modules[module], "__file__", None)
    if file is None:
        raise UserError(f"--data {spec}: {module} is no Python file", "write module:function of a file of yours")
    return Path(file).absolute()


def _is_sequence(returned: Any) -> bool:
    return hasattr(returned, "__len__") and hasattr(returned, "__getitem__")


def _kept(spec: str, yielded: Iterable[Any]) -> tuple[Path, str, list[SampleHeader]]:
    try:
        return keep(_checked(spec, yielded), store_root())
    except OSError as error:
        full = error.errno in {errno.ENOSPC, errno.EDQUOT}
        remedy = (
            "free space there, or return a sequence: it is read by index and not kept"
            if full
            else f"see to {store_root()}"
        )
        raise UserError(f"--data {spec}: its samples cannot be kept: {error}", remedy) from error


def _checked(spec: str, yielded: Iterable[Any]) -> Iterator[Sample]:
    number = -1
    try:
        iterator = iter(yielded)
        for number, found in enumerate(islice(iterator, MOST_KEPT)):
            yield _sample(spec, number, found)
        more = next(iterator, None) is not None
    except (UserError, GeneratorExit):
        raise
    except Exception as error:
        raise _failed(spec, f"sample {number + 1}", error) from error
    if number < 0:
        raise UserError(f"--data {spec} yields no samples", _FORM)
    if more:
        remedy = "end it earlier (itertools.islice), or return a sequence: it is read by index and not kept"
        raise UserError(f"--data {spec} yields more than {MOST_KEPT} samples", remedy)


def _sample(spec: str, index: int, found: Any) -> Sample:
    """Return the sample with its inputs as arrays. Raises ``UserError`` when it has not the form of one."""
    if not (isinstance(found, tuple) and len(found) == 2 and isinstance(found[0], Mapping)):
        raise UserError(f"--data {spec}: sample {index} is a {type(found).__name__}, not a pair", _FORM)
    inputs, label = found
    arrays = {str(name): np.asarray(array) for name, array in inputs.items()}
    if label is not None and np.asarray(label).dtype.hasobject:
        remedy = "a label is a number, a string, or an array of them"
        raise UserError(f"--data {spec}: the label of sample {index} is a {type(label).__name__}", remedy)
    for name, array in arrays.items():
        if array.dtype.hasobject:
            remedy = "yield arrays of numbers or strings, padded to one length"
            raise UserError(f"--data {spec}: sample {index}: {name!r} holds Python objects", remedy)
    return arrays, label


def _refuse_unlike(spec: str, samples: Sequence[Sample], headers: Sequence[SampleHeader]) -> None:
    """Refuse a sequence without samples, or one that gives other samples when it is read again."""
    if not headers:
        raise UserError(f"--data {spec} returns an empty sequence", _FORM)
    _refuse_mixed_labels(spec, headers)
    if digest_of([samples[0]]) != digest_of([samples[0]]):
        remedy = "make it repeatable: seed what is random, by index"
        raise UserError(f"--data {spec}: sample 0 is another one each time it is read", remedy)


def _refuse_mixed_labels(spec: str, headers: Sequence[SampleHeader]) -> None:
    for number, header in enumerate(headers):
        if header.labelled != headers[0].labelled:
            having, lacking = (number, 0) if header.labelled else (0, number)
            raise UserError(
                f"--data {spec}: sample {having} has a label, sample {lacking} has none", "label all samples, or none"
            )


def _refuse_sizes_without_a_name(spec: str, headers: Sequence[SampleHeader]) -> None:
    first = {name: one.shape for name, one in headers[0].inputs.items()}
    for number, header in enumerate(headers):
        for name, one in header.inputs.items():
            if one.shape != first[name]:
                problem = f"--data {spec}: {name!r} of sample {number} is {one.shape}, of sample 0 {first[name]}"
                raise UserError(problem, "pad samples to one size: the model has no name for that axis")


def _failed(spec: str, what: str, error: Exception) -> UserError:
    first = next(iter(str(error).splitlines()), "")
    return UserError(f"--data {spec}: {what} raises {type(error).__name__}: {first}", "mend the function")
