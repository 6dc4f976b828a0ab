"""Dependencies of transfers.

Problem: for every transfer, find the transfers that bring the data that it sends.
Input:   transfers with their times, from a valid schedule.
Output:  the transfers, sorted so that each comes after its dependencies; the dependencies.
Cost:    sorts of the transfers, and the pairs of a transfer into a node and one out of it that have
         units in common; a few million pairs are processed at a time.
Source:  ours; transfers in *feed* transfers out as in
         :mod:`forestcoll.schedule.verification.steps.switches`.

- A copy depends on the copies that brought its units to the sender, and on all that was added
  after the first of them. For units that no copy has brought, it depends on all that was added at
  the sender by then.
- A sum depends on all transfers of its units that have reached the sender by then.
- A switch without storage sends data that has just come in, or that comes in at the same time.
  Both are dependencies, though such a transfer could begin while its dependency is in flight. So
  an executor may wait a little longer than the schedule, never less.
- A switch that is not marked ``multicast`` sends each unit once: the first transfer out takes the
  unit that came in first. A switch that reduces puts data into the first transfer out.
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

_AT_ONCE = 2**22  # pairs that are processed together
_MOST = 2**29  # most dependencies in all


def with_dependencies(
    transfers: Transfers, topology: Topology
) -> tuple[Transfers, Numbers, npt.NDArray[np.int32]]:
    """Sort transfers by their times and find their dependencies.

    Raises UnsupportedError if there are too many dependencies, or a switch divides incoming data
    between transfers of the same units.

    Returns
    -------
    transfers : Transfers
        In the new order.
    first_need, need : int64 and int32 arrays
        In compressed rows, as in :class:`forestcoll.schedule.program.Program`.
    """
    ends = _Ends(topology)
    transfers = _in_order(transfers, ends)
    many = np.zeros(len(transfers), dtype=np.int64)
    needs = [np.zeros(0, dtype=np.int32)]
    taken, total = _Taken(transfers), 0
    for late, early in met(transfers):  # sorted by the later transfer: its pairs come together
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
    """How the ends of transfers treat the data that they get.

    Attributes
    ----------
    keeps : bool array
        GPUs, and multicast switches that store: they may send it any number of times.
    stores : bool array
        Ends that may send it later.
    once : bool array
        Ends that send it once.
    adds : bool array
        Ends that may copy incoming data, or put it into sums, at once.
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
    """Sort by start; at a switch, transfers in come before transfers out of the same time."""
    wave = np.zeros(len(transfers), dtype=np.int64)
    passing = np.flatnonzero(~ends.keeps[transfers.tail])
    pairs = [
        (late[same], early[same])
        for late, early in met(transfers, passing)
        for same in [transfers.start[late] == transfers.start[early]]
    ]
    for _ in range(len(ends.keeps) + 1):  # no path passes more switches than exist
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
    """Yield pairs of a transfer out of an end and one into it, with units in common.

    Parameters
    ----------
    leaving : int64 array, optional
        The transfers out to consider, in this order; all if not given. The pairs of one transfer
        come together.
    """
    which = np.arange(len(transfers)) if leaving is None else leaving
    if not len(which):
        return
    first, end = transfers.first, transfers.first + transfers.amount
    nodes = int(max(transfers.tail.max(), transfers.head.max())) + 1
    if (int(transfers.chunk.max()) + 1) * nodes * (int(end.max()) + 1) >= 2**63:
        # The keys would overflow: positions are renumbered, which keeps their order.
        places = np.unique(np.concatenate([first, end]))
        first, end = np.searchsorted(places, first), np.searchsorted(places, end)
    span = int(end.max()) + 1
    base = transfers.chunk.astype(np.int64) * nodes
    at_head, at_tail = (base + transfers.head) * span, (base + transfers.tail) * span
    into = np.argsort(at_head + first, kind="stable")
    begins, stops = (at_head + first)[into], (at_head + end)[into]
    # Sorted by start, ends are in no order; their running maximum is, and it bounds the first
    # transfer in that may overlap.
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
    """Keep the pairs whose incoming data has arrived, or arrives as it is sent."""
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
    """Unused units of incoming transfers and sourced units of outgoing ones, by number."""

    def __init__(self, transfers: Transfers) -> None:
        self._moves = transfers
        self._left: dict[int, _Parts] = {}
        self._wanted: dict[int, _Parts] = {}

    def take(self, late: int, early: int) -> bool:
        """Use up the units that two transfers have in common; return whether there are any."""
        has, wants = self._of(self._left, early), self._of(self._wanted, late)
        common = _common(has, wants)
        self._left[early], self._wanted[late] = _without(has, common), _without(wants, common)
        if common and self._moves.reduce[late] and common != self._shared(late, early):
            raise UnsupportedError(
                "unsupported: a switch that reduces nothing sends parts of a transfer on with "
                "another than those that have the same units; cut the transfers where their "
                "ways part"
            )
        return bool(common)

    def copy(self, late: int, early: int) -> bool:
        """Mark the source of copied units; return whether this pair is the one."""
        wants = self._of(self._wanted, late)
        common = _common(self._of({}, early), wants)
        self._wanted[late] = _without(wants, common)
        return bool(common)

    def _shared(self, late: int, early: int) -> _Parts:
        return _common(self._of({}, early), self._of({}, late))

    def put(self, late: int, early: int) -> bool:
        """Use up one transfer's share of another's units; return whether there is any."""
        has = self._of(self._left, early)
        common = _common(has, self._of({}, late))
        self._left[early] = _without(has, common)
        if common and common != self._shared(late, early):
            raise UnsupportedError(
                "unsupported: a reducing switch sends parts of what comes in with one sum and "
                "parts with another of the same units; cut the transfers where their "
                "ways part"
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
    """Keep the pairs in which a switch sends once, copies, or adds to one sum."""
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
    """Drop sums at a sender that copies had replaced before it sent."""
    adds = transfers.reduce[early] & ~transfers.reduce[late]
    if not adds.any():
        return late, early
    low = np.maximum(transfers.first[late], transfers.first[early])
    high = np.minimum(
        (transfers.first + transfers.amount)[late], (transfers.first + transfers.amount)[early]
    )
    bare = transfers.amount.copy()
    np.subtract.at(bare, late, np.where(transfers.reduce[early], 0, high - low))
    keep = ~adds | (bare[late] > 0) | _after_copies(transfers, late, early)
    return late[keep], early[keep]


def _after_copies(transfers: Transfers, late: Numbers, early: Numbers) -> Flags:
    """Mark what arrives at a sender after a copy there: it is part of what the sender sends."""
    first_copy = np.full(len(transfers), np.iinfo(np.int64).max)
    copies = ~transfers.reduce[early]
    np.minimum.at(first_copy, late[copies], transfers.finish[early[copies]])
    found: Flags = transfers.finish[early] > first_copy[late]
    return found
