"""Optimum of any directed network: capacities within the links that balance every switch.

Problem: the bandwidth that a schedule uses of every link is a vector c with

             (a) 0 <= c_e <= b_e for every link e, c(links of K) <= C_K for every shared capacity K,
             (b) c(into s) >= c(out of s) for every switch s: each unit that enters leaves once,
             (c) c(links that leave S) >= x w(S) for every node set S that misses a GPU.

         Conversely, trees of rate x can be packed into any such c, as it is balanced. So the
         optimum x* is the largest x with such a c.
Input:   a network, its limits in whole numbers, weights; which nodes forward, which are targets.
Output:  c and x in fractions, and prices of (a), (b), (c) that prove that no x is larger.
Cost:    a linear program with one variable for each orbit of links that may have to be lowered;
         per round one solution and a pass of max-flows over the GPUs. A network of balanced
         switches without shared capacities needs none of this.
Source:  ForestColl assumes balance at every node (its section 4); this drops the assumption.
         docs/mathematics/any-network.md has the proof.

Floats only propose: rounds end when no cut is violated by more than the solver's tolerance, then
the equations that bind are solved in fractions, and the max-flows of the core test all cuts
exactly. Where primal and dual do not meet, both are reported, and neither is called the optimum.
"""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from forestcoll.core.any_network.cut_program import CutProgram, ExactPoint, Inside, Limits
from forestcoll.core.balance import trim_to_balance
from forestcoll.core.bottleneck_cut import narrowest_cut_over
from forestcoll.core.violation import violated_cut_between
from forestcoll.errors import CapacityOverflowError, DisconnectedError, TimeLimitError
from forestcoll.problem.rate_bound import PricedCut, RateBound, SharedPrice, SwitchPrice
from forestcoll.topology.model import Topology
from forestcoll.topology.symmetry.automorphism import Orbits, find_orbits, no_symmetry

__all__ = [
    "Roles", "Separation", "SubCapacities", "balanced_sub_capacities", "find_symmetries",
    "first_sets",
]  # fmt: skip

_MISSED = 4e-9
"""A cut gets a row before the end if its violation exceeds this, in units of the widest link."""

_GRID = 2.0**40

_COARSE = 2**20
"""Steps into which the widest link is divided, for capacities that are not exact."""

_MOST_NODES = 4 * 10**6
"""Most nodes in the images of all priced cuts together."""

_SYMMETRY_SHARE = 0.2
"""Share of the time for the search for symmetries."""


@dataclass(frozen=True, slots=True)
class Roles:
    """What the nodes of a network do.

    Parameters
    ----------
    weights : tuple of int, one entry a node
        The weight rooted there.
    targets : tuple of bool, one entry a node
        Whether all data must arrive there.
    forwarding : tuple of bool, one entry a node
        Whether it sends what it receives once.
    """

    weights: tuple[int, ...]
    targets: tuple[bool, ...]
    forwarding: tuple[bool, ...]

    @classmethod
    def of(cls, topology: Topology, weights: Sequence[int], *, multicast: bool = False) -> Roles:
        """GPUs are roots and targets; all other nodes forward, unless they multicast."""
        rooted = dict(zip(topology.compute, weights, strict=True))
        return cls(
            tuple(rooted.get(v, 0) for v in range(len(topology.nodes))),
            tuple(not node.is_switch for node in topology.nodes),
            tuple(node.is_switch and not (multicast and node.multicast) for node in topology.nodes),
        )


@dataclass(frozen=True, slots=True)
class SubCapacities:
    """Balanced capacities, the rate that their trees attain, and a bound on every rate.

    Parameters
    ----------
    capacity : list of Fraction, one entry a link
        In the unit of the limits.
    rate : Fraction
        x, in that unit per unit of weight.
    bound : Fraction
        No rate is larger.
    prices : RateBound
        The proof of the bound, in terms of the given network.
    """

    capacity: list[Fraction] = field(repr=False)
    rate: Fraction
    bound: Fraction
    prices: RateBound = field(repr=False)

    @property
    def is_exact(self) -> bool:
        """Whether the rate is proved to be the largest."""
        return self.rate == self.bound


def balanced_sub_capacities(
    network: Topology,
    limits: Limits,
    roles: Roles,
    deadline: float,
    orbits: Orbits | None = None,
) -> SubCapacities:
    """Find the largest rate and capacities for it, with prices that prove it.

    Raises SolverError if HiGHS fails.

    Parameters
    ----------
    network : Topology
        Out-trees are packed on it; a reduction has the reversed network here.
    deadline : float
        A time of ``time.monotonic``.
    orbits : Orbits, optional
        Orbits of symmetries that keep limits and roles; searched for if not given.

    Returns
    -------
    SubCapacities
        ``is_exact`` unless the time was short, the exact numbers are too large, or no basis is
        exactly optimal.
    """
    if orbits is None:
        orbits = find_symmetries(network, roles, deadline)
    found = _solved(network, limits, roles, deadline, orbits)
    if found is None:  # a symmetric cut has too many images to be listed
        found = _solved(network, limits, roles, deadline, no_symmetry(network))
    assert found is not None
    return found


