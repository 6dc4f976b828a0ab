"""Exact dual bound on the allreduce rate from the program's prices.

Problem: prices are floats; prove a bound in fractions.
Input:   the program with its cuts and the multipliers of its rows.
Output:  sets, prices and potentials in fractions, and what they prove, near the program's value.
Cost:    linear in the links and in the sets, of which an orbit has as many as its cut has images.
Source:  weak duality (:mod:`forestcoll.problem.allreduce_bound`): any prices prove a bound. The
         dual's matrix has entries 0, 1 and -1 only, so its vertices are fractions of small
         denominators, and the nearest such fractions mostly prove the program's value itself.

Symmetry: a cut of the program stands for all its images; each gets an even share of the price. The
images are those under the generators of the group, found one from the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache

import numpy as np
import numpy.typing as npt

from forestcoll.allreduce.orbit_program import GATHER, CutProgram, Inside
from forestcoll.problem.allreduce_bound import AllreduceBound, Potential, PricedSet
from forestcoll.problem.rate_bound import SharedPrice
from forestcoll.solver.linear_program import Solution

__all__ = ["exact_bound"]

DENOMINATORS = (12, 60, 840, 27720, 10**6, 10**9)
"""Greatest denominators of prices that are tried; the best bound is taken."""

MOST_NODES = 4 * 10**6
"""In the images of all cuts together."""

NEGLIGIBLE = 1e-9
"""A price below this is none."""


def exact_bound(program: CutProgram, solution: Solution) -> AllreduceBound | None:
    """Return the best bound that the multipliers prove after rounding to fractions.

    Returns
    -------
    AllreduceBound or None
        None if they prove nothing, or the cuts have too many images to list.
    """
    assert solution.row_duals is not None  # there are no whole variables
    priced = [one for one in program.priced_cuts(solution.row_duals) if one[1] > NEGLIGIBLE]
    sets = _listed(program, priced)
    if sets is None:
        return None
    potentials = [
        one for one in program.potentials(solution.row_duals) if max(one[1:]) > NEGLIGIBLE
    ]
    charges = [one for one in program.charges(solution.row_duals) if one[1] > NEGLIGIBLE]
    bounds: list[AllreduceBound] = []
    floats = {price for _, *both in potentials for price in both} | {one[1] for one in charges}
    floats |= {price for both in sets.values() for price in both}
    known: set[tuple[Fraction, ...]] = set()
    # Any prices prove a bound, so no rounding can be wrong, only weak. The exact dual has entries
    # of small denominators; the best of several roundings usually is that dual.
    for denominator in DENOMINATORS:
        rounded = tuple(_near(price, denominator) for price in floats)
        if rounded in known:
            continue  # to the same prices as before
        known.add(rounded)
        try:
            bounds.append(_bound(program, sets, potentials, charges, denominator))
        except ValueError:
            continue  # rounded so far, the prices prove nothing
    return min(bounds, key=lambda one: one.algbw_gb_s, default=None)


def _near(value: float, denominator: int) -> Fraction:
    return Fraction(max(value, 0.0)).limit_denominator(denominator)


def _bound(
    program: CutProgram,
    sets: dict[tuple[int, ...], tuple[float, float]],
    potentials: Sequence[tuple[int, float, float]],
    charges: Sequence[tuple[str, float]],
    denominator: int,
) -> AllreduceBound:
    @cache  # the images of a cut share their price
    def near(value: float) -> Fraction:
        return _near(value, denominator)

    priced = (PricedSet(nodes, near(y), near(z)) for nodes, (y, z) in sets.items())
    held = (Potential(switch, near(s), near(t)) for switch, s, t in potentials)
    topology = program.topology
    copies = {v for v in topology.switches if topology.nodes[v].multicast}
    return AllreduceBound.of(
        topology,
        [one for one in priced if one.gather or one.reduce],
        [one for one in held if one.gather or one.reduce],
        multicast=bool(copies) and copies.isdisjoint(program.roles.forwarding),
        weights=program.roles.weights,
        shared=[SharedPrice(name, near(g)) for name, g in charges if near(g)],
    )


def _listed(
    program: CutProgram, priced: Sequence[tuple[tuple[int, Inside], float]]
) -> dict[tuple[int, ...], tuple[float, float]] | None:
    """Return the sets that data must cross into, each with its prices; None if they are too many.

    A cut of the program holds the roots from which data must cross; its complement is the set.
    """
    moves = np.array(program.orbits.generators).reshape(-1, len(program.topology.nodes))
    sets: dict[tuple[int, ...], tuple[float, float]] = {}
    room = MOST_NODES
    known: dict[bytes, list[tuple[int, ...]]] = {}  # most cuts have a price in both phases
    for (phase, inside), price in priced:
        key = inside.tobytes()
        if key not in known:
            known[key] = _images(~inside, moves, room // len(inside))
        images = known[key]
        room -= len(images) * len(inside)
        if room < 0:
            return None
        # The average of a dual solution over the symmetries is a dual solution of the same value.
        each = price / len(images)
        for nodes in images:
            y, z = sets.get(nodes, (0.0, 0.0))
            sets[nodes] = (y + each, z) if phase == GATHER else (y, z + each)
    return sets


def _images(outside: Inside, moves: npt.NDArray[np.int64], most: int) -> list[tuple[int, ...]]:
    """Return the images of a set under a group, itself first, up to one more than a limit."""
    first = np.flatnonzero(outside)
    found = {first.tobytes(): tuple(first.tolist())}
    new = first[None, :]
    while len(new) and len(found) <= most:
        images = np.sort(moves[:, new].reshape(-1, len(first)), axis=1)
        fresh = {row.tobytes(): row for row in images if row.tobytes() not in found}
        for key, row in list(fresh.items())[: most + 1 - len(found)]:
            found[key] = tuple(row.tolist())
        new = np.array(list(fresh.values()), dtype=np.int64).reshape(-1, len(first))
    return list(found.values())
