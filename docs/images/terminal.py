"""A search as a terminal shows it: as a picture that is text, and as lines in the README."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from rich.console import Console
from rich.text import Text

from autotune.api.run import read_front
from autotune.core.trial import TrialRecord
from autotune.core.watching import Progress, Watched
from autotune.report import print_front, print_going_on
from autotune.report.live_view import live_view
from autotune.runs.folder import RunFolder
from autotune.searching.running_front import RunningFront
from autotune.searching.tally import Tally

__all__ = ["SEARCH", "terminal", "transcript"]

_DIGITS = "examples/digits"
SEARCH = ["autotune", "search", f"{_DIGITS}/model.onnx", "--data", f"{_DIGITS}/test.npz", "--metric", "top1"]
COLUMNS = 104
HEAD_COLUMNS = 36  # of a trial's candidate, in the README
SHOWN_SHARE = 0.7  # of the trials had ended when the live display is shown
_TRIAL = re.compile(r"[tf]\d{4}  ")


def terminal(folder: RunFolder, run: Path, log: list[str], to: Path) -> None:
    """The live display at one moment of the search, and what stays when it has ended."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True, highlight=False)
    console.print(Text(_typed(folder)))
    stays = [line for line in log[1:] if not _TRIAL.match(line)]
    begins = [line for line in stays if line.startswith("note: ")]
    for line in begins:
        console.print(Text(line))
    console.print(_moment(folder))
    console.print(Text(f"\n{'─' * 12}  when it has ended  {'─' * 12}\n", style="dim"))
    for line in stays[len(begins) :]:
        console.print(Text(line))
    answered(folder, run, console)
    picture = console.export_svg(title="autotune")
    to.write_text(
        re.sub(r"@font-face \{.*?\}\s*", "", picture, flags=re.DOTALL)
    )  # they would be fetched from elsewhere


def answered(folder: RunFolder, run: Path, console: Console) -> None:
    """What `autotune search` prints in the end. ``run``: the folder's path as it is shown."""
    front = read_front(folder)
    print_front(front, console)
    print_going_on(front, folder.search, str(run), console)


def transcript(folder: RunFolder, run: Path, log: list[str], readme: Path) -> None:
    """Put the search's words into the README, in place of those under ``<!-- transcript -->``."""
    console = Console(width=COLUMNS, file=io.StringIO(), color_system=None, highlight=False)
    answered(folder, run, console)
    printed = console.file.getvalue()  # type: ignore[attr-defined]
    lines = [_typed(folder), *_shortened(log), *(line.rstrip() for line in printed.splitlines())]
    block = "<!-- transcript -->\n```text\n" + "\n".join(lines) + "\n```\n"
    old = readme.read_text()
    new, found = re.subn(r"<!-- transcript -->\n```text\n.*?\n```\n", lambda _: block, old, flags=re.DOTALL)
    if found != 1:
        raise SystemExit(f"{readme} has {found} transcripts to replace")
    readme.write_text(new)


def _shortened(log: list[str]) -> Iterator[str]:
    """The headline, the first notes and trials, two of those that measured the front again, and what was said between."""
    seen = {"t": 0, "f": 0}
    for line in log:
        kind = line[0] if _TRIAL.match(line) else ""
        if kind:
            seen[kind] += 1
        if seen.get(kind, 0) == {"t": 5, "f": 3}.get(kind, -1):
            yield "  …"
        elif not kind or seen[kind] < {"t": 5, "f": 3}[kind]:
            yield _fitted(line if not kind else _brief(line))


def _brief(line: str) -> str:
    """A trial's line with the beginning of its candidate, and what came of it."""
    what, colon, outcome = line.partition(": ")
    short = what if len(what) <= HEAD_COLUMNS else f"{what[:HEAD_COLUMNS].rpartition(' ')[0]} …"
    return f"{short}{colon}{outcome}"


def _fitted(line: str) -> str:
    return line if len(line) <= COLUMNS else f"{line[: COLUMNS - 1].rstrip()}…"


def _typed(folder: RunFolder) -> str:
    return f"$ {' '.join(SEARCH)} --budget {folder.search.budget_s or 0:.0f}s".replace("--budget 120s", "--budget 2m")


def _moment(folder: RunFolder) -> object:
    """What the live display showed when ``SHOWN_SHARE`` of the trials had ended."""
    search = folder.search
    tried = [record for record in folder.records() if record.trial.purpose != "front"]
    done = tried[: max(1, round(SHOWN_SHARE * (len(tried) - 1)))]
    began_s = datetime.fromisoformat(search.created).timestamp()
    watched = Watched(
        search.id,
        search.model.path.name,
        search.space.baseline,
        search.objectives,
        search.budget_s,
        search.max_trials,
        several_devices=len(search.devices) > 1,
    )
    now = _progress(folder, done, done[-1].finished_s - began_s)
    return live_view(watched, now.spent_s, now, [tried[len(done)].trial])


def _progress(folder: RunFolder, done: list[TrialRecord], spent_s: float) -> Progress:
    front, tally = RunningFront(folder.search.objectives, folder.search.context.limits), Tally()
    for record in done:
        front.add(record)
        tally.count(record)
    return Progress(tally.trials, tally.failures, tally.same, spent_s, front.records, front.baseline)
