"""Replacements for sizes whose best schedule cannot be exported.

A new search over these sizes exports each candidate and leaves out those that fail. The times of
the best schedule are those that tuning stored; it is simulated at other sizes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

from experiments.advice.bundle.size_ranges import Part
from experiments.advice.bundle.tuned_index import TunedIndex, read_tuned
from experiments.advice.tuning.candidates import Candidate
from experiments.advice.tuning.records import INDEX, Folder
from experiments.advice.tuning.schedule_search import Entrant
from experiments.advice.tuning.tuning import Progress, Refuses, tune
from forestcoll.compilation import compile_program
from forestcoll.errors import TimeLimitError, UnsupportedError
from forestcoll.schedule import read_schedule
from forestcoll.schedule.flows import FlowSchedule
from forestcoll.schedule.simulate import Simulator
from forestcoll.schedule.steps import StepSchedule

__all__ = ["runners_up"]


def runners_up(
    index: TunedIndex,
    best: Part,
    kept: Path,
    *,
    refuses: Refuses,
    seconds: float,
    progress: Progress | None = None,
) -> list[Part]:
    """Find replacements for the sizes of a schedule that cannot be exported.

    Parameters
    ----------
    index : TunedIndex
        The tuning results.
    best : Part
        Its sizes and its file; ``why`` it cannot be exported.
    kept : Path
        Folder for the new search; results already in it are used.
    refuses : callable
        Returns why a program cannot be exported, or an empty text.
    seconds : float
        For each method to make its schedule, and as much for all its simulations.

    Returns
    -------
    list of Part
        For the same sizes; one without a schedule if there is none.
    """
    assert best.schedule is not None  # that which cannot be exported
    schedule = read_schedule(best.schedule)
    sizes = [
        one.size_bytes
        for one in index.sizes
        if best.first_bytes <= one.size_bytes <= best.last_bytes
    ]
    if not (kept / INDEX).is_file() or not read_tuned(kept).complete:
        try:
            tune(
                schedule.topology,
                index.collective,
                sizes,
                demand=schedule.demand
                if isinstance(schedule, FlowSchedule | StepSchedule)
                else None,
                root=index.root,
                model=index.model,
                methods=index.methods,
                seconds=seconds,
                progress=progress,
                keep=Folder(kept).keep,
                refuses=refuses,
                plans=False,
            )
        except (UnsupportedError, TimeLimitError) as error:
            return [_open(best, f"{best.why}; nor can another: {error}")]
    entrant = Entrant(
        Candidate(best.use, best.method, {}, schedule),
        Simulator(compile_program(schedule)),
        index.model,
        math.inf,
    )
    return _parts(index, best, kept, lambda size: _time_us(entrant, size))


def _open(best: Part, why: str) -> Part:
    return Part(best.first_bytes, best.last_bytes, best.use, None, best.method, why=why)


def _parts(
    index: TunedIndex, best: Part, kept: Path, best_us: Callable[[int], float]
) -> list[Part]:
    """Return the found ranges, with how much slower each is than the best."""
    known = {one.size_bytes: one.time_us for one in index.sizes}
    found, parts = read_tuned(kept), []
    for one in found.ranges:
        within = [at for at in found.sizes if one.first_bytes <= at.size_bytes <= one.last_bytes]
        times = [(at.time_us, known.get(at.size_bytes) or best_us(at.size_bytes)) for at in within]
        parts.append(
            Part(
                first_bytes=one.first_bytes,
                last_bytes=one.last_bytes,
                use=one.use,
                schedule=kept / one.file,
                method=found.method_of(one.use),
                slower=max(0.0, *(time_us / least_us - 1 for time_us, least_us in times)),
                instead_of=best.use,
                why=best.why,
            )
        )
    return parts


def _time_us(entrant: Entrant, size: int) -> float:
    found = entrant.trial(size, lambda: None).simulation
    assert found is not None  # its time has no limit
    return found.time_s * 1e6
