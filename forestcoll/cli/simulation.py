"""``forestcoll simulate``: the time of a schedule file at given sizes of the data."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forestcoll.cli.facts import as_json
from forestcoll.cli.options import (
    Alpha,
    ChunkCost,
    Gamma,
    Json,
    MessageCost,
    ScheduleFile,
    Window,
    sizes_of,
    window_of,
)
from forestcoll.cli.output import expect_drawable, expect_writable, progress_bars
from forestcoll.errors import InvalidParameterError
from forestcoll.problem.over_time.timed_links import read_alpha
from forestcoll.problem.sizes import read_size, size_text
from forestcoll.schedule.simulate.alpha_beta import AlphaBeta, Priority, Sharing
from forestcoll.topology.describe import decimal

# The command imports what it works with: its help needs none of it.
if TYPE_CHECKING:
    from forestcoll.forest_over_time.planned_simulation import PlannedSimulator
    from forestcoll.schedule.allreduce import AnySchedule
    from forestcoll.schedule.program import Program
    from forestcoll.schedule.simulate import Simulation, Simulator

__all__ = ["simulate_schedule"]

_BINS = 400  # time bins of the drawing
_SIZES = "1MB..1GB"
_FAIR, _FIFO = "shared by size", "with one transfer at a time"


def simulate_schedule(
    file: ScheduleFile,
    sizes: Annotated[
        str | None,
        typer.Option(
            "--size",
            "--sizes",
            help="Sizes: 1MB,64MB or 1MB..1GB; 1MB is 2^20. By default 1MB..1GB, or what the "
            "demand of the schedule has in all.",
        ),
    ] = None,
    alpha: Alpha = "10",
    gamma: Gamma = "0",
    pipeline_chunks: Annotated[
        str,
        typer.Option(
            "--pipeline-chunks",
            help="Number of pipeline chunks, best, or the largest size of one, such as 512KB.",
        ),
    ] = "best",
    window: Window = "1",
    chunk_cost: ChunkCost = "0",
    message_cost: MessageCost = "0",
    efficiency: Annotated[
        str, typer.Option("--efficiency", help="Share of each bandwidth that data gets.")
    ] = "1",
    priority: Annotated[
        Priority, typer.Option("--priority", help="Which transfers go first on a link.")
    ] = Priority.EQUAL,
    sharing: Annotated[
        Sharing, typer.Option("--sharing", help="Whether transfers share links or queue.")
    ] = Sharing.FAIR,
    lockstep: Annotated[
        bool, typer.Option("--lockstep", help="Start a step only after the previous one ends.")
    ] = False,
    clock: Annotated[
        bool, typer.Option("--clock", help="Use the schedule's start times, at its size.")
    ] = False,
    no_plan: Annotated[
        bool,
        typer.Option("--no-plan", help="Share links by size even if the file has a time plan."),
    ] = False,
    usage: Annotated[
        Path | None,
        typer.Option(
            "--usage", metavar="FILE", help="Draw link usage at the last size: .png, .pdf or .svg."
        ),
    ] = None,
    timeline: Annotated[
        Path | None,
        typer.Option(
            "--timeline",
            metavar="FILE",
            help="Draw who sends when at the last size: .png, .pdf or .svg; .csv has all times.",
        ),
    ] = None,
    json_: Json = False,
) -> None:
    """Verify a schedule file and simulate its time, latencies included."""
    from forestcoll.compilation import compile_program
    from forestcoll.schedule import FlowSchedule, StepSchedule, read_schedule, verify
    from forestcoll.schedule.simulate import Simulator

    many = _pipeline_chunks(pipeline_chunks)
    sizes_of(sizes, "--size")  # errors come before the file is read
    model = AlphaBeta(
        alpha_us=read_alpha(alpha),
        gamma_s_per_gb=gamma,
        sharing=sharing,
        lockstep=lockstep,
        keep_clock=clock,
        window=window_of(window),
        chunk_cost_us=chunk_cost,
        message_cost_us=message_cost,
        efficiency=efficiency,
        priority=priority,
    )
    expect_drawable(usage)
    if timeline is not None and _is_table(timeline):
        expect_writable(timeline)
    else:
        expect_drawable(timeline)
    schedule = read_schedule(file)
    verify(schedule)
    program = compile_program(schedule)
    planned = None if no_plan or many is not None else _planned(schedule, model, usage)
    if not program.num_transfers and (usage or timeline):
        name = "--usage" if usage else "--timeline"
        raise InvalidParameterError(f"{file}: nothing moves in this schedule, so leave {name} out")
    demand = schedule.demand if isinstance(schedule, FlowSchedule | StepSchedule) else None
    asked = sizes_of(sizes or _SIZES, "--size")
    if sizes is None and demand is not None:
        asked = [demand.bytes]
    simulator = Simulator(program)
    bound = _Bound(schedule, program, model)
    found = []
    with progress_bars() as bars:
        for size in asked:
            by_plan = None if planned is None else planned.run(size, model)
            found.append(by_plan or _at(simulator, size, model, many, bars))
        if usage is not None:
            _draw_usage(simulator, found[-1], usage)
        if timeline is not None:
            _write_timeline(simulator, planned, found[-1], timeline)
    if json_:
        typer.echo(as_json(_document(file, program, simulator, bound, found)))
    else:
        typer.echo("\n".join(_lines(program, simulator, bound, found)))


def _pipeline_chunks(text: str) -> int | str | None:
    """Read a number of pipeline chunks, or a largest size; None stands for the best number."""
    if text == "best":
        return None
    if text.isascii() and text.isdigit() and len(text) < 10:
        return int(text)
    try:
        read_size(text)
    except ValueError:
        raise InvalidParameterError(
            f"--pipeline-chunks is {text!r}; it must be a whole number, best, or a size such as "
            f"512KB"
        ) from None
    return text


def _planned(
    schedule: AnySchedule, model: AlphaBeta, usage: Path | None
) -> PlannedSimulator | None:
    """Return the simulator by the schedule's time plan, if it has one that the model suits."""
    from forestcoll.forest_over_time.planned_simulation import PlannedSimulator

    planned = PlannedSimulator.of(schedule)
    if planned is None or not planned.suits(model):
        return None
    if usage is not None:
        raise InvalidParameterError("--usage draws links that are shared by size; add --no-plan")
    return planned


