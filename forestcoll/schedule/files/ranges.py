"""Range checks of arrays from files, so that later indexing is safe.

Problem: a file may hold numbers of chunks, nodes or paths that do not exist. Indexing with them
         fails far from the file, or silently returns another entry.
Input:   arrays from a file.
Output:  nothing, or an error that names the entry, the value found and the values allowed.
Cost:    a pass or two over each array.
Source:  ours.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from forestcoll.schedule.files.fields import LARGEST, Where, refuse, wrong
from forestcoll.schedule.forest import Routes

__all__ = ["check_path_rows", "check_range", "check_routes", "check_rows", "entry_of"]

_Array = npt.NDArray[np.integer[Any]]


def entry_of(array: str) -> Where:
    """Name the entries of an array of a binary file: "sends.chunk[3]"."""
    return lambda i: f"{array}[{i}]"


def check_range(values: _Array, low: int, high: int, where: Where) -> None:
    """Check that an array has one dimension and values between low and high."""
    if not len(values) or low <= int(values.min()) <= int(values.max()) <= high:
        return
    at = int(np.flatnonzero((values < low) | (values > high))[0])
    wrong(where(at), int(values[at]), f"between {low} and {high}")


def check_rows(name: str, first: _Array, rows: int, entries: int) -> None:
    """Check that compressed rows start at 0, do not decrease, and end at the last entry."""
    if len(first) != rows + 1:
        refuse(f"array {name} has {len(first)} entries; it must have {rows + 1}")
    if first[0] != 0 or first[-1] != entries:
        refuse(f"array {name} runs from {first[0]} to {first[-1]}; it must run from 0 to {entries}")
    if len(back := np.flatnonzero(first[1:] < first[:-1])):
        at = int(back[0]) + 1
        wrong(f"{name}[{at}]", int(first[at]), f"at least {first[at - 1]}, as the one before it")


def check_routes(routes: Routes, nodes: int, ends: int, prefix: str = "") -> None:
    """Check that links join ends below ``ends``, and that rows lead to paths and to nodes."""
    links, paths = len(routes.tail), len(routes.multiplicity)
    if len(routes.head) != links:
        refuse(f"array {prefix}routes.head has {len(routes.head)} entries; routes.tail has {links}")
    ranges = {
        "tail": (0, ends - 1),
        "head": (0, ends - 1),
        "multiplicity": (1, LARGEST),
        "hop": (0, nodes - 1),
    }
    for name, (low, high) in ranges.items():
        check_range(getattr(routes, name), low, high, entry_of(f"{prefix}routes.{name}"))
    check_rows(f"{prefix}routes.first_path", routes.first_path, links, paths)
    check_rows(f"{prefix}routes.first_hop", routes.first_hop, paths, len(routes.hop))


def check_path_rows(routes: Routes) -> None:
    """Check that every logical link of steps or flows has a path, and every path a hop."""
    if len(empty := np.flatnonzero(np.diff(routes.first_path) < 1)):
        refuse(f"routes: {_link(routes, int(empty[0]))} has no path; leave it out")
    if len(short := np.flatnonzero(np.diff(routes.first_hop) < 2)):
        link = int(np.searchsorted(routes.first_path, short[0], side="right")) - 1
        refuse(f"routes: a path of {_link(routes, link)} has less than 2 nodes; name both its ends")


def _link(routes: Routes, link: int) -> str:
    return f"the logical link from {routes.tail[link]} to {routes.head[link]}"
