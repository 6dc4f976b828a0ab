"""Layout of an MI250 box as in AMD's diagrams: packages of two GPUs on a ladder.

Problem: eight accelerator modules (OAM) in four rows, with distinct links between them.
Input:   the GPUs of a box.
Output:  their places, or none if the box is wired otherwise.
Cost:    linear.
Source:  the xGMI links of ``forestcoll.topology.families.constants``.
"""

from __future__ import annotations

from collections.abc import Sequence

from forestcoll.draw.places import Place
from forestcoll.topology.families.constants import MI250_XGMI_LINKS
from forestcoll.topology.model import Topology

__all__ = ["package_places"]

_ROWS = ((2, 3), (0, 1), (4, 5), (6, 7))
"""The modules, from the top; those at the ends have three links to each other."""

_ROW = 1.05
_ASIDE = 0.2  # shift of each row to the right, so that links out of the box pass beside the GPUs
_TWIN = (0.85, -0.44)  # from the first GPU of a module to the second
_COLUMN = 2.25
_WIRED = {frozenset(pair) for pairs in MI250_XGMI_LINKS.values() for pair in pairs}
_LEAST = 0.75  # the share of the links that must be there; some may be dead


def package_places(topology: Topology, gpus: Sequence[int]) -> dict[int, Place] | None:
    """Return the places of the GPUs of a box, lowest and leftmost at 0."""
    indices = {v: topology.nodes[v].index for v in gpus}
    if sorted(indices.values(), key=str) != sorted(range(len(gpus)), key=str) or len(gpus) < 8:
        return None
    chosen = set(gpus)
    joined = {
        frozenset((indices[link.tail], indices[link.head]))
        for link in topology.links
        if link.tail in chosen and link.head in chosen
    }
    expected = {pair for pair in _WIRED if max(pair) < len(gpus)}
    if not joined <= expected or len(joined) < _LEAST * len(expected):
        return None
    rows = [row for row in _ROWS if max(row) < (len(gpus) + 1) // 2]
    return {v: _place(index, rows) for v, index in indices.items() if index is not None}


def _place(index: int, rows: Sequence[tuple[int, int]]) -> Place:
    module, twin = divmod(index, 2)
    (row, column), *_ = ((i, row.index(module)) for i, row in enumerate(rows) if module in row)
    below = len(rows) - 1 - row
    x = _ASIDE * row + _COLUMN * column + _TWIN[0] * twin
    return Place(x, _ROW * below + _TWIN[1] * twin - _TWIN[1])