def _at(
    simulator: Simulator, size: int, model: AlphaBeta, pipeline_chunks: int | str | None, bars: Any
) -> Simulation:
    from forestcoll.schedule.simulate import best_chunk_count, chunk_count_within

    def progress(done: int, total: int) -> None:
        bars(size_text(size), done, total)

    if pipeline_chunks is None:
        return best_chunk_count(simulator, size, model, progress=progress)
    if isinstance(pipeline_chunks, str):
        pipeline_chunks = chunk_count_within(simulator, size, read_size(pipeline_chunks))
    return simulator.run(size, model, pipeline_chunks, progress=progress)


class _Bound:
    """Lower bound on the time of any schedule of the same collective; none of a demand."""

    def __init__(self, schedule: AnySchedule, program: Program, model: AlphaBeta) -> None:
        from forestcoll.schedule import FlowSchedule, StepSchedule

        self._bound = None
        if isinstance(schedule, FlowSchedule | StepSchedule) and schedule.demand is not None:
            return
        from forestcoll.cut_over_time.simulated_bound import SimulatedBound

        self._bound = SimulatedBound(
            program.topology, program.collective, model, weights=program.weights
        )

    def least_s(self, size_bytes: int) -> float | None:
        """Return the bound of a size in seconds."""
        return None if self._bound is None else self._bound.least_s(size_bytes)

    def share(self, found: Simulation) -> str:
        """Return the bound as a share of a simulated time."""
        least = self.least_s(found.size_bytes)
        return f"{100 * least / found.time_s:.1f} %" if least and found.time_s else "-"


