"""What each transfer waits for.

Problem: of every transfer, those that must have brought what it sends.
Input:   transfers with their times, of a schedule that is right.
Output:  the transfers in an order in which each comes after what it needs, and these needs.
Cost:    sorts of the transfers, and the pairs of one that comes in somewhere and one that leaves
         there with some of the same units; the pairs are looked at a few millions at a time.
Source:  ours; what comes in *feeds* what goes out as in
         :mod:`forestcoll.schedule.verification.steps.switches`.

- A copy needs the copies that brought its units to the sender; those that no copy has brought, all
  that was added up there by then.
- A sum needs all that has come to the sender by then for its units.
- A switch that does not keep what it gets sends on what has just come in, or what comes in at the
  same time: that is a need too, though such a transfer could begin while what it needs is still
  under way. Who reads a program may so wait a little longer than the schedule does, never less.
- A switch that is not marked ``multicast`` sends each unit on once: the first to leave takes what
  came in first. One that adds puts what comes in into the first to leave.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from forestcoll.errors import UnsupportedError
from forestcoll.schedule.transform.timed_transfers import Transfers
from forestcoll.topology.model import NodeKind, Topology

__all__ = ["Flags", "Numbers", "met", "with_dependencies"]

Numbers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

_AT_ONCE = 2**22  # pairs looked at together
_MOST = 2**29  # needs in all


def with_dependencies(
    transfers: Transfers, topology: Topology
) -> tuple[Transfers, Numbers, npt.NDArray[np.int32]]:
    """Sort transfers by their times and find what they need.

    Returns
    -------
    transfers : Transfers
        In the new order.
    first_need, need : int64 and int32 arrays
        In compressed rows, as of :class:`forestcoll.schedule.program.Program`.

    Raises
    ------
    UnsupportedError
        If there are too many needs to hold, or a switch divides what comes in between transfers of
        the same units.
    """
    ends = _Ends(topology)
    transfers = _in_order(transfers, ends)
    many = np.zeros(len(transfers), dtype=np.int64)
    needs = [np.zeros(0, dtype=np.int32)]
    taken, total = _Taken(transfers), 0
    for late, early in met(transfers):  # by the number of the later one, its pairs all together
        late, early = _feeding(transfers, ends, late, early)
        late, early = np.divmod(np.sort(late * len(transfers) + early), len(transfers))
        late, early = _once(transfers, ends, taken, late, early)
        late, early = _replaced(transfers, late, early)
        low = int(late[0]) if len(late) else 0
        found = np.bincount(late - low)
        many[low : low + len(found)] += found
        needs.append(early.astype(np.int32))
        total += len(early)
        if total > _MOST:
            raise UnsupportedError(
                f"unsupported: the transfers of this schedule need each other more than {_MOST} "
                f"times in all, as where all GPUs send sums to all; 2 GB are the most for that"
            )
    return transfers, np.concatenate([[0], np.cumsum(many)]), np.concatenate(needs)


class _Ends:
    """What the ends of transfers do with what they get.

    Attributes
    ----------
    keeps : bool array
        GPUs, and switches that copy and store: send it as often as they like.
    stores : bool array
        May send it later.
    once : bool array
        Send it once.
    adds : bool array
        May copy what comes in, or put it into sums, at once.
    """

    def __init__(self, topology: Topology) -> None:
        nodes = [topology.nodes[position] for position in topology.ends]
        gpu = np.array([node.kind is NodeKind.COMPUTE for node in nodes], dtype=np.bool_)
        multicast = np.array([node.multicast for node in nodes], dtype=np.bool_)
        self.stores = gpu | np.array([node.stores for node in nodes], dtype=np.bool_)
        self.keeps = gpu | (multicast & self.stores)
        self.once = ~gpu & ~multicast
        self.adds = ~self.keeps & multicast


def _in_order(transfers: Transfers, ends: _Ends) -> Transfers:
    """Sort by start; at switches, what comes in before what goes out at the same time."""
    wave = np.zeros(len(transfers), dtype=np.int64)
    passing = np.flatnonzero(~ends.keeps[transfers.tail])
    pairs = [
        (late[same], early[same])
        for late, early in met(transfers, passing)
        for same in [transfers.start[late] == transfers.start[early]]
    ]
    for _ in range(len(ends.keeps) + 1):  # no way passes more switches than there are
        before = wave.copy()
        for late, early in pairs:
            np.maximum.at(wave, late, before[early] + 1)
        if np.array_equal(wave, before):
            break
    else:
        raise UnsupportedError(
            "unsupported: switches pass the same units on to each other within one moment, so that "
            "it is open who has them from whom; send them in steps of their own"
        )
    keys = (
        transfers.first,
        transfers.head,
        transfers.tail,
        transfers.chunk,
        wave,
        transfers.finish,
        transfers.start,
    )
    return transfers.taken(np.lexsort(keys))


def met(transfers: Transfers, leaving: Numbers | None = None) -> Iterator[tuple[Numbers, Numbers]]:
    """Yield pairs of transfers: one that leaves an end, one that comes in there; units in common.

    Parameters
    ----------
    transfers : Transfers
    leaving : int64 array, optional
        Which of those that leave, in this order; all if not given. The pairs of one come together.
    """
    which = np.arange(len(transfers)) if leaving is None else leaving
    if not len(which):
        return
    first, end = transfers.first, transfers.first + transfers.amount
    nodes = int(max(transfers.tail.max(), transfers.head.max())) + 1
    if (int(transfers.chunk.max()) + 1) * nodes * (int(end.max()) + 1) >= 2**63:
        places = np.unique(np.concatenate([first, end]))
        first, end = np.searchsorted(places, first), np.searchsorted(places, end)
    span = int(end.max()) + 1
    base = transfers.chunk.astype(np.int64) * nodes
    at_head, at_tail = (base + transfers.head) * span, (base + transfers.tail) * span
    into = np.argsort(at_head + first, kind="stable")
    begins, stops = (at_head + first)[into], (at_head + end)[into]
    furthest = np.maximum.accumulate(stops)
    low = np.searchsorted(furthest, (at_tail + first)[which], side="right")
    many = np.maximum(np.searchsorted(begins, (at_tail + end)[which], side="left") - low, 0)
    upto = np.concatenate([[0], np.cumsum(many)])
    start = 0
    while start < len(which):
        stop = int(np.searchsorted(upto, upto[start] + _AT_ONCE, side="right")) - 1
        stop = min(max(stop, start + 1), len(which))
        some = np.repeat(np.arange(start, stop), many[start:stop])
        place = low[some] + np.arange(len(some)) + upto[start] - upto[some]
        real = stops[place] > (at_tail + first)[which[some]]
        yield which[some[real]], into[place[real]]
        start = stop


def _feeding(
    transfers: Transfers, ends: _Ends, late: Numbers, early: Numbers
) -> tuple[Numbers, Numbers]:
    """Keep the pairs in which what comes in is there, or comes in as it is sent on."""
    leaves, arrived = transfers.start[late], transfers.finish[early]
    feeds = arrived <= leaves
    if not ends.keeps.all():
        at = transfers.tail[late]
        feeds &= ends.stores[at] | (arrived == leaves)
        along = (transfers.start[early] <= leaves) & (arrived <= transfers.finish[late])
        feeds |= ~ends.keeps[at] & along & (leaves < arrived)
    feeds &= early < late
    return late[feeds], early[feeds]


_Parts = list[tuple[int, int]]


class _Taken:
    """What is left of transfers, and what has found where it comes from: by number, in parts."""

    def __init__(self, transfers: Transfers) -> None:
        self._moves = transfers
        self._left: dict[int, _Parts] = {}
        self._wanted: dict[int, _Parts] = {}

    def take(self, late: int, early: int) -> bool:
        """Use up what two transfers have in common; tell whether there is any."""
        has, wants = self._of(self._left, early), self._of(self._wanted, late)
        common = _common(has, wants)
        self._left[early], self._wanted[late] = _without(has, common), _without(wants, common)
        if common and self._moves.reduce[late] and common != self._shared(late, early):
            raise UnsupportedError(
                "unsupported: a switch that adds nothing sends parts of a transfer on with another "
                "than those that have the same units; cut the transfers where their ways part"
            )
        return bool(common)

    def copy(self, late: int, early: int) -> bool:
        """Find the one copy of units that one transfer sends on; tell whether it is this."""
        wants = self._of(self._wanted, late)
        common = _common(self._of({}, early), wants)
        self._wanted[late] = _without(wants, common)
        return bool(common)

    def _shared(self, late: int, early: int) -> _Parts:
        return _common(self._of({}, early), self._of({}, late))

    def put(self, late: int, early: int) -> bool:
        """Use up what one transfer has of another's units; tell whether there is any."""
        has = self._of(self._left, early)
        common = _common(has, self._of({}, late))
        self._left[early] = _without(has, common)
        if common and common != self._shared(late, early):
            raise UnsupportedError(
                "unsupported: an adding switch sends parts of what comes in with one sum and parts "
                "with another of the same units; cut the transfers where their ways part"
            )
        return bool(common)

    def _of(self, parts: dict[int, _Parts], move: int) -> _Parts:
        first = int(self._moves.first[move])
        return parts.get(move, [(first, first + int(self._moves.amount[move]))])