def find_symmetries(network: Topology, roles: Roles, deadline: float) -> Orbits:
    """Search for symmetries that keep limits, weights and what nodes do, for a share of time."""
    seconds = _SYMMETRY_SHARE * max(deadline - time.monotonic(), 0)
    nodes = zip(roles.weights, roles.targets, roles.forwarding, strict=True)
    number: dict[tuple[int, bool, bool], int] = {}
    marks = [number.setdefault(node, len(number)) for node in nodes]
    return find_orbits(network, seconds, marks=marks)


def _solved(
    network: Topology, limits: Limits, roles: Roles, deadline: float, orbits: Orbits
) -> SubCapacities | None:
    """Run the cutting-plane rounds; None if too many cuts bind to be listed."""
    forwarding = [v for v, forwards in enumerate(roles.forwarding) if forwards]
    program = CutProgram(network, limits, roles.weights, forwarding, orbits)
    separation = Separation(network, roles)
    for inside in first_sets(network, roles):
        program.add(inside)
    capacity = np.array([one / max(limits.link) for one in limits.link])
    while True:
        try:
            capacity, rate = program.solve(deadline)
        except TimeLimitError:
            return _rounded(program, orbits, capacity, program.near_prices())
        if program.add_all(separation.near(capacity, rate)):
            continue
        try:
            # No cut is clearly violated any more: solve the equations that bind exactly.
            point = program.exact(deadline)
        except TimeLimitError:
            point = None
        if point is None or not program.satisfies(point):
            return _rounded(program, orbits, capacity, program.near_prices())
        try:
            # Cuts that were violated by less than the tolerance show only now.
            violated = separation.exactly(point)
        except CapacityOverflowError:
            return _rounded(program, orbits, capacity, point.prices)
        if not violated:
            return _proved(program, orbits, point)
        if not program.add_all(violated):
            return _rounded(program, orbits, capacity, point.prices)


def first_sets(network: Topology, roles: Roles) -> Iterator[Inside]:
    """Yield, for each target, all nodes but it; for each box, all nodes outside it."""
    size = len(network.nodes)
    boxes: dict[int, list[int]] = {}
    for v, node in enumerate(network.nodes):
        if node.box is not None:
            boxes.setdefault(node.box, []).append(v)
    targets = [[v] for v in range(size) if roles.targets[v]]
    for missing in (*targets, *boxes.values()):
        inside = np.ones(size, dtype=np.bool_)
        inside[missing] = False
        if any(roles.targets[v] for v in missing) and any(
            weight for v, weight in enumerate(roles.weights) if inside[v]
        ):
            yield inside


# --- cuts ---------------------------------------------------------------------------------------


class Separation:
    """Separation oracle: cuts that given capacities and a rate violate."""

    def __init__(self, network: Topology, roles: Roles) -> None:
        self._network = network
        self._weights = np.array(roles.weights, dtype=object)
        self._target = np.array(roles.targets, dtype=np.uint8)
        self._whole = sum(roles.weights)

    def near(self, capacity: npt.NDArray[np.float64], rate: float) -> list[Inside]:
        """Return a violated set for each target that floats, rounded down, clearly do not reach.

        ``rate`` is x times the total weight, in the unit of the capacities.
        """
        trees = [int(rate / self._whole * _GRID * int(weight)) for weight in self._weights]
        rooted = np.array(trees, dtype=np.int64)
        grid = np.floor(np.minimum(capacity, rate) * _GRID).astype(np.int64)
        return list(self._violated(grid, rooted, int(_MISSED * _GRID)))

    def exactly(self, point: ExactPoint) -> list[Inside]:
        """Return a violated set for each target that an exact point does not reach.

        Raises CapacityOverflowError if the numbers do not fit 62 bits.
        """
        whole = math.lcm(point.rate.denominator, *(c.denominator for c in point.capacity))
        total = point.rate * whole * self._whole
        numbers = [int(min(c * whole, total)) for c in point.capacity]
        if max(sum(numbers), int(total)) >= 2**62:
            raise CapacityOverflowError("the exact sub-capacities are beyond 64-bit arithmetic")
        rooted = np.array([int(point.rate * whole * int(w)) for w in self._weights], dtype=np.int64)
        return list(self._violated(np.array(numbers, dtype=np.int64), rooted, 0))

    def of_whole(self, capacity: npt.NDArray[np.int64]) -> list[Inside]:
        """Return a violated set for each target that the trees of the weights do not reach."""
        return list(self._violated(capacity, self._weights.astype(np.int64), 0))

    def _violated(
        self, capacity: npt.NDArray[np.int64], rooted: npt.NDArray[np.int64], least: int
    ) -> Iterator[Inside]:
        passed, targets = 0, int(self._target.sum())
        while passed < targets:
            found = violated_cut_between(
                self._network, capacity, rooted, self._target, passed=passed
            )
            if found is None:
                return
            if found.shortage > least:
                yield found.inside
            passed = found.passed + 1


