"""Exact times of a forest in time slots, at any size and latency.

Problem: how wide must slots be so that no link carries more in a slot than it can, and no hop
         begins before its data have arrived? When have the data of the last slot arrived?
Input:   an explicit forest with a slot for every hop; then sizes and latencies.
Output:  the width of a slot and the time, as fractions; None where slots do not fit together.
Cost:    a pass over the tree edges, once; a few numbers for each path and size.
Source:  ours; docs/mathematics/forests-over-time.md.

Slots of a link are its own: data reach it late by the latencies before it. So loads add up slot by
slot if all data reach the link, or the links of a shared capacity, equally late. Otherwise slots
overlap, and nothing is returned.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from forestcoll.forest_over_time.hop_pieces import HopPieces
from forestcoll.schedule.forest import Forest
from forestcoll.schedule.time_plan import PARTS, Slots
from forestcoll.topology.model import Topology

__all__ = ["SlotTimes", "arrive_as_one", "us_per_byte"]

_Ints = npt.NDArray[np.int64]

_MOST = 2**62
_NEVER = 2**31  # a slot that no plan reaches: that of a hop for which none waits
_BYTES_IN_A_US = 1000  # of 1 GB/s


class SlotTimes:
    """Widths and times of a forest in slots.

    Parameters
    ----------
    forest : Forest
    slots : Slots
        Of this forest; their width does not count.
    """

    def __init__(self, forest: Forest, slots: Slots) -> None:
        self._topology = forest.topology
        self._pieces = pieces = HopPieces.of(forest)
        self.units = sum(forest.weights) * forest.k * PARTS
        self.fits = self.units * forest.topology.num_compute < _MOST
        if not self.fits:
            return
        piece, row = _joined(pieces.batch, slots.tree, forest.num_batches)
        path, child = pieces.path[piece], pieces.child[piece]
        at = slots.slot[row, child].astype(np.int64)
        paths = len(pieces.first) - 1
        last, gap = np.full(paths, -1, dtype=np.int64), np.full(paths, _NEVER, dtype=np.int64)
        np.maximum.at(last, path, at)
        np.minimum.at(gap, path, _next_slots(forest, slots)[row, child] - at)
        self._last, self._gap = last.tolist(), gap.tolist()
        self.loads = self._loads(piece, at, slots.parts[row])

    def at(
        self, size_bytes: int | Fraction, alpha_us: Fraction
    ) -> tuple[Fraction, Fraction] | None:
        """Return the width and the time in microseconds.

        Parameters
        ----------
        size_bytes : int or Fraction
            All shards together.

        Returns
        -------
        tuple or None
            None if data reach a link unequally late, or hops do not wait for one another.
        """
        if not self.fits or not arrive_as_one(self._topology, [self.reached(alpha_us)]):
            return None
        waits = self.least_width(alpha_us)
        if waits is None:
            return None
        width = max(us_per_byte(self._topology, self.loads, self.units) * size_bytes, waits)
        return width, self.end(width, alpha_us)

    def least_width(self, alpha_us: Fraction) -> Fraction | None:
        """Return the width in which hops wait for the data of those before; None if none do."""
        if min(self._gap) < 1:
            return None
        pairs = zip(self._late(alpha_us), self._gap, strict=True)
        return max((one / gap for one, gap in pairs if gap < _NEVER // 2), default=Fraction(0))

    def slowest_hop(self, alpha_us: Fraction) -> Fraction:
        """Return the largest latency of a path in use."""
        return max(self._late(alpha_us))

    def end(self, width: Fraction, alpha_us: Fraction) -> Fraction:
        """Return when the last data have arrived, by slots of a width."""
        pairs = zip(self._late(alpha_us), self._last, strict=True)
        return max((slot + 1) * width + one for one, slot in pairs if slot >= 0)

    def reached(self, alpha_us: Fraction) -> tuple[_Ints, _Ints]:
        """Return links in use, and when data reach them after the start of a hop, in ticks."""
        _, before, _ = self._pieces.latencies(alpha_us)
        used = np.unique(self._pieces.on_links()[1])
        return self._pieces.link[used], before[used]

    def _late(self, alpha_us: Fraction) -> list[Fraction]:
        """Return the latency of each path."""
        late, _, ticks = self._pieces.latencies(alpha_us)
        return [Fraction(one, ticks) for one in late.tolist()]

    def _loads(self, piece: _Ints, at: _Ints, parts: _Ints) -> _Ints:
        """Return the parts of trees on each link in each slot."""
        pieces = self._pieces
        on, place = pieces.on_links()
        row, used = _joined(piece, on, len(pieces.path))
        loads = np.zeros((int(at.max()) + 1, len(self._topology.links)), dtype=np.int64)
        amount = pieces.amount[piece[row]] * parts[row]
        np.add.at(loads, (at[row], pieces.link[place[used]]), amount)
        return loads


def us_per_byte(topology: Topology, loads: _Ints, units: int) -> Fraction:
    """Return the width of slots in which links and shared capacities suffice, for each byte.

    Parameters
    ----------
    loads : int64 array of shape (K, links)
        Of each link in each slot, in units.
    units : int
        All data.
    """
    shared = [loads[:, list(links)].sum(axis=1) for links, _ in topology.shared_places]
    most = np.column_stack([loads, *shared]).max(axis=0).tolist()
    widths = [
        *(link.bandwidth_gb_s for link in topology.links),
        *(limit for _, limit in topology.shared_places),
    ]
    busiest: Fraction = max(load / width for load, width in zip(most, widths, strict=True))
    return busiest / units / _BYTES_IN_A_US


def arrive_as_one(topology: Topology, reached: Sequence[tuple[_Ints, _Ints]]) -> bool:
    """Whether data reach each link, and all links of a shared capacity, equally late.

    Parameters
    ----------
    reached : sequence of (int array, int array)
        Links, and when data reach them.
    """
    link, late = (np.concatenate(parts) for parts in zip(*reached, strict=True))
    size = len(topology.links)
    earliest, latest = np.full(size, np.iinfo(np.int64).max), np.full(size, -1)
    np.minimum.at(earliest, link, late)
    np.maximum.at(latest, link, late)
    groups = [list(links) for links, _ in topology.shared_places]
    return bool((earliest >= latest)[latest >= 0].all()) and all(
        len(set(latest[links][latest[links] >= 0].tolist())) <= 1 for links in groups
    )


def _next_slots(forest: Forest, slots: Slots) -> _Ints:
    """Return the first slot of a hop that waits for each hop, far away where none does."""
    at, parent = slots.slot.astype(np.int64), forest.parent[slots.tree]
    row, child = np.nonzero(parent >= 0)
    above = parent[row, child]
    found = np.full(at.shape, _NEVER, dtype=np.int64)
    if forest.reduction:
        found[row, child] = at[row, above]
        found[found < 0] = _NEVER  # the root sends nothing on
    else:
        np.minimum.at(found, (row, above), at[row, child])
    return found


def _joined(left: _Ints, right: npt.NDArray[np.integer], size: int) -> tuple[_Ints, _Ints]:
    """Return all pairs of places in two lists with equal numbers below ``size``."""
    order = np.argsort(right, kind="stable")
    first = np.searchsorted(right[order], np.arange(size + 1))
    many = np.diff(first)[left]
    one = np.repeat(np.arange(len(left)), many)
    inside = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
    return one, order[first[left[one]] + inside]
