"""The exported folder's README: what it is, how to run it, what to expect, how to verify."""

from __future__ import annotations

from autotune.core.deployment import ExportedConfig
from autotune.core.figures import format_ratio, format_value
from autotune.core.metrics import find_metric

__all__ = ["expectations", "readme_text"]

_RUN = """\
## Run

    pip install {runtime} numpy
    python run.py{samples}
    python run.py --input in.npz --output out.npz    # your own inputs, one array per input of the model
    python run.py --time                             # the median latency of one run
    python run.py --serve                            # over HTTP (KServe v2), on this machine alone; pip install fastapi uvicorn

From Python: `autotune.load("this/folder")`, or without autotune `import run; model = run.load(); model.run({{...}})`.
{batching}Any other program that opens the model must use the session options in `config.json`, or it runs something else than
what was measured.
"""

_SAMPLES = """
`samples.npz` holds arrays named `input:NAME` and `output:NAME` (and `labels`, where there are any). Their first axis counts
requests, so that `arrays["input:NAME"][0]` is one request as `run` takes it, with the batch axis of the model.
"""


def readme_text(config: ExportedConfig, *, samples: int) -> str:
    """Markdown for a person who finds the folder. ``samples`` counts the requests in samples.npz, 0: there is none."""
    parts = (
        _what(config),
        _run(config, samples),
        expectations(config),
        _verify(config, samples),
    )
    return "\n".join(parts)


def _run(config: ExportedConfig, samples: int) -> str:
    runtime = config.session.runtime
    text = _RUN.format(runtime=runtime, samples=_samples_note(samples), batching=_batching(config))
    return text + (_SAMPLES if samples else "")


def _samples_note(samples: int) -> str:
    if not samples:
        return " --input in.npz"
    return f"                                    # the {samples} samples of samples.npz, beside the original's outputs"


def _batching(config: ExportedConfig) -> str:
    policy = config.batching
    if policy is None:
        return ""
    return (
        f"Requests from many threads meet a batcher (`run.batcher()`): up to {policy.max_batch} samples run together, one waits "
        f"for others for at most {policy.delay_s * 1e3:g} ms, instances: {policy.instances}.\n"
    )


def _what(config: ExportedConfig) -> str:
    source = config.source
    return (
        f"# {config.model}\n\n"
        f"An optimised model for {config.runtime} on `{config.device.name}`: point `{source.point}` of the search "
        f"`{source.search}`, measured in its trial `{source.trial}`.\n\n"
        f"- parameters: {config.candidate or 'the runtime’s defaults'}\n"
        f"- made from the model with SHA-256 `{source.model_sha256}`\n"
        f"- measured on: {config.environment.cpu_model or 'an unknown CPU'}, {config.environment.cpus} CPUs, "
        f"{_versions(config)}\n"
    )


def _versions(config: ExportedConfig) -> str:
    versions = config.environment.versions
    return ", ".join(f"{name} {version}" for name, version in versions.items()) or "versions unknown"


def expectations(config: ExportedConfig) -> str:
    """What was measured, as a table, and the quality behind it."""
    lines = [
        "## What to expect",
        "",
        "| metric | value (95 % interval) | against the original | origin |",
        "|---|---|---|---|",
    ]
    known = {name: value for name, value in config.promise.metrics.items() if value.known}
    for name, value in known.items():
        ratio = config.promise.ratios.get(name)
        against = format_ratio(name, ratio) if ratio is not None else ""
        shown = format_value(name, value.model_copy(update={"provenance": "measured"}), interval=True)
        basis = f", {value.basis}" if value.basis else ""
        lines.append(f"| {find_metric(name).label} | {shown} | {against} | {value.provenance}{basis} |")
    lines += [
        "",
        "Against the original, more than 1.00× is better; an interval that holds 1.00 shows no difference.",
        "",
    ]
    return "\n".join([*lines, _quality(config), ""])


def _quality(config: ExportedConfig) -> str:
    quality = config.quality
    inputs = "generated inputs, not a user's" if quality.generated else f"data with SHA-256 `{quality.data_sha256}`"
    return (
        f"Quality is {quality.name} by {quality.metric}, over {quality.n} samples of {inputs}. Load: `workload.yaml`, "
        + (f"the throughput at batch {config.promise.batch}.")
    )


def _verify(config: ExportedConfig, samples: int) -> str:
    paired = config.original is not None and config.original.model is not None
    against = (
        "The original model is in `original/`: speed is compared with it side by side, so that a busy machine does not matter."
        if paired
        else "The original model is not here: give it with `--original` for a comparison side by side; without it, absolute "
        "values are compared, with a wide tolerance."
    )
    outputs = (
        "Outputs are compared with the original's in `samples.npz`; labelled data (`--data`) let accuracy be checked too."
        if samples
        else "There is no `samples.npz`: quality is checked only with `--data`."
    )
    return f"## Verify\n\n    autotune verify .\n\n{against}\n{outputs}\n"
