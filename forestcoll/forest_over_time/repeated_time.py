"""Time in which a forest can bring a size, latencies included, at constant rates.

Problem: tree i carries the part s_i of the data and has latency L_i. At the rate s_i / (T - L_i)
         from the start on, its last byte arrives at T. The least T at which these rates fit the
         links: sum over trees on a link of s_i / (T - L_i) <= b for each of them.
Input:   any explicit forest, a size, alpha.
Output:  T in us, exactly or rounded up by less than a picosecond: an upper bound on the time.
Cost:    a pass over the tree edges; a bisection over links and distinct latencies.
Source:  ours; docs/mathematics/forests-over-time.md.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from forestcoll.errors import UnsupportedError
from forestcoll.forest_over_time.hop_pieces import HopPieces
from forestcoll.problem.over_time.timed_links import TimedLinks
from forestcoll.schedule.forest import Forest

__all__ = ["RepeatedTimes", "repeated_time_us"]

_Ints = npt.NDArray[np.int64]

_PICOSECONDS = 10**6  # in a us
_MOST_AMOUNT = 2**53  # loads are counted in floats


def repeated_time_us(forest: Forest, size_bytes: int, alpha_us: Fraction) -> Fraction:
    """Return an upper bound on the time of a forest in the fluid model.

    Parameters
    ----------
    forest : Forest
        Of one phase, with one tree or more.
    size_bytes : int
        All shards together.
    alpha_us : Fraction
        Latency of a hop from GPU to GPU, beside those of its links.

    Raises
    ------
    UnsupportedError
        If the trees on a link are more than 2^53.
    VerificationError
        If a path uses a link that the network does not have.

    Examples
    --------
    >>> import forestcoll
    >>> ring = forestcoll.generate("ring:nodes=4,bandwidth=1").schedule
    >>> repeated_time_us(ring, 4000, Fraction(10)) == 10 * 2 + Fraction(3, 2)
    True
    """
    return RepeatedTimes(forest).at(Fraction(size_bytes), alpha_us)


class RepeatedTimes:
    """The same for many sizes and latencies of one forest."""

    def __init__(self, forest: Forest) -> None:
        self._forest, self._pieces = forest, HopPieces.of(forest)

    def at(self, size_bytes: Fraction, alpha_us: Fraction) -> Fraction:
        """Return the bound of a size, in microseconds."""
        forest = self._forest
        links = TimedLinks.of(forest.topology, alpha_us, reduction=False)
        latencies, loads = _loads(self._pieces, alpha_us)
        # One tree, in units of capacity times ticks.
        tree = links.amount(size_bytes / (sum(forest.weights) * forest.k))
        least = _least_time(latencies, loads, _capacities(forest, links), tree)
        return least / links.ticks_per_us

    def arrivals(self, alpha_us: Fraction) -> npt.NDArray[np.float64]:
        """Return when the first data of each hop arrive if none waits, in us, shape (B, N)."""
        ticks = TimedLinks.of(self._forest.topology, alpha_us, reduction=False).ticks_per_us
        return _arrivals(self._forest.parent, _of_hops(self._pieces, alpha_us)) / ticks


def _loads(pieces: HopPieces, alpha_us: Fraction) -> tuple[_Ints, _Ints]:
    """Return the distinct latencies of trees, and their trees over each link or capacity."""
    forest = pieces.forest
    latest = _arrivals(forest.parent, _of_hops(pieces, alpha_us)).max(axis=1, initial=0)
    latencies, which = np.unique(latest, return_inverse=True)
    piece, place = pieces.on_links()
    rows = which.reshape(-1)[pieces.batch[piece]]
    size = len(forest.topology.links)
    weights = pieces.amount[piece]
    loads = np.bincount(rows * size + pieces.link[place], weights, len(latencies) * size)
    if loads.max(initial=0) > _MOST_AMOUNT:
        raise UnsupportedError("unsupported: too many trees on a link to count exactly; take fewer")
    whole = loads.astype(np.int64).reshape(len(latencies), size)
    shared = [whole[:, list(places)].sum(axis=1) for places, _ in forest.topology.shared_places]
    return latencies, np.column_stack([whole, *shared])


def _of_hops(pieces: HopPieces, alpha_us: Fraction) -> _Ints:
    """Return the latency of the slowest path of each hop, in ticks, shape (B, N)."""
    late, _, _ = pieces.latencies(alpha_us)
    found = np.zeros(pieces.forest.parent.shape, dtype=np.int64)
    np.maximum.at(found, (pieces.batch, pieces.child), late[pieces.path])
    return found


def _arrivals(parent: npt.NDArray[np.int32], of_hop: _Ints) -> _Ints:
    """Return the latency from the root of each tree to each rank (pointer doubling)."""
    ranks = np.arange(parent.shape[1])
    jump = np.where(parent < 0, ranks, parent)
    arrive = np.where(parent < 0, 0, of_hop)
    rows = np.arange(len(parent))[:, None]
    for _ in range(parent.shape[1].bit_length()):
        arrive = arrive + arrive[rows, jump]
        jump = jump[rows, jump]
    return arrive


def _capacities(forest: Forest, links: TimedLinks) -> list[Fraction]:
    shared = [limit * links.denominator for _, limit in forest.topology.shared_places]
    return [*map(Fraction, links.capacity), *shared]


def _least_time(
    latencies: _Ints, loads: _Ints, capacities: list[Fraction], tree: Fraction
) -> Fraction:
    """Return the least time in ticks at which all links suffice, rounded up if it is irrational."""
    rows = sorted(set(zip(map(tuple, loads.T.tolist()), capacities, strict=True)))
    exact = [(load, tree / capacity) for load, capacity in rows if any(load)]
    late = latencies.tolist()
    # A link with trees of one latency ends at a rational time.
    alone = [
        late[place] + load[place] * per
        for load, per in exact
        for place in [next(i for i, trees in enumerate(load) if trees)]
        if sum(1 for trees in load if trees) == 1
    ]
    least: Fraction = max([Fraction(late[-1]), *alone])
    if least > late[-1] and _suffices(least, exact, late):
        return least
    return _bisected(max(least, Fraction(late[-1])), exact, late)


def _suffices(
    time: Fraction, rows: list[tuple[tuple[int, ...], Fraction]], latencies: list[int]
) -> bool:
    return all(
        sum(trees * per / (time - late) for trees, late in zip(load, latencies, strict=True)) <= 1
        for load, per in rows
    )


def _bisected(
    low: Fraction, rows: list[tuple[tuple[int, ...], Fraction]], latencies: list[int]
) -> Fraction:
    loads = np.array([load for load, _ in rows], dtype=np.float64)
    per = np.array([float(one) for _, one in rows])
    late = np.array(latencies, dtype=np.float64)
    below, above = float(low), float(low) + 1.0

    def busiest(time: float) -> float:
        return float(((loads / (time - late)).sum(axis=1) * per).max())

    while busiest(above) > 1:
        above = float(low) + 2 * (above - float(low))
    while below < (middle := (below + above) / 2) < above:
        below, above = (below, middle) if busiest(middle) <= 1 else (middle, above)
    step = Fraction(1, _PICOSECONDS)
    time: Fraction = math.ceil(above * _PICOSECONDS) * step
    while not _suffices(time, rows, latencies):
        time, step = time + step, 2 * step
    return time
