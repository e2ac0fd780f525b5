"""The reference pages that are made from the code when the documentation is built. See ``hooks`` in mkdocs.yml."""

from __future__ import annotations

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

PYTHON = """# Python

::: autotune.search

::: autotune.Run

::: autotune.load

::: autotune.Deployed

## For plug-ins

::: autotune.core.ports
"""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the reference."""
    pages = {"commands": commands(), "metrics": metrics(), "python": PYTHON}
    for name, content in pages.items():
        files.append(File.generated(config, f"reference/{name}.md", content=content))
    return files


def commands() -> str:
    """Every command with its options, as ``--help`` has them."""
    import typer.main
    from typer.cli import get_docs_for_click

    from autotune.cli.main import app

    command = typer.main.get_command(app)
    with command.make_context("autotune", [], resilient_parsing=True) as context:
        return get_docs_for_click(obj=command, ctx=context, name="autotune", title="Command line")


def metrics() -> str:
    """The one table of metrics."""
    from autotune.core.metrics import FAMILIES

    rows = [
        f"| `{name}NN` | {label}, any percentile | {unit} | {goal} |"
        if name.endswith("_p")
        else f"| `{name}` | {label} | {unit} | {goal} |"
        for name, (unit, goal, _, _, label) in FAMILIES.items()
    ]
    return "\n".join(
        [
            "# Metrics",
            "",
            "Names carry no unit; values are SI. Limits and tolerances take other units too: `latency_p50<=5ms`.",
            "",
            "| name | what | unit | better |",
            "| --- | --- | --- | --- |",
            *rows,
            "",
        ]
    )
