"""Program for trees whose hops wait: each hop of a tree sends in a time slot of its own.

Problem: trees that send at one rate from the start to the end leave links idle, at first those far
         from the root, at last those near it. In K slots of equal width, a tree uses the links of
         a hop in one slot, g slots or more after that of the hop before: what has arrived waits at
         the GPUs. Maximise what the roots deliver per width of a slot.
Input:   the network, orbits of roots, limits; K; g, the slots that a hop takes.
Output:  amounts by tree and slots. They end by T = latency + K width if width g >= latency.
Cost:    some linear programs of K rows for each link class, and for each a few trees of an orbit
         (:mod:`forestcoll.forest_over_time.priced_slots`).
Source:  ours; docs/mathematics/forests-over-time.md. The value depends on K and g only, so one
         program serves all sizes. Prices are smoothed as in Wentges, "Weighted Dantzig-Wolfe
         decomposition for linear mixed-integer programming" (1997).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import scipy.sparse as sp

from forestcoll.forest_over_time.priced_hops import Floats, HopNetwork, Hops, Ints
from forestcoll.forest_over_time.priced_slots import cheaper_slots, grown_tree
from forestcoll.forest_over_time.rate_program import Limits, distinct_rows
from forestcoll.forest_over_time.rotations import Orbit, link_classes
from forestcoll.forest_over_time.timed_trees import TimedTree
from forestcoll.solver.linear_program import Basis, Place, Program, Settings
from forestcoll.solver.solve import solve

__all__ = ["ColumnSearch", "SlotPlan", "SlotProgram", "SlottedTree", "loads_in_slots"]

_SECONDS = 600.0
_STARTS, _TREES = 10, 6  # trees of an orbit to improve in a round, and to add
_MOST_IDLE = 8  # rounds
_SMOOTH = 0.8  # the share of the prices before
_TRIES = 12  # with other prices, until one finds trees
# When the search stops; the times of its plan are found in fractions (``slot_times``).
_WORTH = 1e-6  # by which a tree must be cheaper than what it brings, as a share
_PROGRESS = 5e-3  # ``patience`` rounds that together add less, as a share, are the last


@dataclass(frozen=True, slots=True)
class SlottedTree:
    """A tree of the first root of an orbit, with a slot for each hop.

    Parameters
    ----------
    orbit : int
        By place.
    tree : TimedTree
    slots : tuple of int
        Of the hop to each rank; -1 at the root.
    """

    orbit: int
    tree: TimedTree
    slots: tuple[int, ...]

    @property
    def first_slot(self) -> int:
        """The first slot of a hop, in which the root sends."""
        return min(slot for slot in self.slots if slot >= 0)


@dataclass(frozen=True, slots=True, eq=False)
class SlotPlan:
    """Amounts of trees in slots.

    Parameters
    ----------
    slots, gap : int
        K and g.
    value : float
        What each root delivers per unit of its weight, in capacity times widths of a slot.
    moves : tuple of (SlottedTree, float)
        How much each root of the orbit sends over the tree.
    """

    slots: int
    gap: int
    value: float
    moves: tuple[tuple[SlottedTree, float], ...] = field(repr=False)


def loads_in_slots(
    network: HopNetwork, orbits: Sequence[Orbit], slots: int, one: SlottedTree
) -> Floats:
    """Return the load of each link in each slot, of shape (K, links), if each root has the tree."""
    moved, size = orbits[one.orbit].links, len(network.links.tail)
    used = [network.links_of(path) for path in one.tree.paths]
    at = np.repeat(one.slots, [len(links) for links in used])
    links = np.array([link for of_hop in used for link in of_hop], dtype=np.int64)
    places = (at * size + moved[:, links]).reshape(-1)
    loads = np.bincount(places, minlength=slots * size) / orbits[one.orbit].images
    return np.asarray(loads.reshape(slots, size))


class SlotProgram:
    """The programs of a network, for all K and g.

    Parameters
    ----------
    network : HopNetwork
    orbits : sequence of Orbit
    limits : Limits
    """

    rounds, patience = 120, 16

    def __init__(self, network: HopNetwork, orbits: Sequence[Orbit], limits: Limits) -> None:
        self.network, self.orbits, self.limits = network, orbits, limits
        classes = link_classes(orbits)
        alike = (classes[:, None] == np.arange(classes.max() + 1)).astype(np.float64)
        _, self._first, self._place = distinct_rows(limits.rows(alike), limits.upper)
        self._scale = float(limits.upper[: limits.links].max())
        self.upper = limits.upper[self._first] / self._scale

    @property
    def link_classes(self) -> int:
        """Number of rows for each slot."""
        return len(self.upper)

    def rows(self, loads: Floats) -> Floats:
        """Return the load of each row in each slot, from that of each link."""
        return self.limits.rows(loads.T)[self._first].T

    def link_prices(self, rows: Floats) -> Floats:
        """Return the price of each link in each slot, from that of each row."""
        # Equal rows share their price, so that prices are as symmetric as the columns.
        of_rows = rows[:, self._place] / np.bincount(self._place)[self._place]
        return np.stack([self.limits.prices(one) for one in of_rows])

    def solved(
        self,
        slots: int,
        gap: int,
        trees: Iterable[SlottedTree],
        wanted: float = np.inf,
        report: Callable[[], None] | None = None,
    ) -> SlotPlan | None:
        """Return a plan of high value; None if K slots are too few.

        Parameters
        ----------
        trees : iterable of SlottedTree
            To begin with; those that need more slots are left out.
        wanted : float
            No higher value is searched for.
        report : callable, optional
            Called in each round; may raise to stop.
        """
        search = self._search(slots, gap)
        search.add(one for one in trees if max(one.slots) < slots)
        if not search.covers_all() and not search.priced():
            return None
        if not search.covers_all():
            return None
        values: list[float] = []
        for _ in range(self.rounds):
            if report is not None:
                report()
            values.append(search.solve() * self._scale)
            lately = values[-self.patience - 1 :]
            idle = len(lately) > self.patience and lately[-1] < lately[0] * (1 + _PROGRESS)
            if values[-1] >= wanted or idle or not search.priced():
                break
        if values[-1] <= 0:
            return None
        return SlotPlan(slots, gap, values[-1], tuple(search.in_use(self._scale)))

    def _search(self, slots: int, gap: int) -> ColumnSearch:
        return ColumnSearch(self, slots, gap)


class ColumnSearch:
    """Columns and prices of one K and g.

    Parameters
    ----------
    program : SlotProgram
    slots, gap : int
    """

    def __init__(self, program: SlotProgram, slots: int, gap: int) -> None:
        self._program, self._slots, self._gap = program, slots, gap
        self._columns: dict[SlottedTree, Floats] = {}
        self._idle: dict[SlottedTree, int] = {}  # rounds without use
        self._amounts = np.zeros(0)
        self._basis: Basis | None = None  # of the columns that ``_amounts`` has
        self._random = np.random.default_rng(0)
        self._links = self._smooth = np.ones((slots, program.link_classes))
        self._roots = np.full(len(program.orbits), np.inf)

    def covers_all(self) -> bool:
        """Whether every orbit has a tree."""
        return len({one.orbit for one in self._columns}) == len(self._program.orbits)

    def add(self, trees: Iterable[SlottedTree]) -> bool:
        """Add trees that are new and cheaper than what they bring; return whether any was."""
        before = len(self._columns)
        for one in trees:
            if one in self._columns:
                continue
            rows = self._program.rows(self.loads(one))
            if float((rows * self._links).sum()) < self.brings(one) * (1 - _WORTH):
                self._columns[one] = rows
        return len(self._columns) > before

    def loads(self, one: SlottedTree) -> Floats:
        """Return what a tree puts on each link in each slot."""
        return loads_in_slots(self._program.network, self._program.orbits, self._slots, one)

    def brings(self, one: SlottedTree) -> float:
        """Return the price above which a tree is of no use."""
        return float(self._roots[one.orbit])

    def deliveries(self, columns: Sequence[SlottedTree]) -> tuple[Floats, Floats, Floats]:
        """Return further rows over the columns and the value, and their least and largest sums.

        Every root delivers the value per unit of its weight.
        """
        weights = self._program.limits.weights
        rows = np.zeros((len(weights), len(columns) + 1))
        rows[[one.orbit for one in columns], range(len(columns))] = 1
        rows[:, -1] = [-weight for weight in weights]
        return rows, np.zeros(len(weights)), np.full(len(weights), np.inf)

    def read(self, duals: Floats) -> None:
        """Keep the prices of the further rows."""
        self._roots = np.maximum(-duals, 0)

    def solve(self) -> float:
        """Solve the program of the columns so far; return its value, and set the prices."""
        program, columns = self._program, list(self._columns)
        places = self._slots * program.link_classes
        loads = np.stack([rows.reshape(-1) for rows in self._columns.values()], axis=1)
        rows, least, largest = self.deliveries(columns)
        matrix = sp.block_array(
            [
                [sp.coo_array(loads), None],
                [sp.coo_array(rows[:, :-1]), sp.coo_array(rows[:, -1:])],
            ]
        ).tocoo()
        cost = np.zeros(len(columns) + 1)
        cost[-1] = 1
        found = solve(
            Program(
                cost,
                matrix,
                np.concatenate([np.full(places, -np.inf), least]),
                np.concatenate([np.tile(program.upper, self._slots), largest]),
                np.zeros(len(cost)),
                # No tree carries more than 1, since it loads a link as much. The bounds are finite
                # for the check of the multipliers, and loose, or they would take the links' prices.
                np.append(np.full(len(columns), 2.0), 2.0 * float(np.abs(rows[:, :-1]).sum())),
                maximise=True,
                start=self._start(),
            ),
            Settings(seconds=_SECONDS),
        )
        duals = found.row_duals
        assert duals is not None  # of a linear program that was solved
        first = not self._amounts.size
        self._amounts = np.maximum(found.x[:-1], 0)
        self._basis = found.basis
        self._drop_idle()
        self._links = np.maximum(duals[:places], 0).reshape(self._slots, program.link_classes)
        self.read(duals[places:])
        self._smooth = (
            self._links if first else _SMOOTH * self._smooth + (1 - _SMOOTH) * self._links
        )
        return float(found.x[-1])

    def _start(self) -> Basis | None:
        """Return the basis before, in which columns that are new carry nothing."""
        if self._basis is None:
            return None
        known = self._basis.columns
        fresh = np.full(len(self._columns) + 1 - len(known), Place.LOWER, dtype=np.int8)
        return replace(self._basis, columns=np.concatenate([known[:-1], fresh, known[-1:]]))

    def _drop_idle(self) -> None:
        """Forget trees that were of no use for some rounds: later programs are smaller."""
        kept = []
        for place, one in enumerate(list(self._columns)):
            self._idle[one] = 0 if self._amounts[place] > 0 else self._idle.get(one, 0) + 1
            if self._idle[one] > _MOST_IDLE:
                del self._columns[one], self._idle[one]
            else:
                kept.append(place)
        self._amounts = self._amounts[kept]
        if self._basis is not None:
            columns = self._basis.columns[[*kept, -1]]
            self._basis = replace(self._basis, columns=columns)

    def priced(self) -> bool:
        """Add trees of low price; return whether there were any."""
        return any(self.add(self._cheap(self._disturbed(number))) for number in range(_TRIES))

    def _disturbed(self, number: int) -> Floats:
        """Return prices to search with: smoothed ones, the true ones, then some at random.

        Many trees have one price, and the search finds a few of them.
        """
        if number < 2:
            return (self._smooth, self._links)[number]
        share, extra = self._random.random(2)
        mixed = share * self._smooth + (1 - share) * self._links
        scaled, added = self._random.random((2, *mixed.shape))
        return np.asarray(mixed * (1 + scaled) + extra * added * mixed.mean() / 2)

    def in_use(self, scale: float) -> list[tuple[SlottedTree, float]]:
        """Return trees and their amounts, the largest first."""
        order = np.argsort(-self._amounts, kind="stable").tolist()
        columns = list(self._columns)
        return [
            (columns[i], float(self._amounts[i]) * scale) for i in order if self._amounts[i] > 0
        ]

    def _cheap(self, prices: Floats) -> list[SlottedTree]:
        """Return trees of low price for each orbit, by prices of rows in slots."""
        program = self._program
        hops = [program.network.hops(one) for one in self.of_links(program.link_prices(prices))]
        of_hops = np.stack([one.cost for one in hops])
        of_hops[:, range(of_hops.shape[1]), range(of_hops.shape[1])] = np.inf
        in_use = [one for one, _ in self.in_use(1.0)]
        found = []
        for place, orbit in enumerate(program.orbits):
            parents = [np.array(one.tree.parent) for one in in_use if one.orbit == place]
            best = sorted(
                {
                    (price, tuple(parent.tolist()), tuple(slots.tolist()))
                    for price, parent, slots in self.improved(place, of_hops, parents)
                }
            )
            found += [
                _with_paths(hops, place, orbit.roots[0], parent, slots)
                for _, parent, slots in best[:_TREES]
            ]
        return found

    def of_links(self, prices: Floats) -> Floats:
        """Return what a hop pays for each link in each slot."""
        return prices

    def improved(
        self, place: int, prices: Floats, parents: Sequence[Ints]
    ) -> Iterator[tuple[float, Ints, Ints]]:
        """Yield the price, parents and slots of a grown tree of an orbit, and of those in use."""
        grown = grown_tree(prices, self._program.orbits[place].roots[0], self._gap)
        starts = [*parents] if grown is None else [grown[1], *parents]
        for one in starts[: _STARTS + 1]:
            better = cheaper_slots(prices, one, self._gap)
            if better is not None:
                yield better


def _with_paths(
    hops: Sequence[Hops], orbit: int, root: int, parent: tuple[int, ...], slots: tuple[int, ...]
) -> SlottedTree:
    """Return a tree with the cheapest path of each hop in its slot."""
    paths = tuple(
        hops[slots[rank]].path(above, rank) if above >= 0 else ()
        for rank, above in enumerate(parent)
    )
    return SlottedTree(orbit, TimedTree(root, parent, paths), slots)
