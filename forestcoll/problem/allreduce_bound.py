"""Upper bound on the rate of every allreduce on a network, by a dual solution in exact numbers.

Problem: how fast can an allreduce be at most? The allreduce program (ForestColl, appendix on the
         optimality of allreduce) has a dual whose every point is a bound:

             rate <= (sum_e b_e p_e + sum_K C_K g_K) / c

         for node sets X with prices y_X for the allgather and z_X for the reduction, potentials
         s_w, t_w of switches w, and prices g_K of shared capacities K, all from 0 up, where

             p_e = max(0, sum of y_X over the X that e enters + s_head - s_tail - h_e,
                          sum of z_X over the X that e leaves + t_tail - t_head - h_e)
             h_e = sum of g_K over the K that hold e
             c   = the least sum, over all roots, of y_X + z_X over the X without that root.

Input:   a topology, sets, prices, potentials.
Output:  the bound, exactly.
Cost:    linear in the links and in the sizes of the sets.
Source:  weak duality. Let a piece of the data be summed up at a root outside X, and X hold a GPU.
         Then X's contribution must leave X, and the sum must enter it. So at rate 1 the sets charge
         at least c. A link of bandwidth b serves both phases, and so does a shared capacity, whose
         price pays for its links in part. A switch sends on what it receives, once. So a potential
         that moves price from its links in to its links out, or back, changes nothing for the flow
         through it.

Models. A root is a GPU: every piece is summed up at one GPU and copied from there; switches only
forward. With ``multicast``, marked switches multicast and reduce instead: they have no potential,
and may be roots, too. Any allreduce at all, with or without roots, must carry M over every cut
between GPUs, each way (:meth:`AllreduceBound.of_cut`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import numpy.typing as npt

from forestcoll.problem.rate_bound import SharedPrice
from forestcoll.topology.describe import counted, rate
from forestcoll.topology.in_brief import InBrief
from forestcoll.topology.model import Topology
from forestcoll.topology.symmetry.parallel_planes import Planes

__all__ = ["AllreduceBound", "Potential", "PricedSet"]

_OPEN_RUNS = 128
"""Number of runs of disjoint sets that a further set may join: more than the GPUs of most boxes."""

_FEW_NODES = 4
"""Of a set whose links are priced one by one: sets that share a switch would be a run each."""


@dataclass(frozen=True, slots=True)
class PricedSet:
    """A set X of nodes, with a GPU among them.

    Parameters
    ----------
    nodes : tuple of int
        Positions, sorted.
    gather, reduce : Fraction
        y_X and z_X, from 0 up: the prices of a sum that enters X and of a summand that leaves X.
    """

    nodes: tuple[int, ...]
    gather: Fraction
    reduce: Fraction


@dataclass(frozen=True, slots=True)
class Potential:
    """The potentials of a switch that only forwards.

    Parameters
    ----------
    switch : int
        Position.
    gather, reduce : Fraction
        s_w and t_w, from 0 up.
    """

    switch: int
    gather: Fraction
    reduce: Fraction


@dataclass(frozen=True, repr=False)
class AllreduceBound(InBrief):
    """An upper bound on the rate of every allreduce of its model.

    Parameters
    ----------
    algbw_gb_s : Fraction
        The bound that the numbers below prove.
    potentials : tuple of Potential
        Potentials of switches; those not named have none.
    multicast : bool
        Whether switches marked ``multicast`` multicast and reduce.
    weights : tuple of int
        The proportions, by rank, in which GPUs sum up the data; empty if roots are free.
    shared : tuple of SharedPrice
        Prices of shared capacities; those not named have the price 0.
    """

    topology: Topology
    algbw_gb_s: Fraction
    sets: tuple[PricedSet, ...] = field(repr=False)
    potentials: tuple[Potential, ...] = field(default=(), repr=False)
    multicast: bool = False
    weights: tuple[int, ...] = ()
    shared: tuple[SharedPrice, ...] = field(default=(), repr=False)

    @classmethod
    def of(
        cls,
        topology: Topology,
        sets: Iterable[PricedSet],
        potentials: Iterable[Potential] = (),
        *,
        multicast: bool = False,
        weights: tuple[int, ...] = (),
        shared: Iterable[SharedPrice] = (),
    ) -> AllreduceBound:
        """Compute the bound that sets, potentials and prices of shared capacities prove.

        Raises ValueError if they prove nothing, because some root is in every set that has a price.
        """
        held, potentials, shared = tuple(sets), tuple(potentials), tuple(shared)
        least = _least_cover(topology, held, multicast, weights)
        if least <= 0:
            raise ValueError("some root is in every priced set, so these prices prove nothing")
        total = _paid(topology, held, potentials, shared)
        return cls(topology, total / least, held, potentials, multicast, weights, shared)

    @classmethod
    def of_cut(
        cls, topology: Topology, nodes: Iterable[int], *, into: bool, multicast: bool = False
    ) -> AllreduceBound:
        """Bound every allreduce by the bandwidth into, or out of, a set with some GPUs but not all.

        All data must cross the cut: summands of the pieces that are summed up on the other side,
        sums of the rest. This holds whatever switches and GPUs do, so in both models.
        """
        inside = tuple(sorted(set(nodes)))
        outside = tuple(v for v in range(len(topology.nodes)) if v not in set(inside))
        near, far = (outside, inside) if into else (inside, outside)
        one, none = Fraction(1), Fraction(0)
        sets = (PricedSet(far, gather=one, reduce=none), PricedSet(near, gather=none, reduce=one))
        return cls.of(topology, sets, multicast=multicast)

    def over_planes(self, planes: Planes) -> AllreduceBound:
        """Return the bound of a network with merged planes as a bound of the real network.

        A set with a merged switch gets all its planes, and each plane its potential. So a real link
        has the price of its merged link, whose bandwidth is the sum of the real ones.
        """

        def real(nodes: Iterable[int]) -> tuple[int, ...]:
            return tuple(sorted(v for node in nodes for v in planes.members[node]))

        return replace(
            self,
            topology=planes.topology,
            sets=tuple(replace(one, nodes=real(one.nodes)) for one in self.sets),
            potentials=tuple(
                replace(one, switch=switch)
                for one in self.potentials
                for switch in planes.members[one.switch]
            ),
        )

    def in_a_line(self) -> str:
        """Return the network, the bound and its model."""
        return f"on {self.topology.name}: at most {rate(self.algbw_gb_s)}; {self.model}"

    def in_a_table(self) -> dict[str, object]:
        """Return the same, with the size of the proof."""
        return {
            "topology": self.topology.name,
            "collective": "allreduce",
            "at most": rate(self.algbw_gb_s),
            "model": self.model,
            "proof": f"prices of {counted(len(self.sets), 'set')}",
        }

    @property
    def model(self) -> str:
        """Return in words which allreduces it bounds."""
        at = "one GPU or switch that reduces" if self.multicast else "one GPU"
        switches = (
            "marked switches multicast and reduce" if self.multicast else "switches only forward"
        )
        where = f"{at}, in the proportions of the weights" if self.weights else at
        return f"each piece summed up at {where}; {switches}"


def _least_cover(
    topology: Topology, sets: tuple[PricedSet, ...], multicast: bool, weights: tuple[int, ...]
) -> Fraction:
    """Return c: the least sum, over all roots, of the prices of the sets without that root."""
    unit, prices = _in_units(sets)
    inside, whole = [0] * len(topology.nodes), 0
    for one in sets:
        price = prices[id(one.gather)] + prices[id(one.reduce)]
        whole += price
        for node in one.nodes:
            inside[node] += price
    if weights:
        shares = zip(topology.compute, weights, strict=True)
        within = sum(inside[v] * w for v, w in shares)
        return Fraction(whole * sum(weights) - within, unit * sum(weights))
    roots = [
        v for v, n in enumerate(topology.nodes) if not n.is_switch or (multicast and n.multicast)
    ]
    return Fraction(whole - max(inside[v] for v in roots), unit)


def _paid(
    topology: Topology,
    sets: tuple[PricedSet, ...],
    potentials: tuple[Potential, ...],
    shared: tuple[SharedPrice, ...],
) -> Fraction:
    """Return what links and shared capacities cost, in whole units of prices and bandwidths."""
    priced: tuple[PricedSet | Potential, ...] = (*sets, *potentials)
    unit, prices = _in_units(priced, shared)
    most = sum(prices[id(one.gather)] + prices[id(one.reduce)] for one in priced)
    most += sum(prices[id(one.price)] for one in shared)
    kind = np.dtype(
        np.int64 if most < 2**62 else object
    )  # Python integers where sums might overflow
    links = topology.integer_capacities
    into, out = _crossed(topology, sets, prices, kind)
    gather, reduce = np.zeros((2, len(topology.nodes)), dtype=kind)
    for held in potentials:
        gather[held.switch] = prices[id(held.gather)]
        reduce[held.switch] = prices[id(held.reduce)]
    into += gather[links.head] - gather[links.tail]
    out -= reduce[links.head] - reduce[links.tail]
    limits = Fraction(0)
    charge = {one.name: one.price for one in shared}
    for group, (places, limit) in zip(topology.shared, topology.shared_places, strict=True):
        price = charge.get(group.name, Fraction(0))
        limits += price * limit
        into[list(places)] -= _whole(price, unit)
        out[list(places)] -= _whole(price, unit)
    paid = np.maximum(np.maximum(into, out), 0).astype(object)
    return limits + Fraction(int((paid * links.capacity).sum()), unit * links.denominator)


def _crossed(
    topology: Topology, sets: tuple[PricedSet, ...], prices: dict[int, int], kind: np.dtype[Any]
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return the prices of the sets that each link enters, and of those that it leaves."""
    links = topology.integer_capacities
    few = [one for one in sets if len(one.nodes) <= _FEW_NODES]
    into, out = _crossed_one_by_one(topology, few, prices, kind)
    for run in _disjoint(topology, [one for one in sets if len(one.nodes) > _FEW_NODES]):
        number = np.arange(len(run))
        nodes, complemented, held = zip(*run, strict=True)
        part = np.full(len(topology.nodes), len(run))
        part[np.concatenate(nodes)] = np.repeat(number, list(map(len, nodes)))
        gather, reduce = np.zeros((2, 2, len(run) + 1), dtype=kind)  # the last: outside all sets
        gather[complemented, number] = [prices[id(one.gather)] for one in held]
        reduce[complemented, number] = [prices[id(one.reduce)] for one in held]
        tail, head = part[links.tail], part[links.head]
        apart = tail != head
        into += apart * (gather[0, head] + gather[1, tail])
        out += apart * (reduce[0, tail] + reduce[1, head])
    return into, out


