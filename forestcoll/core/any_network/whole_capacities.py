"""Balanced capacities in whole numbers of trees.

Problem: links carry whole numbers of trees at most; find whole capacities within these limits that
         balance every switch and respect shared capacities.
Input:   a network, whole limits, the trees rooted at each node.
Output:  whole capacities within the limits that carry the trees, or None.
Cost:    a linear program, by cutting planes as in
         :mod:`forestcoll.core.any_network.sub_capacities`; where its vertex is not whole, an
         integer program.
Source:  ForestColl E.4 excludes networks whose rounded links are unbalanced. Without shared
         capacities, the linear program had a whole vertex in all of some 5,800 cases tried; this
         is not proved. With them, a fractional solution may exist where no whole one does.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from forestcoll.core.any_network.cut_program import CutProgram, ExactPoint, Limits
from forestcoll.core.any_network.sub_capacities import Roles, Separation, first_sets
from forestcoll.errors import InfeasibleError, SolverError, TimeLimitError
from forestcoll.topology.model import Topology
from forestcoll.topology.symmetry.automorphism import no_symmetry

__all__ = ["whole_capacities"]

_NEAR = 2.0**-20
"""Largest distance of a float from its whole number; the whole numbers are checked exactly."""


def whole_capacities(
    network: Topology, limits: Limits, trees: Roles, deadline: float
) -> npt.NDArray[np.int64] | None:
    """Find whole capacities within the limits that carry the trees of all roots.

    Parameters
    ----------
    network : Topology
        Out-trees are packed into it.
    limits : Limits
        Limits in trees.
    trees : Roles
        Its weights are the trees rooted at each node.
    deadline : float
        A time of ``time.monotonic``.

    Returns
    -------
    int64 array or None
        One for each link. None if there are none, or none were found by the deadline.
    """
    # No link carries a tree more often than there are GPUs behind it; floats like small numbers.
    most = sum(trees.weights) * sum(trees.targets)
    within = Limits(tuple(min(one, most) for one in limits.link), limits.shared)
    for whole in (False, True):
        try:
            found = _carrying(network, within, trees, deadline, whole)
        except InfeasibleError:
            return None
        except (TimeLimitError, SolverError):
            continue
        if found is not None:
            return found
    return None


def _carrying(
    network: Topology, limits: Limits, trees: Roles, deadline: float, whole: bool
) -> npt.NDArray[np.int64] | None:
    forwarding = [v for v, forwards in enumerate(trees.forwarding) if forwards]
    program = CutProgram(network, limits, trees.weights, forwarding, no_symmetry(network), unit=1)
    program.fix_rate(whole=whole)
    separation = Separation(network, trees)
    for inside in first_sets(network, trees):
        program.add(inside)
    while True:
        capacity, total = program.solve(deadline)
        nearest = np.rint(capacity).astype(np.int64)
        is_whole = bool((np.abs(capacity - nearest) < _NEAR).all())
        missed = separation.of_whole(nearest) if is_whole else separation.near(capacity, total)
        if program.add_all(missed):
            continue
        point = ExactPoint([Fraction(one) for one in nearest.tolist()], Fraction(1), {})
        return nearest if is_whole and not missed and program.satisfies(point) else None