def _common(one: _Parts, other: _Parts) -> _Parts:
    pairs = ((max(a, c), min(b, d)) for a, b in one for c, d in other)
    return [(low, high) for low, high in pairs if low < high]


def _without(parts: _Parts, taken: _Parts) -> _Parts:
    for low, high in taken:
        cut = [each for a, b in parts for each in ((a, min(b, low)), (max(a, high), b))]
        parts = [(a, b) for a, b in cut if a < b]
    return parts


def _once(
    transfers: Transfers, ends: _Ends, taken: _Taken, late: Numbers, early: Numbers
) -> tuple[Numbers, Numbers]:
    """Of what a switch sends on once, copies, or adds to one sum, keep the pairs that do."""
    at, sums = transfers.tail[late], transfers.reduce[late]
    keep = ends.keeps[at] | (transfers.reduce[early] == sums)  # no sum is complete at such a switch
    late, early, at, sums = late[keep], early[keep], at[keep], sums[keep]
    keep = np.ones(len(late), dtype=np.bool_)
    for which, use in (
        (ends.once[at], taken.take),
        (ends.adds[at] & sums, taken.put),
        (ends.adds[at] & ~sums, taken.copy),
    ):
        asked = np.flatnonzero(which)
        asked = asked[np.lexsort((transfers.finish[early[asked]], late[asked]))]
        for pair in asked.tolist():
            keep[pair] = use(int(late[pair]), int(early[pair]))
    return late[keep], early[keep]


def _replaced(transfers: Transfers, late: Numbers, early: Numbers) -> tuple[Numbers, Numbers]:
    """Leave out what was added up at a sender before copies replaced all that it sends."""
    adds = transfers.reduce[early] & ~transfers.reduce[late]
    if not adds.any():
        return late, early
    low = np.maximum(transfers.first[late], transfers.first[early])
    high = np.minimum(
        (transfers.first + transfers.amount)[late], (transfers.first + transfers.amount)[early]
    )
    bare = transfers.amount.copy()
    np.subtract.at(bare, late, np.where(transfers.reduce[early], 0, high - low))
    keep = ~adds | (bare[late] > 0)
    return late[keep], early[keep]
