"""The command ``forestcoll fit-times``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forestcoll.cli.facts import as_json
from forestcoll.cli.options import Json
from forestcoll.cli.output import expect_drawable, progress_bars
from forestcoll.errors import InvalidParameterError
from forestcoll.problem.limits import MOST_SECONDS

if TYPE_CHECKING:
    from experiments.figures.figure import Figure
    from experiments.training.measured_times import Fit

__all__ = ["fit_times"]


def fit_times(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="CSV of measured times: of steps and shares, or of schedules."
        ),
    ],
    steps: Annotated[
        float | None,
        typer.Option("--steps", min=1, max=10**9, help="Steps of the schedule, for all rows."),
    ] = None,
    share: Annotated[
        float | None,
        typer.Option(
            "--share", min=0, max=10**9, help="T_B of the schedule in M / B, for all rows."
        ),
    ] = None,
    predict: Annotated[
        list[str] | None,
        typer.Option("--predict", help="SIZE:STEPS:SHARE of another schedule or size."),
    ] = None,
    picture: Annotated[
        Path | None, typer.Option("--picture", help="Draw measured and fitted times.")
    ] = None,
    hold_out: Annotated[
        list[str] | None,
        typer.Option(
            "--hold-out",
            metavar="COLLECTIVE/METHOD",
            help="Curves to check the simulator on, not to fit, such as 'allreduce/*'.",
        ),
    ] = None,
    seconds: Annotated[
        float,
        typer.Option("--seconds", min=0, max=MOST_SECONDS, help="Time limit of a fit."),
    ] = 300,
    json_: Json = False,
) -> None:
    """Fit a cost model, or the simulator's settings, to measured times.

    A file with the columns topology, collective and method fits the simulator: alpha, costs,
    efficiency, window and size of pipeline chunks. Any other fits alpha, epsilon and bandwidth.
    """
    from experiments.simulation_fit.measurements import is_simulated
    from experiments.training.measured_times import fit, read_measured

    expect_drawable(picture)
    if is_simulated(file):
        if predict or steps is not None or share is not None:
            raise InvalidParameterError(
                f"{file} names schedules to simulate; --predict, --steps and --share are for files "
                f"with steps"
            )
        _fit_simulator(file, hold_out or [], seconds, picture, json_)
        return
    if hold_out:
        raise InvalidParameterError(
            f"{file} names no topology and no method; --hold-out is for curves of schedules"
        )
    asked = [_asked(text) for text in predict or []]
    found = fit(read_measured(file, steps, share))
    facts = _facts(found, asked)
    typer.echo(as_json(facts) if json_ else "\n".join(_lines(facts)))
    if picture is not None:
        from experiments.figures.matplotlib_renderer import save

        save(fit_figure(found), picture)


def _fit_simulator(
    file: Path, hold_out: list[str], seconds: float, picture: Path | None, json_: bool
) -> None:
    from experiments.simulation_fit.fit_figure import fit_figure as simulation_figure
    from experiments.simulation_fit.fit_report import fit_facts, fit_lines
    from experiments.simulation_fit.fitting import fit_simulation
    from experiments.simulation_fit.measurements import read_measurements

    measured = read_measurements(file)
    with progress_bars() as bars:
        found = fit_simulation(
            measured,
            hold_out,
            seconds=seconds,
            progress=lambda done, total: bars("windows, chunks", done, total),
        )
    typer.echo(as_json(fit_facts(found)) if json_ else "\n".join(fit_lines(found)))
    if picture is not None:
        from experiments.figures.matplotlib_renderer import save

        save(simulation_figure(found), picture)


def _asked(text: str) -> tuple[int, float, float]:
    from forestcoll.problem.sizes import read_size

    parts = text.split(":")
    try:
        size, steps, share = read_size(parts[0]), float(parts[1]), float(parts[2])
    except (ValueError, IndexError):
        size, steps, share = 0, -1.0, -1.0
    if len(parts) != 3 or not (0 <= steps <= 1e9 and 0 <= share <= 1e9):
        raise InvalidParameterError(
            f"--predict is {text!r}; write SIZE:STEPS:SHARE, as 1MB:22:1.83"
        )
    return size, steps, share


def _facts(found: Fit, asked: list[tuple[int, float, float]]) -> dict[str, Any]:
    worst = max(found.residuals, key=abs)
    return {
        "measurements": len(found.measured),
        "alpha_us": found.alpha_us,
        "epsilon_us": found.epsilon_us if found.distinguishable else None,
        "bandwidth_gb_s": found.bandwidth_gb_s,
        "worst_residual": worst,
        "mean_residual": sum(map(abs, found.residuals)) / len(found.residuals),
        "residuals": [
            {
                "size_bytes": one.size_bytes,
                "steps": one.steps,
                "share": one.share,
                "measured_us": one.time_us,
                "fitted_us": found.predicted_us(one.size_bytes, one.steps, one.share),
                "residual": residual,
            }
            for one, residual in zip(found.measured, found.residuals, strict=True)
        ],
        "predicted": [
            {
                "size_bytes": size,
                "steps": steps,
                "share": share,
                "time_us": found.predicted_us(size, steps, share),
            }
            for size, steps, share in asked
        ],
    }


def _lines(facts: dict[str, Any]) -> list[str]:
    epsilon = facts["epsilon_us"]
    start = (
        "one number of steps only: alpha has all of the latency"
        if epsilon is None
        else f"epsilon {epsilon:.4g} us"
    )
    lines = [
        f"{facts['measurements']} measurements: alpha {facts['alpha_us']:.4g} us, {start}, "
        f"B {facts['bandwidth_gb_s']:.5g} GB/s",
        f"residuals: {facts['mean_residual']:.1%} on average, "
        f"{facts['worst_residual']:+.1%} at worst",
        "",
        f"{'size':>12} {'steps':>7} {'share':>7} {'measured':>12} {'fitted':>12}  residual",
    ]
    lines += [
        f"{one['size_bytes']:>12} {one['steps']:>7g} {one['share']:>7.4g} "
        f"{one['measured_us']:>12.2f} {one['fitted_us']:>12.2f}  {one['residual']:+.1%}"
        for one in facts["residuals"]
    ]
    if facts["predicted"]:
        lines += ["", "predicted, us"]
    lines += [
        f"{one['size_bytes']:>12} {one['steps']:>7g} {one['share']:>7.4g} {one['time_us']:>12.2f}"
        for one in facts["predicted"]
    ]
    return lines


def fit_figure(found: Fit) -> Figure:
    """Describe measured times as marks and fitted ones as lines, a colour for each schedule."""
    from experiments.figures.figure import Axis, Figure, Panel, Point, Series, Style

    looks = tuple(
        zip(
            "os^Dvp",
            ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00"),
            strict=True,
        )
    )
    series: list[Series] = []
    schedules = sorted({(one.steps, one.share) for one in found.measured})
    for number, (steps, share) in enumerate(schedules):
        here = sorted(
            (one for one in found.measured if (one.steps, one.share) == (steps, share)),
            key=lambda one: one.size_bytes,
        )
        marker, colour = looks[number % len(looks)]
        name = f"{steps:g} steps, {share:.3g} M / B"
        marks = tuple(Point(one.size_bytes, one.time_us) for one in here)
        line = tuple(
            Point(one.size_bytes, found.predicted_us(one.size_bytes, steps, share)) for one in here
        )
        series += [
            Series(f"{name}, measured", Style(colour, "method", marker=marker), marks),
            Series(f"{name}, fitted", Style(colour, "bound", line="--"), line),
        ]
    sizes = tuple(sorted({float(one.size_bytes) for one in found.measured}))
    panel = Panel("", Axis("size", "bytes", places=sizes), Axis("us", "log"), tuple(series))
    return Figure((panel,), size=(4.6, 3.2))