def _draw_usage(simulator: Simulator, found: Simulation, output: Path) -> None:
    from forestcoll.draw import draw_usage, save_figure

    again = simulator.run(found.size_bytes, found.model, found.pipeline_chunks, bins=_BINS)
    save_figure(draw_usage(again, simulator.program.topology), output)


def _is_table(output: Path) -> bool:
    return output.suffix.lower() == ".csv"


def _write_timeline(
    simulator: Simulator, planned: PlannedSimulator | None, found: Simulation, output: Path
) -> None:
    program = simulator.program
    again = None
    if planned is not None and found.by_plan:
        again = planned.run(found.size_bytes, found.model, program)
    if again is None:
        again = simulator.run(found.size_bytes, found.model, found.pipeline_chunks, timeline=True)
    if again.timeline is not None and _is_table(output):
        from forestcoll.schedule.simulate import write_timeline

        write_timeline(again.timeline, program, found.size_bytes, output)
    else:
        from forestcoll.draw import draw_timeline, save_figure

        save_figure(draw_timeline(again, program), output)


def _document(
    file: Path,
    program: Program,
    simulator: Simulator,
    bound: _Bound,
    found: Sequence[Simulation],
) -> dict[str, Any]:
    model = found[0].model
    return {
        "file": file,
        "simulated": True,
        "verified": True,
        "collective": program.collective,
        "topology": program.topology.name,
        "method": program.method,
        "alpha_us": model.alpha,
        "gamma_s_per_gb": model.gamma,
        "sharing": str(model.sharing),
        "lockstep": model.lockstep,
        "keep_clock": model.keep_clock,
        "window": model.window,
        "chunk_cost_us": model.chunk_cost_us,
        "message_cost_us": model.message_cost_us,
        "efficiency": model.efficiency,
        "priority": str(model.priority),
        "sizes": [
            {
                "size_bytes": one.size_bytes,
                "pipeline_chunks": one.pipeline_chunks,
                "time_s": one.time_s,
                "algbw_gb_s": one.algbw_gb_s if one.time_s else None,
                "pipelined_s": simulator.pipelined_s(one.size_bytes),
                "at_least_s": bound.least_s(one.size_bytes),
                "closed_form": one.closed,
                "by_plan": one.by_plan,
            }
            for one in found
        ],
    }


def _lines(
    program: Program, simulator: Simulator, bound: _Bound, found: Sequence[Simulation]
) -> list[str]:
    model = found[0].model
    how = "in lockstep" if model.lockstep else "by its clock" if model.keep_clock else ""
    settings = [
        f"alpha {decimal(model.alpha)} us a hop",
        f"links {_FAIR if model.is_fair else _FIFO}",
        how,
    ]
    if any(one.by_plan for one in found):
        settings[1] = "by its time plan"
    if model.gamma_s_per_gb:
        settings.append(f"gamma {decimal(model.gamma)} s/GB")
    settings += model.options()
    heads = ("size", "time", "algbw GB/s", "chunks", "of pipelined", "of bound")
    lines = [
        f"{program.collective} on {program.topology.name} by {program.method}, verified",
        f"simulated: {', '.join(word for word in settings if word)}",
        "",
    ]
    rows = [heads]
    for one in found:
        pipelined = simulator.pipelined_s(one.size_bytes)
        share = f"{100 * pipelined / one.time_s:.1f} %" if one.time_s else "-"
        rate = f"{one.algbw_gb_s:.2f}" if one.time_s else "-"
        cells = (
            size_text(one.size_bytes),
            _time(one.time_s),
            rate,
            "plan" if one.by_plan else str(one.pipeline_chunks),
            share,
            bound.share(one),
        )
        rows.append(cells)
    widths = [max(10, *map(len, column)) for column in zip(*rows, strict=True)]
    aligned = [[f"{c:>{w}}" for c, w in zip(row, widths, strict=True)] for row in rows]
    return [*lines, *("  ".join(row) for row in aligned)]


def _time(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3f} {unit}"
    return f"{seconds * 1e6:.2f} us"
