"""Former names of commands, options, parameters and columns.

They work in this version, with a note, and will be removed in the next one. ``docs/glossary.md``
lists the current terms.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import TypeVar

__all__ = [
    "COLUMNS", "COMMANDS", "FUNCTIONS", "OPTIONS", "PARAMETERS", "SIMULATION", "FormerNameWarning",
    "current_arguments", "note", "renamed",
]  # fmt: skip

V = TypeVar("V")

FUNCTIONS = {"lower": "compile_program", "rate_by_height": "rate_by_depth"}

COMMANDS = {"heights": "depths"}

OPTIONS = {
    "--few-links": "--sparse-exchange",
    "--fit": "--satisfy-limits",
    "--fit-time": "--satisfy-time",
    "--max-height": "--max-depth",
    "--pieces": "--pipeline-chunks",
    "--program-time": "--lp-time-limit",
}

PARAMETERS = {
    "few_links": "sparse_exchange",
    "max_height": "max_depth",
    "program_s": "lp_time_limit_s",
    "whole_chunks": "milp",
}

SIMULATION = {"pieces": "pipeline_chunks"}

COLUMNS = {
    "algbw_at_finish": "algbw_makespan",
    "algbw_at_finish_gb_s": "algbw_makespan_gb_s",
    "algbw_in_steps": "algbw_synchronous",
    "algbw_in_steps_gb_s": "algbw_synchronous_gb_s",
    "height": "depth",
    "pieces_simulated": "pipeline_chunks_simulated",
    "time_at_finish_s": "makespan_s",
    "time_flowing_s": "time_pipelined_s",
    "time_in_steps_s": "time_synchronous_s",
}


class FormerNameWarning(FutureWarning):
    """A former name was used."""


def renamed(given: Mapping[str, V], names: Mapping[str, str]) -> dict[str, V]:
    """Replace former keys of a mapping by current ones, in the same order.

    Parameters
    ----------
    given : mapping
    names : mapping
        Current names by former ones, such as :data:`PARAMETERS`.

    Warns
    -----
    FormerNameWarning
        For each former name. A former key stays if the current one is given too.

    Examples
    --------
    >>> renamed({"k": 2, "max_depth": 4}, PARAMETERS)
    {'k': 2, 'max_depth': 4}
    """
    current = {}
    for key, value in given.items():
        new = names.get(key, key)
        if new != key and new not in given:
            note(key, new)
            current[new] = value
        else:
            current[key] = value
    return current


def current_arguments(arguments: Iterable[str]) -> list[str]:
    """Return the arguments of a command line with current names of commands and options.

    Examples
    --------
    >>> current_arguments(["depths", "ring", "--max-depth=3"])
    ['depths', 'ring', '--max-depth=3']
    """
    found = list(arguments)
    end = found.index("--") if "--" in found else len(found)
    for place, word in enumerate(found[:end]):
        name, equals, value = word.partition("=")
        names = COMMANDS if place == 0 else OPTIONS
        if name in names:
            note(name, names[name])
            found[place] = names[name] + equals + value
    return found


def note(former: str, current: str) -> None:
    """Warn that something was given by its former name."""
    text = f"{former} is now called {current}; the next version removes the former name"
    warnings.warn(text, FormerNameWarning, stacklevel=3)
