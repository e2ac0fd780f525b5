"""Every command of every page, run in the page's order, in a folder that holds what the page speaks of.

Searches are cut to a trial, verdicts to seconds; what is asked for stays. Installing is tested by whoever runs the tests,
``examples`` by tests of their own, and PyTorch where it is installed.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from autotune.cli import main
from autotune.testing import onnx_models
from benchmarks.first_five_minutes import STEPS, pictures

ROOT = Path(__file__).parents[2]
PAGES = ["README.md", *(str(page.relative_to(ROOT)) for page in sorted((ROOT / "docs").rglob("*.md")))]
HAS_TORCH = importlib.util.find_spec("torch") is not None

OURS = "autotune search model.onnx --data inputs.npz --metric top1 -o ours"
LLAMA = "autotune search llama-3.1-70b --device h100-sxm --device l40s --rate 200/s -o llama --no-tracking"


@dataclass(frozen=True)
class Ground:
    """``files`` makes what the page takes for granted, then ``before`` is run; ``names``: what the page calls so (a command's
    name and a word) by what it is called here. ``tracked``: it is about what MLflow holds, and searches are logged.
    """

    files: Callable[[Path, str], object] = lambda folder, page: None
    before: tuple[str, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    tracked: bool = False


def digits(folder: Path, page: str) -> None:
    """The shipped model under the names that pages give to one's own."""
    shutil.copytree(ROOT / "examples" / "digits", folder / "examples" / "digits")
    shutil.copyfile(ROOT / "examples" / "digits" / "model.onnx", folder / "model.onnx")
    for name in ("inputs.npz", "data.npz"):
        shutil.copyfile(ROOT / "examples" / "digits" / "test.npz", folder / name)
    shown_files(folder, page)


def shown_files(folder: Path, page: str) -> None:
    """Every file that a page shows under its name, with less of what takes long."""
    for text in re.findall(r"^```(?:yaml|python)\n(.*?)^```", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL):
        named = re.match(r"# (\S+\.(?:yaml|py))\n", text)
        if named:
            (folder / named[1]).write_text(re.sub(r"duration: \S+", "duration: 5s", text))


def first_scenario(folder: Path, page: str) -> None:
    """The page's own scenario; the one of docs/how-to/scenario.md where it has none."""
    for source in (page, "docs/how-to/scenario.md"):
        found = re.search(r"^    model: llama(?:.*\n)(?:    .*\n)+", (ROOT / source).read_text(), re.MULTILINE)
        if found:
            (folder / "scenario.yaml").write_text(re.sub(r"^    ", "", found[0], flags=re.MULTILINE))
            return


def everything(folder: Path, page: str) -> None:
    digits(folder, page)
    first_scenario(folder, page)


def tabular(folder: Path, page: str) -> None:
    """A model of 16 features, and houses."""
    weights = {"w": onnx_models.weight(0, 16, 1)}
    nodes = [onnx_models.node("MatMul", ["features", "w"], ["price"])]
    inputs = [onnx_models.value("features", ["batch", 16])]
    onnx_models.save(
        folder / "model.onnx", nodes, inputs, [onnx_models.value("price", ["batch", 1])], weights, opset=17
    )
    generator = np.random.default_rng(0)
    np.savez(folder / "houses.npz", features=generator.normal(size=(60, 16)).astype(np.float32), labels=np.ones(60))
    shown_files(folder, page)


def lengths(folder: Path, page: str) -> None:
    onnx_models.embedding(folder / "encoder.onnx")
    np.savez(folder / "tokens.npz", ids=np.random.default_rng(0).integers(0, 32, (60, 32)))
    shown_files(folder, page)


def images(folder: Path, page: str) -> None:
    shutil.copyfile(ROOT / "examples" / "digits" / "model.onnx", folder / "classifier.onnx")
    pictures(folder / "pictures")


def hardware(folder: Path, page: str) -> None:
    first_scenario(folder, page)
    onnx_models.embedding(folder / "model.onnx")
    columns = "system,model,precision,tp,concurrency,isl,osl,tpot_ms_measured"
    rows = "h100-sxm,llama-3.1-70b,fp8,4,32,1155,211,25\na100_sxm,llama-3-8b,bf16,1,8,1024,128,25"
    (folder / "points.csv").write_text(f"{columns}\n{rows}\n")


def gated(folder: Path, page: str) -> None:
    digits(folder, page)
    (folder / "my-llm").mkdir()
    sizes = {"hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8}
    sizes |= {"intermediate_size": 14336, "vocab_size": 128256, "max_position_embeddings": 8192}
    described = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "torch_dtype": "bfloat16", **sizes}
    (folder / "my-llm" / "config.json").write_text(json.dumps(described))


def program(folder: Path, page: str) -> None:
    """A small PyTorch program and inputs for it."""
    import torch

    model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4)).eval()
    sizes = {"input": {0: torch.export.Dim("batch", min=1, max=64)}}
    torch.export.save(torch.export.export(model, (torch.zeros(2, 16),), dynamic_shapes=sizes), folder / "model.pt2")
    np.savez(folder / "inputs.npz", input=np.random.default_rng(0).normal(size=(60, 16)).astype(np.float32))