# --- results ------------------------------------------------------------------------------------


def _proved(program: CutProgram, orbits: Orbits, point: ExactPoint) -> SubCapacities | None:
    """Return an exact point with the bound of its prices; None if there are too many to list."""
    prices = _spread(program, orbits, point.prices)
    if prices is None:
        return None
    return SubCapacities(point.capacity, point.rate, _bound(program, prices), prices)


def _rounded(
    program: CutProgram,
    orbits: Orbits,
    capacity: npt.NDArray[np.float64],
    prices: Mapping[int, Fraction],
) -> SubCapacities | None:
    """Return capacities on a grid, made exact and balanced, with the bound of some prices."""
    network, limits = program.network, program.limits
    widest = max(limits.link)
    steps = _within(network, limits, capacity)
    trim_to_balance(network, steps, forwarding=program.forwarding)
    step = Fraction(widest, _COARSE)
    rate = _rate(program, steps) * step
    known = _spread(program, orbits, prices)
    if known is None:
        return None
    return SubCapacities([step * one for one in steps], rate, _bound(program, known), known)


def _within(network: Topology, limits: Limits, capacity: npt.NDArray[np.float64]) -> list[int]:
    """Round capacities down to steps, within the limits of links and shared capacities."""
    widest = max(limits.link)
    steps = np.floor(capacity * _COARSE).astype(np.int64).tolist()
    steps = [
        min(one, most * _COARSE // widest) for one, most in zip(steps, limits.link, strict=True)
    ]
    place = {(link.tail, link.head): i for i, link in enumerate(network.links)}
    for group, most in zip(network.shared, limits.shared, strict=True):
        held = [place[ends] for ends in group.links]
        room, used = most * _COARSE // widest, sum(steps[i] for i in held)
        for i in held if used > room else ():
            steps[i] = steps[i] * room // used
    return steps


def _rate(program: CutProgram, steps: Sequence[int]) -> Fraction:
    """Return the rate that whole capacities attain: 0 if some target is not reached."""
    network = program.network
    links, weights = network.integer_capacities, program.weights
    try:
        p, q, _ = narrowest_cut_over(
            links.tail,
            links.head,
            np.array(steps, dtype=np.int64),
            np.array(weights, dtype=np.int64),
            np.array([not node.is_switch for node in network.nodes], dtype=np.uint8),
        )
    except DisconnectedError:
        return Fraction(0)
    return Fraction(q, p)


def _bound(program: CutProgram, prices: RateBound) -> Fraction:
    return prices.room(program.limits.link, program.limits.shared) / prices.covered


def _spread(
    program: CutProgram, orbits: Orbits, prices: Mapping[int, Fraction]
) -> RateBound | None:
    """Divide the price of a row evenly over its symmetric cuts, switches or shared capacities."""
    network = program.network
    moves = [np.argsort(generator) for generator in orbits.generators]
    room = _MOST_NODES // len(network.nodes)
    cuts: dict[tuple[int, ...], Fraction] = defaultdict(Fraction)
    single: dict[str, dict[int, Fraction]] = {"switch": {}, "shared": {}}
    for number, price in prices.items():
        one = program.stated[number]
        if price <= 0:
            continue
        if one.kind != "cut":
            single[one.kind] |= dict.fromkeys(one.members, price / len(one.members))
            continue
        images = list(_images(program.sets[one.members[0]], moves, room))
        room -= len(images)
        if moves and room < 0:
            return None
        for nodes in images:
            cuts[nodes] += price / len(images)
    return RateBound(
        topology=network,
        cuts=tuple(PricedCut(nodes, price) for nodes, price in sorted(cuts.items())),
        switches=tuple(SwitchPrice(*one) for one in sorted(single["switch"].items())),
        shared=tuple(
            SharedPrice(network.shared[number].name, price)
            for number, price in sorted(single["shared"].items())
        ),
        weights=tuple(program.weights[v] for v in network.compute),
    )


def _images(
    inside: Inside, moves: Sequence[npt.NDArray[np.int64]], most: int
) -> Iterator[tuple[int, ...]]:
    """Yield the images of a set under a group, itself first; one more than the limit at most."""
    seen = {inside.tobytes()}
    waiting = [inside]
    while waiting:
        one = waiting.pop()
        yield tuple(np.flatnonzero(one).tolist())
        for move in moves:
            image = one[move]
            if len(seen) <= most and (key := image.tobytes()) not in seen:
                seen.add(key)
                waiting.append(image)
