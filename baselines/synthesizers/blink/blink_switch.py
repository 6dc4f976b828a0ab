"""Blink+Switch: Blink's packing after ForestColl's switch removal.

Problem: Blink's collectives on a network with switches.
Input:   any topology on which an allgather is possible; the root.
Output:  trees of the root as of :mod:`baselines.synthesizers.blink.blink`, over physical paths.
Cost:    that of switch removal for an allgather, and of Blink.
Source:  ForestColl section 6.1, which extends Blink for comparison. Reimplemented from its
         description.

The logical links are those of ForestColl's allgather, with 1/U GB/s for each tree that they may
carry. They keep the rate of an allgather. For a single root they guarantee half of the allgather's
algorithmic bandwidth x* N: one side of a balanced cut has at least half of the N GPUs, so at least
x* N/2 GB/s cross it either way. The rate depends on which links remain: those of "forestcoll", our
core, or of "paper", ForestColl's Algorithms 2 and 3. The paper names neither its links nor its
trees. Rates: docs/baselines/blink.md.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from baselines.interface.method import Method
from baselines.interface.parameters import check_choice
from baselines.interface.supported import ROOTED
from baselines.networks.unwinding import Share, Unwound, unwind
from baselines.synthesizers.blink.blink import Packer, single_root
from forestcoll.core import paper
from forestcoll.core.edge_splitting import remove_switches
from forestcoll.core.optimality import optimum
from forestcoll.core.path_recovery import find_routes
from forestcoll.core.problem import Problem
from forestcoll.core.tight_sets import decompose
from forestcoll.errors import DisconnectedError, UnsupportedError
from forestcoll.problem.limits import Limits
from forestcoll.schedule.allreduce import Allreduce
from forestcoll.schedule.factored import Links
from forestcoll.schedule.forest import Forest
from forestcoll.topology.model import Topology
from forestcoll.topology.numbers import Exact

__all__ = ["METHODS", "REMOVALS", "generate", "without_switches"]

REMOVALS = ("forestcoll", "paper")
"""Switch removal by our core, or by the ForestColl paper's own algorithms."""


def generate(
    topology: Topology,
    collective: str = "broadcast",
    *,
    root: str | int | None = None,
    packing: str = "edmonds",
    epsilon: Exact = "0.05",
    removal: str = "forestcoll",
    limits: Limits = Limits(),  # noqa: B008
) -> Forest | Allreduce[Forest]:
    """Pack trees of a single root on the logical links of ForestColl's allgather.

    Parameters
    ----------
    collective, root, packing, epsilon, limits
        As for :func:`baselines.synthesizers.blink.blink.generate`; the best root is that on the
        logical links.
    removal : str
        One of :data:`REMOVALS`.

    Raises
    ------
    UnsupportedError
        With switches, if no allgather is possible because a GPU cannot be reached; without, if the
        root does not reach all GPUs. If there are fewer than two GPUs, or for another collective.
    InvalidParameterError
        If there is no such root, packing or removal, or epsilon is out of its range.
    """
    remove = partial(without_switches, removal=removal)
    packer = Packer(packing, epsilon, limits)
    return single_root("blink-switch", remove, topology, collective, root, packer)


def without_switches(topology: Topology, removal: str = "forestcoll") -> Unwound:
    """Remove the switches as for an optimal allgather, and keep the logical links.

    Raises
    ------
    UnsupportedError
        If no allgather is possible.
    InvalidParameterError
        If ``removal`` is none of :data:`REMOVALS`.
    """
    check_choice("removal", removal, REMOVALS)
    if not topology.switches:
        return unwind(topology)
    try:
        best = optimum(topology)
    except DisconnectedError as error:
        raise UnsupportedError(
            f"unsupported: no allgather to remove switches for: {error}"
        ) from error
    trees = np.full(topology.num_compute, best.k, dtype=np.int64)
    problem = Problem.of(best, trees)
    if removal == "forestcoll":
        parts = decompose(problem)
        problem = parts.problem
        logical = remove_switches(problem, parts.sets)
    else:
        logical = paper.remove_switches(problem)
    in_full = Links(logical.tail, logical.head, logical.capacity)
    routes = find_routes(problem, logical, in_full)
    paths = {
        link: tuple(Share(path.nodes, path.multiplicity / best.congestion) for path in ways)
        for link, ways in routes.paths().items()
    }
    return Unwound.from_paths(f"{topology.name} without switches", topology, paths)


METHODS = (
    Method(
        name="blink-switch",
        summary="Blink on the links that ForestColl's switch removal leaves",
        source="Blink+Switch of ForestColl section 6.1",
        generate=generate,
        collectives=ROOTED,
        notes="the rate depends on who removes the switches",
        libraries=("ortools.sat.python.cp_model",),
    ),
)