GROUNDS = {
    "README.md": Ground(
        everything,
        (f"{OURS} --no-tracking", "autotune export ours -o deploy"),
        {"search seq=128": "batch=4"},
    ),
    "docs/gate.md": Ground(
        gated,
        (
            f"{OURS} --no-tracking",
            "autotune export ours -o baseline",
            LLAMA,
            "autotune search model.onnx --device a100 --workload default -o graph --no-tracking",
            "autotune search ./my-llm --device a100-sxm -o mine --no-tracking",
            "autotune export mine --format vllm -o serving",
        ),
        {"llama-3.1-70b RUN:knee": "llama:knee", "model.onnx RUN:baseline": "graph:baseline"},
    ),
    "docs/how-to/deploy.md": Ground(
        digits,
        (OURS, "mkdir autotune-runs", "mv ours autotune-runs/model-1", "autotune pick autotune-runs/model-1 knee"),
        {"export http://mlflow.example:5000": "sqlite:///mlflow.db", "pick t0012": "knee"},
        tracked=True,
    ),
    "docs/how-to/extend.md": Ground(tabular),
    "docs/how-to/gpu.md": Ground(hardware),
    "docs/how-to/images.md": Ground(images),
    "docs/how-to/lengths.md": Ground(lengths),
    "docs/how-to/pytorch.md": Ground(program),
    "docs/how-to/scenario.md": Ground(first_scenario),
    "docs/how-to/simulate.md": Ground(hardware, (LLAMA,), {"simulate RUN": "llama", "export RUN": "llama"}),
    "docs/how-to/smaller.md": Ground(digits),
    "docs/index.md": Ground(digits),
    "docs/load.md": Ground(digits),
    "docs/tutorial.md": Ground(digits, tracked=True),
}


def lines_of(page: str) -> Iterator[str]:
    """What the page says to type, in its order: commands of autotune, and of Python on what autotune wrote."""
    text = (ROOT / page).read_text()
    for fence, fenced, indented in re.findall(r"^```(\w*)\n((?:.*\n)*?)```|((?:^    .*\n)+)", text, re.MULTILINE):
        for line in (fenced if fence == "bash" else indented).splitlines():
            words = shlex.split(line, comments=True) if re.match(r" *(autotune|python) ", line) else []
            if words and "…" not in words:
                yield shlex.join(words)


def kind(line: str) -> tuple[str, frozenset[str]]:
    """A command and the options that it has: what is documented twice is run once."""
    words = shlex.split(line)
    return words[1], frozenset(word for word in words if word.startswith("-")) - {"--budget", "-o"}


def to_run(page: str) -> list[str]:
    """What the page says to type; of the README what no other page says."""
    others = {kind(line) for other in PAGES[1:] for line in lines_of(other)} if page == PAGES[0] else set()
    return [line for line in lines_of(page) if kind(line) not in others]


@pytest.mark.parametrize("page", [page for page in PAGES if any(lines_of(page))])
def test_every_command_of_a_page_does_what_it_says(page: str, tmp_path: Path, shell: Shell) -> None:
    ground = GROUNDS[page]
    if ground.files is program and not HAS_TORCH:
        pytest.skip("PyTorch is not installed")
    ground.files(tmp_path, page)
    untracked = [] if ground.tracked else ["--no-tracking"]
    for line in ground.before:
        shell(quick(shlex.split(line)), tmp_path, apart=ground.tracked)
    for line in to_run(page):
        words = [named(word, line, ground.names, tmp_path) for word in shlex.split(line)]
        if HAS_TORCH or not {"model.pt2", "--recover"} & set(words):
            quicker = quick(shlex.split(" ".join(words)))
            searches = words[1] == "search" and "--resume" not in words
            shell([*quicker, *untracked] if searches else quicker, tmp_path, apart=ground.tracked)


def named(word: str, line: str, names: Mapping[str, str], folder: Path) -> str:
    """What the page calls ``word``, as the shell is to read it here."""
    for prefix in shlex.split(line)[1:3]:
        if f"{prefix} {word}" in names:
            return names[f"{prefix} {word}"]
    if re.fullmatch(r"autotune-runs/\S*…", word):
        runs = folder.glob(word.replace("…", "*"))
        return str(max(runs, key=os.path.getmtime).relative_to(folder))
    return shlex.quote(word)


def quick(words: list[str]) -> list[str]:
    """The command with less to do."""
    if words[:2] == ["autotune", "search"] and "--resume" not in words:
        words = [STEPS if word.startswith("resize=256") else word for word in words]
        budget = "40s" if any("server" in word for word in words) else "30s"  # p99 needs 662 requests
        return [*words, "--budget", budget, "--trials", "1", "--executor", "process"]
    added = {"verify": ["--budget", "3s"], "gate": ["--budget", "4s", "--max-budget", "4s"], "ui": ["--print"]}
    return [*words, *(added.get(words[1], []) if words[0] == "autotune" else [])]


Shell = Callable[..., None]


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Shell:
    """Runs a command in a folder as a person would: by its console script where it is to be ``apart``, else in this process,
    which spares a second of imports. A verdict, on any machine, in so short a time, may be any.
    """
    for name in [name for name in os.environ if name.startswith(("MLFLOW_", "RAY_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(main, "end_quietly", lambda: None)  # the tests' own process goes on

    def run(words: list[str], folder: Path, *, apart: bool) -> None:
        monkeypatch.chdir(folder)
        code: str | int | None
        if apart or words[0] != "autotune":
            code = subprocess.run(words, check=False, timeout=200).returncode
        else:
            with pytest.raises(SystemExit) as ended:
                main.run(words[1:])
            code = ended.value.code
        judges = words[0] == "autotune" and words[1] in ("verify", "gate")
        assert code in ({0, 1, 4} if judges else {0}), f"{shlex.join(words)}\n{capfd.readouterr()}"

    return run
