"""Rows and columns of the linear program of concurrent process groups.

Problem: state shares of links, balance at nodes outside a group, and cuts.
Output:  the matrix program; its solutions as shares of every group and link.
Source:  :mod:`lp.groups.sharing`. Column 0 is t, then come the shares of each link, group by group.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from forestcoll.solver.linear_program import Program, Vector
from forestcoll.topology import Topology

__all__ = ["GroupsProgram", "Inside"]

Inside = npt.NDArray[np.bool_]


class GroupsProgram:
    """The program with the cuts that were added so far, in units of ``scale_gb_s``.

    Parameters
    ----------
    networks : sequence of Topology
        Of each group, with the same nodes and links.
    weights : float array, one entry a group
    """

    def __init__(self, networks: Sequence[Topology], weights: Vector) -> None:
        self.networks, self.weights = networks, weights
        links = networks[0].links
        self._tail = np.array([link.tail for link in links], dtype=np.int64)
        self._head = np.array([link.head for link in links], dtype=np.int64)
        self.scale_gb_s = self._first_bound()
        self._bandwidth = np.array([float(e.bandwidth_gb_s) for e in links]) / self.scale_gb_s
        self.columns = 1 + len(networks) * len(links)
        self._fixed = sp.vstack([self._sums(), *map(self._balances, range(len(networks)))])
        self._cuts: dict[tuple[int, bytes], sp.csr_array] = {}

    @property
    def num_cuts(self) -> int:
        """Cuts stated, of which no two are the same."""
        return len(self._cuts)

    def add(self, number: int, inside: Inside) -> bool:
        """State a cut of a group: its shares must carry the data of the members inside out.

        Returns False if it is stated already.
        """
        key = (number, inside.tobytes())
        if key in self._cuts:
            return False
        # Theorem 1 for one group: w |S and g| t - (shares out of S) <= 0.
        leaving = np.flatnonzero(inside[self._tail] & ~inside[self._head])
        members = int(inside[list(self.networks[number].compute)].sum())
        columns = np.append(0, self._first_column(number) + leaving)
        values = np.append(self.weights[number] * members, -np.ones(len(leaving)))
        row = sp.csr_array((values, columns, [0, len(columns)]), shape=(1, self.columns))
        self._cuts[key] = row
        return True

    def fastest(self) -> Program:
        """Return the program of the largest t."""
        cost = np.zeros(self.columns)
        cost[0] = 1
        return self._stated(cost, least=0.0, maximise=True)

    def leanest(self, rate: float) -> Program:
        """Return the program of the least capacity in all groups together at some t."""
        cost = np.ones(self.columns)
        cost[0] = 0
        return self._stated(cost, least=rate, maximise=False)

    def shares(self, x: Vector) -> Vector:
        """Return a solution's shares: a row for each group, a column for each link."""
        return np.maximum(x[1:], 0).reshape(len(self.networks), -1)

    def even_shares(self) -> Vector:
        """Return the point with t = 0 at which all groups have as much of every link."""
        even = self._bandwidth / len(self.networks)
        return np.concatenate([np.zeros(1), np.tile(even, len(self.networks))])

    def _first_bound(self) -> float:
        bounds: list[float] = [
            float(network.ingress_gb_s[member]) / (weight * (network.num_compute - 1))
            for network, weight in zip(self.networks, self.weights.tolist(), strict=True)
            for member in network.compute
        ]
        return min(bounds)

    def _first_column(self, number: int) -> int:
        return 1 + number * len(self._tail)

    def _sums(self) -> sp.csr_array:
        groups, links = len(self.networks), len(self._tail)
        rows = np.tile(np.arange(links), groups)
        entries = (np.ones(groups * links), (rows, 1 + np.arange(groups * links)))
        return sp.csr_array(entries, shape=(links, self.columns))

    def _balances(self, number: int) -> sp.csr_array:
        """For each node outside a group, its sent minus its received share."""
        outside = np.full(len(self.networks[number].nodes), -1)
        outside[list(self.networks[number].switches)] = range(len(self.networks[number].switches))
        rows, columns, values = [], [], []
        for end, sign in ((self._tail, 1.0), (self._head, -1.0)):
            touching = np.flatnonzero(outside[end] >= 0)
            rows.append(outside[end[touching]])
            columns.append(self._first_column(number) + touching)
            values.append(np.full(len(touching), sign))
        entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
        return sp.csr_array(entries, shape=(int(outside.max()) + 1, self.columns))

    def _stated(self, cost: Vector, *, least: float, maximise: bool) -> Program:
        matrix = sp.vstack([self._fixed, *self._cuts.values()])
        upper = np.zeros(matrix.shape[0])
        upper[: len(self._bandwidth)] = self._bandwidth
        return Program(
            cost,
            matrix,
            np.full(len(upper), -np.inf),
            upper,
            np.append(least, np.zeros(self.columns - 1)),
            np.append(1.0, np.tile(self._bandwidth, len(self.networks))),
            maximise,
        )
