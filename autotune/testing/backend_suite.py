"""What every backend must hold to: subclass ``BackendSuite`` in a test file and say which backend, model and inputs."""

# ruff: noqa: D102 - a test's name says what it is for

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pytest

from autotune.core.artifact import Artifact
from autotune.core.candidate import Candidate, Scalar
from autotune.core.device import DeviceSpec
from autotune.core.errors import BuildError, OpenError
from autotune.core.hashing import hash_files
from autotune.core.model import ModelFacts
from autotune.core.ports import Backend
from autotune.core.samples import Requests, Tensors
from autotune.core.space import Offer

__all__ = ["BackendSuite", "complete"]

_LONG_ENOUGH_S = 0.3
_SOON_S = 30.0


def complete(offer: Offer, wishes: Mapping[str, Scalar] | None = None) -> Candidate:
    """Return a candidate of the offer: ``wishes`` where they apply, else each parameter's first value."""
    chosen: dict[str, Scalar] = {"runtime": offer.backend}
    for parameter in offer.parameters:
        if parameter.active(chosen):
            values = parameter.values() or (parameter.low or 0.0,)
            wanted = (wishes or {}).get(parameter.name, values[0])
            chosen[parameter.name] = wanted if parameter.holds(wanted) else values[0]
    return Candidate(chosen)


class BackendSuite:
    """Tests of ``core.ports.Backend`` and its sessions. The three fixtures that raise are the subclass's to define."""

    @pytest.fixture
    def backend(self) -> Backend:
        """A new backend."""
        raise NotImplementedError

    @pytest.fixture
    def model(self, tmp_path: Path) -> ModelFacts:
        """A small float32 model that the backend can run."""
        raise NotImplementedError

    @pytest.fixture
    def inputs(self) -> Tensors:
        """Inputs of batch 1 for the model."""
        raise NotImplementedError

    @pytest.fixture
    def foreign(self) -> DeviceSpec:
        """A device that the backend cannot know."""
        return DeviceSpec(name="elsewhere", kind="simulated", device_class="pim")

    @pytest.fixture
    def device(self, backend: Backend) -> DeviceSpec:
        """The backend's first device."""
        return backend.devices()[0]

    @pytest.fixture
    def offer(self, backend: Backend, model: ModelFacts, device: DeviceSpec) -> Offer:
        """What the backend offers."""
        return backend.offers(model, device)

    @pytest.fixture
    def artifact(
        self, backend: Backend, model: ModelFacts, device: DeviceSpec, offer: Offer, inputs: Tensors, tmp_path: Path
    ) -> Artifact:
        """The model as it is."""
        return _built(backend, model, complete(offer), device, tmp_path / "artifact", inputs)

    def test_versions_name_what_results_depend_on(self, backend: Backend) -> None:
        versions = backend.versions()
        assert versions
        assert all(versions.values())

    def test_devices_have_names_of_their_own(self, backend: Backend) -> None:
        names = [device.name for device in backend.devices()]
        assert names
        assert len(names) == len(set(names))

    def test_cpu_devices_count_their_cpus(self, backend: Backend) -> None:
        for device in backend.devices():
            assert device.device_class != "cpu" or (device.cpus or 0) >= 1

    def test_offer_names_backend_and_device(self, backend: Backend, device: DeviceSpec, offer: Offer) -> None:
        assert (offer.backend, offer.device, offer.refusal) == (backend.name, device.name, None)

    def test_offer_is_the_same_when_asked_again(
        self, backend: Backend, model: ModelFacts, device: DeviceSpec, offer: Offer
    ) -> None:
        assert backend.offers(model, device) == offer

    def test_offered_parameters_are_explained_and_have_values_of_their_own(self, offer: Offer) -> None:
        names = [parameter.name for parameter in offer.parameters]
        assert len(names) == len(set(names))
        for parameter in offer.parameters:
            assert parameter.doc, parameter.name
            assert len(set(parameter.choices)) == len(parameter.choices), parameter.name

    def test_conditions_name_values_that_were_offered_before(self, offer: Offer) -> None:
        for position, parameter in enumerate(offer.parameters):
            earlier = {other.name: other for other in offer.parameters[:position]}
            for name, values in parameter.requires.items():
                assert name == "runtime" or all(earlier[name].holds(value) for value in values), parameter.name

    def test_every_omission_has_a_reason(self, offer: Offer) -> None:
        for omission in offer.omissions:
            assert omission.reason.strip(), omission.parameter

    def test_omitted_values_are_not_offered(self, offer: Offer) -> None:
        for omission in offer.omissions:
            parameter = offer.parameter(omission.parameter)
            assert parameter is None or omission.values
            assert parameter is None or not any(parameter.holds(value) for value in omission.values)

    def test_foreign_device_is_refused_with_a_reason(
        self, backend: Backend, model: ModelFacts, foreign: DeviceSpec
    ) -> None:
        assert backend.offers(model, foreign).refusal

    def test_foreign_format_is_refused_with_a_reason(
        self, backend: Backend, model: ModelFacts, device: DeviceSpec
    ) -> None:
        assert backend.offers(model.model_copy(update={"format": "papyrus"}), device).refusal

    def test_artifact_describes_its_files(self, artifact: Artifact) -> None:
        files = [artifact.folder / name for name in artifact.files]
        assert artifact.model in artifact.files
        assert artifact.size_bytes == sum(file.stat().st_size for file in files)
        assert artifact.sha256 == hash_files(files, artifact.folder)
        assert sorted(files) == sorted(path for path in artifact.folder.rglob("*") if path.is_file())

    def test_building_again_gives_the_same_artifact(
        self, backend: Backend, model: ModelFacts, device: DeviceSpec, offer: Offer, inputs: Tensors, tmp_path: Path
    ) -> None:
        for number, candidate in enumerate(_build_candidates(offer)):
            first, second = (
                _outcome(backend, model, candidate, device, tmp_path / f"{number}{side}", inputs) for side in ("a", "b")
            )
            assert first == second, candidate

    def test_building_leaves_the_original_alone(
        self, backend: Backend, model: ModelFacts, device: DeviceSpec, offer: Offer, inputs: Tensors, tmp_path: Path
    ) -> None:
        before = _contents(model)
        for number, candidate in enumerate(_build_candidates(offer)):
            _outcome(backend, model, candidate, device, tmp_path / f"{number}", inputs)
        assert _contents(model) == before

    def test_parameters_of_load_and_run_do_not_change_the_artifact(
        self,
        backend: Backend,
        model: ModelFacts,
        device: DeviceSpec,
        offer: Offer,
        artifact: Artifact,
        inputs: Tensors,
        tmp_path: Path,
    ) -> None:
        last = {p.name: (p.values() or ())[-1] for p in offer.parameters if p.affects != "build" and p.values()}
        other = _built(backend, model, complete(offer, last), device, tmp_path / "other", inputs)
        assert other.sha256 == artifact.sha256

    def test_outputs_are_finite_and_repeat(
        self, backend: Backend, artifact: Artifact, device: DeviceSpec, inputs: Tensors
    ) -> None:
        with backend.open(artifact, device) as session:
            first, second = session.outputs(inputs), session.outputs(inputs)
        assert first
        for name, array in first.items():
            assert np.isfinite(array).all(), name
            np.testing.assert_array_equal(array, second[name])

    def test_every_value_of_load_parameters_opens(
        self, backend: Backend, artifact: Artifact, device: DeviceSpec, offer: Offer, inputs: Tensors
    ) -> None:
        for wishes in _single_changes(offer):
            changed = artifact.model_copy(update={"candidate": complete(offer, wishes)})
            with backend.open(changed, device) as session:
                assert session.outputs(inputs), wishes

    def test_a_round_has_one_latency_a_request(
        self, backend: Backend, artifact: Artifact, device: DeviceSpec, inputs: Tensors
    ) -> None:
        with backend.open(artifact, device) as session:
            samples = session.run(Requests("one", (inputs,)), 5)
        assert samples.latency_s.shape == (5,)
        assert (samples.latency_s > 0).all()
        assert samples.items == 1

    def test_a_paused_session_does_not_run(
        self, backend: Backend, artifact: Artifact, device: DeviceSpec, inputs: Tensors
    ) -> None:
        with backend.open(artifact, device) as session:
            session.outputs(inputs)
            session.pause()
            asking = threading.Thread(target=session.outputs, args=(inputs,), daemon=True)
            asking.start()
            asking.join(_LONG_ENOUGH_S)
            waited = asking.is_alive()
            session.resume()
            asking.join(_SOON_S)
            assert waited
            assert not asking.is_alive()

    def test_a_torn_artifact_is_an_open_error(self, backend: Backend, artifact: Artifact, device: DeviceSpec) -> None:
        file = artifact.folder / artifact.model
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
        with pytest.raises(OpenError) as raised, backend.open(artifact, device):
            pass
        assert raised.value.message

    def test_deployment_lists_existing_files(self, backend: Backend, artifact: Artifact, offer: Offer) -> None:
        deployment = backend.deployment(artifact, complete(offer))
        assert deployment.runtime == backend.name
        assert deployment.model in deployment.files
        for name in deployment.files:
            assert not Path(name).is_absolute()
            assert (artifact.folder / name).is_file()

    def test_deployment_depends_on_the_candidate_that_is_given(
        self, backend: Backend, artifact: Artifact, offer: Offer
    ) -> None:
        settings = {
            backend.deployment(artifact, complete(offer, wishes)).model_dump_json() for wishes in _single_changes(offer)
        }
        assert len(settings) == len(list(_single_changes(offer)))