def _crossed_one_by_one(
    topology: Topology, sets: Sequence[PricedSet], prices: dict[int, int], kind: np.dtype[Any]
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return the same for small sets: the prices at an end of each link, but for links inside."""
    gather, reduce = [0] * len(topology.nodes), [0] * len(topology.nodes)
    for one in sets:
        for node in one.nodes:
            gather[node] += prices[id(one.gather)]
            reduce[node] += prices[id(one.reduce)]
    tail, head = topology.link_ends
    into, out = np.array(gather, dtype=kind)[head], np.array(reduce, dtype=kind)[tail]
    place = {ends: i for i, ends in enumerate(zip(tail.tolist(), head.tolist(), strict=True))}
    for one in sets:
        for ends in permutations(one.nodes, 2):
            if (link := place.get(ends)) is not None:
                into[link] -= prices[id(one.gather)]
                out[link] -= prices[id(one.reduce)]
    return into, out


def _disjoint(
    topology: Topology, sets: Iterable[PricedSet]
) -> list[list[tuple[npt.NDArray[Any], int, PricedSet]]]:
    """Group the sets in runs of disjoint sets, whose links can be priced together.

    A set of more than half of the nodes is represented by its complement, with a 1: a link enters
    the one where it leaves the other. Each set joins the first of the last ``_OPEN_RUNS`` runs that
    it is disjoint from.
    """
    runs: list[list[tuple[npt.NDArray[Any], int, PricedSet]]] = []
    held: list[int] = []  # the nodes of each run, a byte each
    for one in sets:
        complemented = int(2 * len(one.nodes) > len(topology.nodes))
        inside = bytearray([complemented]) * len(topology.nodes)
        for node in one.nodes:
            inside[node] = 1 - complemented
        bits = int.from_bytes(inside, "big")
        first = max(0, len(runs) - _OPEN_RUNS)
        at = next((i for i in range(first, len(runs)) if not held[i] & bits), len(runs))
        if at == len(runs):
            runs.append([])
            held.append(0)
        held[at] |= bits
        runs[at].append((np.frombuffer(inside, dtype=bool).nonzero()[0], complemented, one))
    return runs


def _in_units(
    priced: Iterable[PricedSet | Potential], shared: Iterable[SharedPrice] = ()
) -> tuple[int, dict[int, int]]:
    """Return a unit, and each price in parts of it, by the identity of its Fraction.

    The many images of a cut share their Fractions.
    """
    few = {id(price): price for one in priced for price in (one.gather, one.reduce)}
    few |= {id(one.price): one.price for one in shared}
    unit = math.lcm(*(price.denominator for price in few.values()))
    return unit, {key: _whole(price, unit) for key, price in few.items()}


def _whole(price: Fraction, unit: int) -> int:
    """Return a price in parts of a unit, which its denominator divides."""
    return price.numerator * (unit // price.denominator)
