"""``autotune simulate``."""

from __future__ import annotations

import typer

from autotune.cli.declared import command_of
from autotune.cli.simulate_options import SimulateOptions
from autotune.core.errors import UserError

__all__ = ["register"]

_REMEDY = "write autotune simulate SCENARIO.yaml, or autotune simulate --points IN.csv -o OUT.csv"


def simulate(options: SimulateOptions) -> int:
    """Predict how a language model is served, or what a graph takes, on devices that are not here: one scenario, or a table."""
    if options.next_measurement is not None:
        return _next_measurement(options)
    if options.scenario is not None:
        return _scenario(options)
    return _points(options)


def _next_measurement(options: SimulateOptions) -> int:
    from autotune.cli.simulate_next import say_next_measurement

    assert options.next_measurement is not None
    others = (options.scenario, options.points, options.output, options.calibrate)
    if any(given is not None for given in others):
        raise UserError("--next-measurement goes with a run folder alone", "autotune simulate --next-measurement RUN")
    return say_next_measurement(options.next_measurement, options.as_json)


def _scenario(options: SimulateOptions) -> int:
    from autotune.cli.simulate_scenario import run_scenario

    assert options.scenario is not None
    if options.points is not None or options.output is not None:
        raise UserError("a scenario goes with neither --points nor -o", _REMEDY)
    return run_scenario(options.scenario, options.confidence, options.calibrate, options.as_json)


def _points(options: SimulateOptions) -> int:
    from autotune.cli.simulate_points import predict

    if options.points is None:
        raise UserError("there is nothing to simulate", _REMEDY)
    if options.output is None:
        raise UserError("--points needs -o", f"autotune simulate --points {options.points} -o predicted.csv")
    return predict(options.points, options.output, options.calibrate, as_json=options.as_json)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(short_help="Predict a model on devices that are not here.")(command_of(SimulateOptions, simulate))
