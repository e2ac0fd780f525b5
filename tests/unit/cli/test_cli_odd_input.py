"""Odd input, in process: exit 2 and two lines that say what, where and what to do; never a traceback, never a bug's 70."""

from __future__ import annotations

from pathlib import Path

import pytest

import autotune
from autotune.cli.main import app, run
from autotune.core.errors import UserError
from autotune.testing.onnx_models import mlp

SCENARIO = "model: llama-3-8b\ndevice: a100-sxm\nworkload: {base: chat, rate: 2/s, requests: 4}\ncandidate: "


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("odd")
    mlp(folder / "model.onnx")
    (folder / "circle").symlink_to("circle")
    (folder / "half").mkdir()
    (folder / "half" / "search.json").write_text("{")
    (folder / "leaves.py").write_text("raise SystemExit(9)\n")
    (folder / "misspelt.yaml").write_text(f"{SCENARIO}{{precison: bf16}}\n")
    (folder / "none.yaml").write_text("model: model.onnx\ndevice: l4\ncandidate: {batch_size: 0}\n")
    return folder


ODD = {
    "an option in place of a value": (
        ["search", "model.onnx", "--tracking-uri", "--dry-run"],
        "--tracking-uri needs a value",
    ),
    "help in place of a value": (["verify", "folder", "--budget", "--help"], "--budget needs a value"),
    "a run whose search.json is cut short": (["front", "half"], "search.json"),
    "a circle of links as a run": (["export", "circle", "-o", "out"], "circle"),
    "a port beyond all ports": (["ui", "--print", "--port", "99999"], "port"),
    "a misspelt parameter of a server": (["simulate", "misspelt.yaml"], "did you mean 'precision'"),
    "a batch of nothing": (["simulate", "none.yaml"], "batch_size"),
    "a loader that leaves python": (["search", "model.onnx", "--data", "leaves:samples"], "leaves"),
    "years of what is measured": (["search", "model.onnx", "--years", "3"], "--years"),
    "a confidence of what is measured": (["search", "model.onnx", "--confidence", "2"], "--confidence"),
    "tokens for a model without any": (["search", "model.onnx", "--workload", "chat"], "chat"),
    "data for a language model": (["search", "llama-3-8b", "--device", "l4", "--data", "x.npz"], "--data"),
    "sizes for a language model": (["search", "llama-3-8b", "--device", "l4", "--dim", "seq=4"], "--dim"),
}


def said(arguments: list[str], capfd: pytest.CaptureFixture[str]) -> tuple[int, list[str]]:
    with pytest.raises(SystemExit) as ended:
        run(arguments)
    assert isinstance(ended.value.code, int)
    return ended.value.code, capfd.readouterr().err.strip().splitlines()


@pytest.fixture(autouse=True)
def there(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    monkeypatch.setattr("autotune.cli.main.end_quietly", lambda: None)  # the tests' own process goes on


@pytest.mark.parametrize("case", ODD)
def test_odd_input_is_told_in_two_lines(case: str, capfd: pytest.CaptureFixture[str]) -> None:
    arguments, named = ODD[case]
    code, lines = said(arguments, capfd)
    assert code == 2, lines
    assert len(lines) == 2, lines
    assert named in "\n".join(lines)


@pytest.mark.parametrize("command", [one.callback.__name__ for one in app.registered_commands if one.callback])
def test_a_misspelt_option_is_told_with_its_own_commands_help(command: str, capfd: pytest.CaptureFixture[str]) -> None:
    code, lines = said([command, "--no-such-option"], capfd)
    assert (code, lines[-1]) == (2, f"see `autotune {command} --help`")


def test_nothing_asked_for_shows_the_help_as_it_is(capfd: pytest.CaptureFixture[str]) -> None:
    code, lines = said([], capfd)
    assert (code, lines[0]) == (2, "Usage: autotune [OPTIONS] COMMAND [ARGS]...")


@pytest.mark.parametrize("budget", [0, -1.0, float("nan"), float("inf")])
def test_no_time_is_not_the_default_time(budget: float) -> None:
    with pytest.raises(UserError, match="budget"):
        autotune.search("model.onnx", budget=budget)
