"""Rows and columns of the allreduce program, one for each orbit of the network's symmetries.

Used by :mod:`forestcoll.allreduce.cutting_planes`.

Problem: state shares of links, balance at switches and cuts over variables that stand for orbits.
Input:   a topology, orbits of its nodes and links, cuts as they come.
Output:  the matrix program; its solutions as values of GPUs and links.
Cost:    linear in nodes and links for each cut.
Source:  as there; a shared capacity holds the shares of both phases. A row's coefficient of an
         orbit is the number of the orbit's members in the row. Rows of one orbit of links or
         switches are identical and stated once, as are cuts that are images of each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from forestcoll.allreduce.result import rate_scale, useful_bandwidth
from forestcoll.solver.linear_program import Program, Vector
from forestcoll.solver.matrix_blocks import compact, from_entries, stacked
from forestcoll.topology.model import Topology
from forestcoll.topology.symmetry.automorphism import Orbits

__all__ = ["GATHER", "PHASES", "REDUCE", "CutProgram", "Inside", "Point", "Roles"]

GATHER, REDUCE = 0, 1

PHASES = ("gather", "reduce")
"""Names of the phases by their number."""

Inside = npt.NDArray[np.bool_]
"""Whether each node is in a set."""


@dataclass(frozen=True, slots=True)
class Point:
    """Values of a solution, in units of the scale.

    Parameters
    ----------
    part : float array, one entry a root
    gather, reduce : float array, one entry a link
    """

    part: Vector
    gather: Vector
    reduce: Vector


@dataclass(frozen=True, slots=True)
class Roles:
    """Roles of the nodes: roots, targets and forwarding nodes.

    Parameters
    ----------
    roots : tuple of int
        Positions of the nodes at which parts may be summed up.
    targets : tuple of int
        Nodes that must get all sums, and whose data are summed up.
    forwarding : tuple of int
        Nodes that only forward data, without multicast.
    weights : tuple of int
        Of each root, if the parts must be in these proportions; else empty.
    """

    roots: tuple[int, ...]
    targets: tuple[int, ...]
    forwarding: tuple[int, ...]
    weights: tuple[int, ...] = ()

    @classmethod
    def of(cls, topology: Topology, *, multicast: bool, weights: tuple[int, ...] = ()) -> Roles:
        """Roles of GPUs and switches; multicast switches do not forward, but may be roots."""
        copies = [v for v in topology.switches if multicast and topology.nodes[v].multicast]
        roots = topology.compute if weights else (*topology.compute, *copies)
        forwarding = tuple(v for v in topology.switches if v not in copies)
        return cls(tuple(roots), topology.compute, forwarding, weights)


class CutProgram:
    """The program with the cuts that were added so far.

    Columns are the orbits of roots, then those of links for the gathering, then for the reduction.

    Parameters
    ----------
    topology : Topology
    orbits : Orbits
    roles : Roles, optional
        Of a network whose switches forward if not given. With weights there must be no symmetry
        but such as keeps them.
    scale_gb_s : float, optional
        An upper bound on the rate; that of :func:`.result.rate_scale` if not given.
    """

    def __init__(
        self,
        topology: Topology,
        orbits: Orbits,
        roles: Roles | None = None,
        scale_gb_s: float | None = None,
    ) -> None:
        self.topology = topology
        self.orbits = orbits
        self.roles = Roles.of(topology, multicast=False) if roles is None else roles
        self.scale_gb_s = rate_scale(topology) if scale_gb_s is None else scale_gb_s
        self._tail = np.array([link.tail for link in topology.links], dtype=np.int64)
        self._head = np.array([link.head for link in topology.links], dtype=np.int64)
        self._part, self._share = self._columns()
        self._parts = int(self._part.max()) + 1
        self._links = int(orbits.link.max()) + 1
        bandwidth = np.zeros(self._links)
        bandwidth[orbits.link] = useful_bandwidth(topology, self.scale_gb_s)
        self._bandwidth = bandwidth
        self._family, held, self._limit = self._shared_capacities()
        self._fixed = stacked([self._shares(), held, *self._balances()])
        self._cuts: list[tuple[int, Inside]] = []
        self._rows: list[Any] = []
        self._known: set[bytes] = set()

    def _columns(self) -> tuple[npt.NDArray[np.int64], Vector]:
        """Return the column of each root, and its share of that column's value."""
        if self.roles.weights:
            shares = np.array(self.roles.weights, dtype=np.float64)
            return np.zeros(len(shares), dtype=np.int64), shares / shares.sum()
        _, column = np.unique(self.orbits.node[list(self.roles.roots)], return_inverse=True)
        return column.astype(np.int64), np.ones(len(column))

    @property
    def targets(self) -> tuple[int, ...]:
        """One target of each orbit: shares that are equal on orbits violate all images of a cut."""
        targets = list(self.roles.targets)
        _, first = np.unique(self.orbits.node[targets], return_index=True)
        return tuple(targets[i] for i in sorted(first.tolist()))

    @property
    def num_cuts(self) -> int:
        """Cuts stated, of which no two are alike."""
        return len(self._rows)

    def add(self, phase: int, inside: Inside) -> bool:
        """State a cut: what is rooted inside must leave, in the reduction enter, over its links.

        Returns False if it, or one that is the same by symmetry, is stated already.
        """
        leaving = inside[self._tail] & ~inside[self._head]
        entering = ~inside[self._tail] & inside[self._head]
        row = self._shared(phase, entering if phase == REDUCE else leaving)
        row[: self._parts] = -self._rooted(inside[list(self.roles.roots)])
        key = row.tobytes()
        if key in self._known:
            return False
        self._known.add(key)
        self._rows.append(compact(row[None, :]))
        self._cuts.append((phase, inside))
        return True

    def stated(self) -> Program:
        """Return the matrix program as it is now."""
        matrix = stacked([self._fixed, *self._rows])
        rows, most = matrix.shape[0], self.most
        lower, upper = np.zeros(rows), np.full(rows, np.inf)
        limits = np.concatenate([self._bandwidth, self._limit])
        lower[: len(limits)], upper[: len(limits)] = -np.inf, limits
        return Program(self.worth, matrix, lower, upper, np.zeros(len(most)), most, maximise=True)

    @property
    def worth(self) -> Vector:
        """The objective: the sum of all parts."""
        worth = np.zeros(self._parts + 2 * self._links)
        worth[: self._parts] = self._rooted(np.ones(len(self._part), dtype=np.bool_))
        return worth

    @property
    def most(self) -> Vector:
        """Upper bounds of the columns.

        The scale bounds the sum of the parts. Twice the scale is never attained, so these bounds
        have no price.
        """
        return np.concatenate([2 * np.ones(self._parts), self._bandwidth, self._bandwidth])

    @property
    def conditions(self) -> Any:
        """Rows with lower bound 0: balances and the cuts so far, without the bandwidths."""
        balances = self._fixed[self._links + len(self._limit) :]
        return stacked([balances, *self._rows])

    def loads(self, classes: npt.NDArray[np.int64]) -> Any:
        """Return the rows that average what both phases put on the links of each class.

        ``classes`` numbers the class of each link from 0.
        """
        size = np.bincount(classes)
        return self._of_links(len(size), classes, self.orbits.link, 1 / size[classes])

    def point(self, x: Vector) -> Point:
        """Spread a solution over GPUs and links."""
        parts, links = self._parts, self._links
        return Point(
            part=x[:parts][self._part] * self._share,
            gather=x[parts : parts + links][self.orbits.link],
            reduce=x[parts + links :][self.orbits.link],
        )

    def priced_cuts(self, row_duals: Vector) -> list[tuple[tuple[int, Inside], float]]:
        """Return each cut that was stated when these were the prices, with its price."""
        prices = -row_duals[self._fixed.shape[0] :]
        return list(zip(self._cuts[: len(prices)], prices.tolist(), strict=True))

    def potentials(self, row_duals: Vector) -> list[tuple[int, float, float]]:
        """Return each node that forwards with the prices of its balance in both phases.

        The price of an orbit is shared out evenly.
        """
        first = self._links + len(self._limit)
        prices = -row_duals[first : self._fixed.shape[0]].reshape(-1, 2)
        switches = list(self.roles.forwarding)
        _, orbit, size = np.unique(
            self.orbits.node[switches], return_inverse=True, return_counts=True
        )
        each = prices / size[:, None]
        return [(v, *each[o].tolist()) for v, o in zip(switches, orbit.tolist(), strict=True)]

    def charges(self, row_duals: Vector) -> list[tuple[str, float]]:
        """Return each shared capacity with its price; that of a family is shared out evenly."""
        prices = row_duals[self._links : self._links + len(self._limit)]
        each = prices / np.bincount(self._family, minlength=len(prices))
        groups = self.topology.shared
        return [(group.name, float(each[f])) for group, f in zip(groups, self._family, strict=True)]

    def _shared_capacities(self) -> tuple[npt.NDArray[np.int64], Any, Vector]:
        """Return the family of each shared capacity, a row for each family, and its limit.

        Members of a family hold equally many links of each orbit and have the same limit, so that
        with shares that are equal within orbits they are the same row.
        """
        groups = self.topology.shared_places
        counts = np.array(
            [
                [
                    float(limit) / self.scale_gb_s,
                    *np.bincount(self.orbits.link[list(places)], minlength=self._links),
                ]
                for places, limit in groups
            ]
        ).reshape(len(groups), 1 + self._links)
        rows, family = np.unique(counts, axis=0, return_inverse=True)
        none, held = np.zeros((len(rows), self._parts)), rows[:, 1:]
        matrix = compact(np.hstack([none, held, held]))
        return family.reshape(-1).astype(np.int64), matrix, rows[:, 0]

    def _rooted(self, roots: Inside) -> Vector:
        """Return the row that adds up the parts of some roots."""
        row = np.bincount(self._part[roots], self._share[roots], minlength=self._parts)
        return row.astype(np.float64)

    def _shares(self) -> Any:
        """g_e + r_e of each orbit of links."""
        each = np.arange(self._links)
        return self._of_links(self._links, each, each, np.ones(self._links))

    def _of_links(
        self,
        rows: int,
        row: npt.NDArray[np.int64],
        link: npt.NDArray[np.int64],
        value: Vector,
    ) -> Any:
        """Return rows with these entries for classes of links, equal in both phases."""
        column = self._parts + np.concatenate([link, self._links + link])
        shape = rows, self._parts + 2 * self._links
        return from_entries(shape, np.tile(row, 2), column, np.tile(value, 2))

    def _balances(self) -> list[Any]:
        """For a switch of each orbit, its received minus its sent share; reversed in reductions."""
        switches = np.array(self.roles.forwarding, dtype=np.int64)
        _, first = np.unique(self.orbits.node[switches], return_index=True)
        rows = []
        for switch in switches[first].tolist():
            for phase, sign in ((GATHER, 1), (REDUCE, -1)):
                into = self._shared(phase, self._head == switch)
                out = self._shared(phase, self._tail == switch)
                rows.append(compact(sign * (into - out)[None, :]))
        return rows

    def _shared(self, phase: int, links: Inside) -> Vector:
        """Return the row that adds up a phase's share of some links."""
        row = np.zeros(self._parts + 2 * self._links)
        start = self._parts + phase * self._links
        counts = np.bincount(self.orbits.link[links], minlength=self._links)
        row[start : start + self._links] = counts
        return row
