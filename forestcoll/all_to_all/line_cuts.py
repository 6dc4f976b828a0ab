"""Division of amounts over ports in proportion, as cuts of a line.

Problem: GPUs have amounts to send over the ports of their box; every port is to carry its share,
         and each GPU should use its own port as far as that goes.
Input:   amounts by row, in groups; what each port of a group shall carry, the same in all.
Output:  the parts: row, port and amount.
Cost:    sorting, with numpy; for all groups at once.
Source:  ours. What exceeds the own port's share is laid on a line, and the room that is left in the
         ports on another; both have the same length, and their cuts together are the parts (the
         north-west corner rule of the transportation problem).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["cut_both", "divided", "in_order"]

Ints = npt.NDArray[np.int64]

_RADIX = 2**16


def cut_both(first: Ints, second: Ints) -> tuple[Ints, Ints, Ints]:
    """Cut two divisions of one line into common parts.

    Parameters
    ----------
    first, second : int64 arrays
        Lengths of the pieces of each division, from 0 up, of one sum.

    Returns
    -------
    tuple of int64 arrays
        For each part, in order: the piece of the first division, that of the second, the length.

    Examples
    --------
    >>> [list(map(int, part)) for part in cut_both(np.array([3, 0, 2]), np.array([1, 4]))]
    [[0, 0, 2], [0, 1, 1], [1, 2, 2]]
    """
    if len(first) < len(second):
        piece, segment, length = cut_both(second, first)
        return segment, piece, length
    ends, others = np.cumsum(first), np.cumsum(second)
    # The shorter run is looked up in the longer one, and put in front of what is equal.
    at = np.searchsorted(ends, others) + np.arange(len(others))
    is_other = np.zeros(len(ends) + len(others), dtype=np.bool_)
    is_other[at] = True
    cuts = np.empty(len(is_other), dtype=np.int64)
    cuts[at] = others
    cuts[~is_other] = ends
    length = np.diff(cuts, prepend=0)
    # The first of equal cuts stays; all before it are smaller, so that they count the pieces.
    kept = np.flatnonzero(length)
    piece = np.cumsum(is_other)[kept] - is_other[kept]
    return kept - piece, piece, length[kept]


def in_order(keys: Ints, count: int) -> Ints:
    """Return the order that sorts keys from 0 to ``count``, equal ones as they are.

    numpy sorts 16-bit numbers by their digits, in a tenth of the time.

    Examples
    --------
    >>> in_order(np.array([70000, 3, 70000, 1]), 70001).tolist()
    [3, 1, 0, 2]
    """
    if bool((keys[1:] >= keys[:-1]).all()):
        return np.arange(len(keys))
    order = np.argsort((keys % _RADIX).astype(np.uint16), kind="stable")
    while count > _RADIX:
        keys, count = keys // _RADIX, -(-count // _RADIX)
        order = order[np.argsort((keys % _RADIX).astype(np.uint16)[order], kind="stable")]
    return order


def divided(
    amount: Ints, group: Ints, own: Ints, room: Ints, group_of_port: Ints
) -> tuple[Ints, Ints, Ints]:
    """Divide the amounts of rows over the ports of their groups, own ports first.

    Parameters
    ----------
    amount, group : int64 arrays, one entry a row
        Groups ascend.
    own : int64 array
        The port of each row that it should use as far as possible; -1 for none.
    room : int64 array, one entry a port
        What each port carries; in each group as much as its rows have in all.
    group_of_port : int64 array
        Ascending.

    Returns
    -------
    tuple of int64 arrays
        Row, port and amount of each part, by row.

    Examples
    --------
    Rows of 5 and 1 with ports of their own, which carry 3 each.

    >>> parts = divided(*map(np.array, ([5, 1], [0, 0], [0, 1], [3, 3], [0, 0])))
    >>> [part.tolist() for part in parts]
    [[0, 0, 1], [0, 1, 1], [3, 2, 1]]
    """
    kept = _kept(amount, own, room)
    used = np.zeros(len(room), dtype=np.int64)
    np.add.at(used, own[own >= 0], kept[own >= 0])
    row, port, part = cut_both(amount - kept, room - used)
    mine = np.flatnonzero(kept)
    row = np.concatenate([mine, row])
    port = np.concatenate([own[mine], port])
    part = np.concatenate([kept[mine], part])
    order = in_order(row, len(amount))
    assert (group[row] == group_of_port[port]).all()
    return row[order], port[order], part[order]


def _kept(amount: Ints, own: Ints, room: Ints) -> Ints:
    """Return what each row sends over its own port: as much as earlier rows leave of it."""
    order = np.argsort(own, kind="stable")
    before = np.cumsum(amount[order]) - amount[order]
    port = own[order]
    first = np.searchsorted(port, port)
    before -= before[first]
    left = np.where(port >= 0, room[port], 0) - before
    kept = np.zeros_like(amount)
    kept[order] = np.clip(left, 0, amount[order])
    return kept
