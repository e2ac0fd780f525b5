from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from autotune.core.errors import UserError
from autotune.core.model import BatchAxis, ModelFacts, TensorFacts
from autotune.data import open_data, open_dataset
from autotune.data.sample_store import store_root
from autotune.user_code import find_code_in


def model(*shape: int | str, dtype: str = "float32", **dims: int) -> ModelFacts:
    return ModelFacts(
        path=Path("m.onnx"), format="onnx", sha256="0", files=("m.onnx",), size_bytes=1,
        inputs=(TensorFacts(name="x", dtype=dtype, shape=("N", *shape)),), outputs=(),
        batch=BatchAxis(works=False, symbol="N", reason="not probed"), dims={"N": 1, **dims},
    )  # fmt: skip


PLAIN = model(4)
HEAD = "import numpy as np\n"


@pytest.fixture
def loader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest):
    """Write a module of the user's with this source; return how ``--data`` names its function ``load``."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "path", [*sys.path])
    name = f"mine_{abs(hash(request.node.name))}"

    def write(body: str) -> str:
        (tmp_path / f"{name}.py").write_text(HEAD + body)
        find_code_in(tmp_path)
        sys.modules.pop(name, None)
        return f"{name}:load"

    yield write
    sys.modules.pop(name, None)


def refusal(spec: str, facts: ModelFacts = PLAIN) -> str:
    with pytest.raises(UserError) as caught:
        open_data(spec, facts, 0)
    assert len(str(caught.value).splitlines()) == 2
    return str(caught.value)


GENERATOR = "def load():\n    for i in range(40):\n        yield {'x': np.full(4, i)}, i % 3\n"
SEQUENCE = """
class Rows:
    def __len__(self):
        return 40
    def __getitem__(self, i):
        return {'x': np.full(4, i)}, i % 3
def load():
    return Rows()
"""


@pytest.mark.parametrize("body", [GENERATOR, SEQUENCE])
def test_samples_are_read_by_index_as_the_model_takes_them(loader, body: str) -> None:
    data = open_data(loader(body), PLAIN, 0)
    dataset = open_dataset(data, PLAIN)
    inputs, label = dataset.sample(5)
    assert (len(dataset), data.count, data.labels) == (40, 40, True)
    assert (inputs["x"].dtype, inputs["x"].tolist(), label) == (np.float32, [5, 5, 5, 5], 2)


def test_a_generator_is_kept_on_disk_and_a_sequence_is_not(loader) -> None:
    assert open_data(loader(GENERATOR), PLAIN, 0).path.parent == store_root()
    kept = len(list(store_root().iterdir()))
    data = open_data(loader(SEQUENCE), PLAIN, 0)
    assert data.path.suffix == ".py"
    assert len(list(store_root().iterdir())) == kept == 1


def test_the_hash_follows_the_samples_and_not_the_code(loader) -> None:
    first = open_data(loader(GENERATOR), PLAIN, 0)
    same = open_data(loader(SEQUENCE + "# by index\n"), PLAIN, 1)
    other = open_data(loader(GENERATOR.replace("i % 3", "i % 2")), PLAIN, 0)
    assert first.sha256 == same.sha256 != other.sha256


def test_samples_may_differ_in_size_and_the_commonest_is_told(loader) -> None:
    body = "def load():\n    return ((({'x': np.ones(4 if i % 3 else 2)}, None)) for i in range(40))\n"
    facts = model("seq", seq=128)
    data = open_data(loader(body), facts, 0)
    assert data.varying == ("seq",)
    dataset = open_dataset(data, facts)
    assert [dataset.sample(i)[0]["x"].shape for i in range(3)] == [(2,), (4,), (4,)]


def test_strings_and_arrays_survive_being_kept(loader) -> None:
    body = "def load():\n    yield {'x': np.array(['a', 'longer'])}, np.eye(2)\n    yield {'x': ['b', 'c']}, [[1, 2]]\n"
    facts = model(2, dtype="str")
    dataset = open_dataset(open_data(loader(body), facts, 0), facts)
    assert dataset.sample(0)[0]["x"].tolist() == ["a", "longer"]
    assert dataset.sample(0)[1].tolist() == [[1, 0], [0, 1]]
    assert dataset.sample(1)[1].tolist() == [[1, 2]]


def test_samples_that_were_cleared_away_are_said(loader) -> None:
    data = open_data(loader(GENERATOR), PLAIN, 0)
    (data.path / "index.json").unlink()
    with pytest.raises(UserError, match="cannot be read"):
        open_dataset(data, PLAIN)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("def load():\n    raise KeyError('here')\n", "calling it raises KeyError: 'here'"),
        ("def load():\n    yield {'x': np.ones(4)}, 1\n    1 / 0\n", "sample 1 raises ZeroDivisionError"),
        ("def load():\n    return 3\n", "returns a int, not samples"),
        ("def load():\n    return {'x': np.ones(4)}\n", "returns a dict, not samples"),
        ("def load():\n    return []\n", "empty sequence"),
        ("def load():\n    return iter(())\n", "yields no samples"),
        ("def load():\n    yield np.ones(4)\n", "sample 0 is a ndarray, not a pair"),
        ("def load():\n    yield {'y': np.ones(4)}, 1\n", "sample 0 has no array for input 'x'"),
        ("def load():\n    yield {'x': np.ones(5)}, 1\n", "axis 0 of 'x' is 5, the model needs 4"),
        ("def load():\n    yield {'x': np.ones((1, 4))}, 1\n", "leave out the batch axis"),
        ("def load():\n    yield {'x': np.ones(4)}, {'a': 1}\n", "the label of sample 0 is a dict"),
        ("def load():\n    yield {'x': np.ones(4)}, 1\n    yield {'x': np.ones(4)}, None\n", "sample 1 has none"),
        ("def load():\n    yield {'x': [object()]}, 1\n", "holds Python objects"),
        (
            "def load():\n    g = np.random.default_rng()\n"
            "    class R(list):\n        def __getitem__(self, i):\n            return {'x': g.random(4)}, 1\n"
            "    return R([0])\n",
            "another one each time",
        ),
        ("import no_such_package\n", "No module named 'no_such_package'"),
        ("1 / 0\n", "importing it raises ZeroDivisionError"),
        ("def laod():\n    pass\n", "did you mean 'laod'?"),
    ],
)
def test_a_loaders_mistake_is_told(loader, body: str, says: str) -> None:
    assert says in refusal(loader(body))


def test_a_module_that_is_not_there_is_told() -> None:
    assert "No module named 'no_such_module'" in refusal("no_such_module:load")


def test_an_endless_generator_is_ended(loader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autotune.data.loader_source.MOST_KEPT", 50)
    text = refusal(loader("def load():\n    while True:\n        yield {'x': np.ones(4)}, 1\n"))
    assert "more than 50 samples" in text
    assert not list(store_root().iterdir())
