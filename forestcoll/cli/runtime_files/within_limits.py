"""Export of a schedule that may exceed the runtime's limits: find a variant within them."""

from __future__ import annotations

from typing import Any

from forestcoll.cli.output import progress_bars
from forestcoll.errors import RuntimeLimitError
from forestcoll.runtimes.formats import Exported, ExportOptions, export
from forestcoll.runtimes.runtime_fit import Fit, fitting
from forestcoll.schedule import verify
from forestcoll.schedule.allreduce import AnySchedule
from forestcoll.schedule.program import Program

__all__ = ["export_within_limits"]


def export_within_limits(
    schedule: AnySchedule, program: Program, options: ExportOptions, *, fit: bool, seconds: float
) -> tuple[Program, Exported, dict[str, Any]]:
    """Export a program; if it exceeds a limit, export or suggest a variant within limits.

    Parameters
    ----------
    program : Program
        The compiled schedule.
    fit : bool
        Whether to export a variant within limits instead.
    seconds : float
        For the search for a variant.

    Returns
    -------
    program : Program
        The program that was exported.
    exported : Exported
    facts : dict
        The variant and its cost; empty if the given program was exported.

    Raises
    ------
    RuntimeLimitError
        If the program exceeds a limit and no variant is wanted or found. The message suggests one.
    """
    try:
        return program, export(program, options), {}
    except RuntimeLimitError as error:
        with progress_bars() as progress:
            found = fitting(schedule, options, fastest=fit, seconds=seconds, progress=progress)
        if not isinstance(found, Fit):
            raise RuntimeLimitError(f"{error}; {found.in_words()}") from None
        if not fit:
            instead = "" if found.k is None else "; --satisfy-limits exports the fastest that fits"
            raise RuntimeLimitError(f"{error}; {found.in_words()}{instead}") from None
        if found.k is not None:
            verify(found.schedule)
        return found.program, found.exported, _facts(str(error), found)


def _facts(broken: str, found: Fit) -> dict[str, Any]:
    return {
        "given": broken,
        "changed": found.changed or None,
        "k": found.k,
        "fastest_of_k": None if found.k is None else f"1 to {found.tried_k}",
        "algbw_gb_s": found.algbw_gb_s,
        "given_algbw_gb_s": found.given_gb_s,
        "lost": None if found.k is None else f"{100 * found.lost:.3g} %",
    }
