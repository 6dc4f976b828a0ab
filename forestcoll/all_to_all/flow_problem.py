"""Multicommodity flows between GPUs, as arrays over links and nodes.

Problem: sources, destinations and amounts of a multicommodity flow.
Output:  arrays over links and nodes, checked: every demand can be met at some rate.
Cost:    one search from every source.
Source:  Efficient Direct-Connect Topologies (NSDI 2025), section 6.2, where all demands are 1 and
         all links alike; here switches and relays forward too, and links and demands may differ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from forestcoll.errors import DisconnectedError, InvalidParameterError
from forestcoll.solver.linear_program import Vector
from forestcoll.topology.model import Topology
from forestcoll.topology.shortest_paths import distances
from forestcoll.topology.symmetry.automorphism import Orbits

__all__ = ["FlowProblem", "flow_problem"]


@dataclass(frozen=True, slots=True)
class FlowProblem:
    """A multicommodity flow problem.

    Parameters
    ----------
    tail, head : int arrays, one entry a link
        Positions of nodes, in the order of the topology's links.
    bandwidth : float array, one entry a link
        In GB/s.
    amount : float array of shape (N, V)
        Amount that each rank has for each node; 0 for itself, switches and relays.
    uniform : bool
        Whether every rank has as much for every other: an all-to-all.
    holds : sparse float array of shape (K, E)
        1 where a shared capacity of the topology holds a link.
    limit : float array, one entry a shared capacity
        In GB/s.
    """

    topology: Topology
    tail: npt.NDArray[np.int64] = field(repr=False)
    head: npt.NDArray[np.int64] = field(repr=False)
    bandwidth: Vector = field(repr=False)
    amount: Vector = field(repr=False)
    uniform: bool
    holds: sp.csr_array = field(repr=False)
    limit: Vector = field(repr=False)
    # the ranks of the rows of ``amount``, if these are of one source of each orbit
    rows: npt.NDArray[np.int64] | None = field(default=None, repr=False)
    # then the orbit of each link
    link_orbit: npt.NDArray[np.int64] | None = field(default=None, repr=False)

    @property
    def sources(self) -> npt.NDArray[np.int64]:
        """Positions of the ranks."""
        ranks = np.array(self.topology.compute, dtype=np.int64)
        return ranks if self.rows is None else ranks[self.rows]

    def folded(self, orbits: Orbits) -> FlowProblem:
        """Return the problem of one source of each orbit, with the amounts of all of the orbit.

        Prices that are equal within the orbits of links make it cost as much, and its flow, even
        over these, loads the links as the flows of all sources do.
        """
        of_ranks = orbits.node[list(self.topology.compute)]
        _, rows, sizes = np.unique(of_ranks, return_index=True, return_counts=True)
        return replace(
            self,
            amount=self.amount[rows] * sizes[:, None],
            rows=rows.astype(np.int64),
            link_orbit=orbits.link.astype(np.int64),
        )

    def even(self, load: Vector) -> Vector:
        """Return loads that are even over the orbits of the links, if there are any."""
        if self.link_orbit is None:
            return load
        mean = np.bincount(self.link_orbit, load) / np.bincount(self.link_orbit)
        return np.asarray(mean[self.link_orbit])

    @property
    def largest(self) -> float:
        """The largest amount."""
        return float(self.amount.max())

    def step_chance(self) -> Vector:
        """Return each link's chance in a random walk that ends with chance 0.1 at every step."""
        degree = np.bincount(self.tail, minlength=len(self.topology.nodes))
        return np.asarray(0.9 / degree[self.tail])

    def lengths(self, length: Vector) -> sp.csr_matrix:
        """Return the links as a sparse matrix of given lengths, row the tail, column the head."""
        nodes = len(self.topology.nodes)
        return sp.csr_matrix((length, (self.tail, self.head)), shape=(nodes, nodes))

    def distances(self, length: Vector) -> Vector:
        """Return the distances from every rank to every node, shape (N, V)."""
        nodes = len(self.topology.nodes)
        return distances(nodes, self.tail, self.head, length, self.sources)

    def bound_gb_s(self, length: Vector) -> float:
        """Return the bound on the rate that link lengths prove.

        For any routing, a demand at rate f uses at least f d(s, t) of length times bandwidth; the
        links provide the sum of length times bandwidth. Lengths of shared capacities may follow
        those of the links; all links of a shared capacity have its length in addition.
        Infinity if all demands have paths without length.
        """
        own, shared = np.split(length, [len(self.bandwidth)])
        paid, lengths = float(own @ self.bandwidth), own
        if len(shared):
            paid += float(shared @ self.limit)
            lengths = own + self.holds.T @ shared
        needed = self.priced(self.distances(lengths))
        return paid / needed if needed > 0 else math.inf

    def priced(self, distances: Vector) -> float:
        """Return what all demands together cost at given distances."""
        return float((self.amount * _finite(distances)).sum())


