"""The format ``vllm``: a file for ``vllm serve --config``. Pure."""

from __future__ import annotations

import yaml

from autotune.export.served import ServedModel

__all__ = ["command_line", "vllm_files"]


def vllm_files(served: ServedModel) -> dict[str, str]:
    """``vllm.yaml`` and the command that takes it."""
    content = {"model": served.model} | {name.replace("_", "-"): value for name, value in served.arguments.items()}
    return {
        "vllm.yaml": yaml.safe_dump(content, sort_keys=False),
        "serve.sh": '#!/bin/sh\nexec vllm serve --config vllm.yaml "$@"\n',
    }


def command_line(served: ServedModel) -> list[str]:
    """The same as options of ``vllm serve MODEL``; a switch that is off is written ``--no-…``."""
    words = []
    for name, value in served.arguments.items():
        option = name.replace("_", "-")
        if isinstance(value, bool):
            words.append(f"--{option}" if value else f"--no-{option}")
        else:
            words.append(f"--{option}={value}")
    return words
