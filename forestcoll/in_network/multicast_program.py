"""The allreduce program for multicast switches, within a time limit.

Problem: the best allreduce where switches multicast and reduce.
Input:   a topology; the weights of roots, if fixed.
Output:  as of :mod:`forestcoll.allreduce.allreduce_program`.
Cost:    two linear programs; two exact optima for each span and grid; the core's forests.
Source:  ForestColl, appendix on the optimality of allreduce.

In the program of the bound, multicast switches forward nothing, need nothing and may be roots. That
of the schedule mixes trees that span some of them (:mod:`forestcoll.in_network.mixture_program`),
so that the core can pack them. The two values are mostly equal.
"""

from __future__ import annotations

from forestcoll.allreduce.allreduce_program import MOST_LINKS, improved
from forestcoll.allreduce.best_allreduce import Improved
from forestcoll.allreduce.result import AllreduceOptimum
from forestcoll.errors import TimeLimitError
from forestcoll.in_network.mixture_program import Ingredient, MixtureProgram
from forestcoll.in_network.mixture_rounding import mixture_forest
from forestcoll.in_network.spans import spans_of
from forestcoll.schedule.allreduce import Allreduce
from forestcoll.schedule.multicast import MulticastForest
from forestcoll.topology.model import Topology
from forestcoll.topology.symmetry.automorphism import Orbits

__all__ = ["improved_by_multicast"]


def improved_by_multicast(
    topology: Topology, weights: tuple[int, ...] | None, *, seconds: float
) -> Improved:
    """Solve both programs and build the schedule.

    Parameters
    ----------
    topology : Topology
        With multicast switches, on which an allreduce is possible.
    weights : tuple of int, optional
        Weight of each rank as a root; free roots if not given.
    seconds : float
        Time limit for everything together.

    Returns
    -------
    Improved
        The results at the time limit.
    """
    return improved(topology, weights, seconds=seconds, multicast=True, build=_mixed)


def _mixed(
    found: AllreduceOptimum, weights: tuple[int, ...], orbits: Orbits, deadline: float
) -> Allreduce[MulticastForest]:
    """Build the schedule whose trees reach some of the multicast switches.

    Spans are added until the rate meets the bound.
    """
    topology, classes = found.topology, int(orbits.link.max()) + 1
    program = MixtureProgram(topology, orbits, weights)
    best: tuple[float, tuple[Ingredient, ...]] | None = None
    room = MOST_LINKS // classes
    for spans in spans_of(topology, orbits):
        for span in spans[:room]:
            program.add(span)
        room -= len(spans[:room])
        try:
            best = program.solved(deadline)
        except TimeLimitError:
            if best is None:
                raise
            break
        if found.is_attained_by(best[0]) or room <= 0:
            break
    assert best is not None  # there is a first round, and room for it
    return mixture_forest(topology, best[1], weights, deadline)