def flow_problem(topology: Topology, amount: npt.ArrayLike | None = None) -> FlowProblem:
    """Check the demands and put them into arrays.

    Parameters
    ----------
    amount : array of shape (N, N), optional
        What the rank of the row has for the rank of the column, in any unit; 1 for every other
        rank if not given.

    Raises
    ------
    InvalidParameterError
        If the amounts are not numbers, have another shape, are negative or not finite, some rank
        has something for itself, all are 0, or one is not 0 and outside 1e-100 to 1e100.
    DisconnectedError
        If a GPU has something for one that it cannot reach.
    """
    ranks, links = topology.num_compute, topology.links
    given = 1.0 - np.eye(ranks) if amount is None else _numbers(amount)
    _check(given, ranks)
    spread = np.zeros((ranks, len(topology.nodes)))
    spread[:, list(topology.compute)] = given
    made = FlowProblem(
        topology=topology,
        tail=np.array([link.tail for link in links], dtype=np.int64),
        head=np.array([link.head for link in links], dtype=np.int64),
        bandwidth=np.array([float(link.bandwidth_gb_s) for link in links]),
        amount=spread,
        uniform=bool((given[~np.eye(ranks, dtype=np.bool_)] == given[0, -1]).all()),
        holds=_holds(topology),
        limit=np.array([float(group.bandwidth_gb_s) for group in topology.shared]),
    )
    unreachable = np.isinf(made.distances(np.ones(len(links)))) & (spread > 0)
    if unreachable.any():
        rank, node = np.argwhere(unreachable)[0].tolist()
        names = (topology.nodes[topology.compute[rank]].name, topology.nodes[node].name)
        raise DisconnectedError(
            f"{topology.name}: {names[0]} has {spread[rank, node]:g} for {names[1]} but no path "
            f"leads there; the rate is 0"
        )
    return made


def _holds(topology: Topology) -> sp.csr_array:
    places = [members for members, _ in topology.shared_places]
    row = np.repeat(np.arange(len(places)), [len(members) for members in places])
    column = np.array([i for members in places for i in members], dtype=np.int64)
    shape = (len(places), len(topology.links))
    return sp.csr_array((np.ones(len(row)), (row, column)), shape=shape)


def _numbers(amount: npt.ArrayLike) -> Vector:
    try:
        return np.asarray(amount, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidParameterError(
            f"the demands are no table of numbers: {error}; give a row for each GPU, all of equal "
            f"length"
        ) from error


def _check(amount: Vector, ranks: int) -> None:
    if amount.shape != (ranks, ranks):
        raise InvalidParameterError(
            f"the demands have shape {amount.shape}; {ranks} GPUs ask for {(ranks, ranks)}"
        )
    if not (np.isfinite(amount).all() and (amount >= 0).all()):
        raise InvalidParameterError("a demand is negative, infinite or NaN")
    if amount.diagonal().any():
        rank = int(amount.diagonal().argmax())
        raise InvalidParameterError(f"rank {rank} has a demand for itself; it must be 0")
    if not amount.any():
        raise InvalidParameterError("the demand is empty; give an amount from one GPU to another")
    if amount.max() > 1e100 or amount[amount > 0].min() < 1e-100:
        raise InvalidParameterError(
            "a demand is not 0 and below 1e-100, or above 1e100; state them in another unit"
        )


def _finite(distances: Vector) -> Vector:
    """Nodes out of reach, for which there is no demand, do not count."""
    return np.where(np.isinf(distances), 0.0, distances)