def _built(
    backend: Backend, model: ModelFacts, candidate: Candidate, device: DeviceSpec, folder: Path, sample: Tensors
) -> Artifact:
    folder.mkdir()
    return backend.build(model, candidate, device, folder, lambda: [sample, sample])


def _outcome(
    backend: Backend, model: ModelFacts, candidate: Candidate, device: DeviceSpec, folder: Path, sample: Tensors
) -> str:
    """The artifact's hash, or why there is none: both must be the same each time."""
    try:
        return _built(backend, model, candidate, device, folder, sample).sha256
    except BuildError as error:
        return f"{error.cause}: {bool(error.message)}"


def _build_candidates(offer: Offer) -> list[Candidate]:
    """Each value of each parameter that affects the build, beside the first values of the others."""
    every = (
        complete(offer, {**{name: values[0] for name, values in parameter.requires.items()}, parameter.name: value})
        for parameter in offer.parameters
        if parameter.affects == "build"
        for value in parameter.values() or ()
    )
    return list(dict.fromkeys(every))


def _single_changes(offer: Offer) -> Iterator[dict[str, Scalar]]:
    """Each further value of each parameter of load that always applies, alone."""
    for parameter in offer.parameters:
        if parameter.affects == "load" and not parameter.requires:
            yield from ({parameter.name: value} for value in (parameter.values() or ())[1:])


def _contents(model: ModelFacts) -> dict[str, bytes]:
    folder = model.path.parent
    return {name: (folder / name).read_bytes() for name in model.files} | {
        "listing": "\n".join(sorted(path.name for path in folder.iterdir() if path.is_file())).encode()
    }
