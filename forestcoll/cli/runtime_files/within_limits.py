"""What commands do where a schedule breaks a limit of the runtime it is exported for."""

from __future__ import annotations

from typing import Any

from forestcoll.cli.output import progress_bars
from forestcoll.errors import RuntimeLimitError
from forestcoll.fitting.runtime_fit import Fit, fitting
from forestcoll.schedule import verify
from forestcoll.schedule.allreduce import AnySchedule
from forestcoll.schedule.export import Exported, ExportOptions, export
from forestcoll.schedule.program import Program

__all__ = ["export_within_limits"]


def export_within_limits(
    schedule: AnySchedule,
    program: Program,
    options: ExportOptions,
    *,
    fit: bool,
    seconds: float,
) -> tuple[Program, Exported, dict[str, Any]]:
    """Export a program; where it breaks a limit, what fits in its place, or say what would.

    Parameters
    ----------
    schedule : AnySchedule
    program : Program
        Its lowered form.
    options : ExportOptions
    fit : bool
        Whether to export what fits instead.
    seconds : float
        For the search for it.

    Returns
    -------
    program : Program
        What has been exported.
    exported : Exported
    facts : dict
        What it is and costs, if it is not what was given.

    Raises
    ------
    RuntimeLimitError
        If it does not fit, and is not to or nothing does; the message says what would.
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
