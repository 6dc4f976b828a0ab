"""MultiTree: one greedy spanning tree per GPU, all grown together, step by step.

Problem: out-trees, one rooted at every GPU, that share the links well.
Input:   a topology; the bandwidth of one link unit.
Output:  N trees, and the number of time steps in which they were grown.
Cost:    N (N - 1) turns (see ``tree_growth``) for each reading of the rule; by default two
         readings, unless the first is known to be best.
Source:  Huang et al., "Communication Algorithm-Architecture Co-Design for Distributed Deep
         Learning" (ISCA 2021), as ForestColl section 6.5 uses it. Reimplemented from the papers.

In each time step a link of bandwidth b carries floor(b / unit) trees. The trees take turns, one
edge a turn: the first port of a GPU that joined before this step, over which a GPU not yet in the
tree can be reached, sends to the first of those GPUs. The edge takes one unit on each link of its
path in this step. A step ends when no tree can grow.

Where bandwidths differ and a port leads to many GPUs, the paper states neither which port nor which
GPU comes first. Both are parameters, ``ports`` and ``child``. "next-number", the default ``child``,
prefers the GPU of the same number in the next box. "best", the default of ``ports``, grows
"nearest" and "joined" and keeps the faster forest by ``cost``. It stops after the first if the
ingress of all GPUs and boxes is used up, since no forest is faster then.

Left out: all but shortest paths through switches; the network interface's message scheduling. All
readings and published numbers: docs/baselines/multitree.md.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np

from baselines.building.composing import collect
from baselines.interface.method import Method
from baselines.interface.parameters import check_choice, exact_parameter
from baselines.interface.supported import GATHERING
from baselines.networks.switch_paths import build_forest, check_size
from baselines.synthesizers.multitree.tree_growth import CHILDREN, PORTS, Growth, grow_trees
from forestcoll.errors import InvalidParameterError
from forestcoll.schedule.allreduce import Allreduce
from forestcoll.schedule.forest import Forest
from forestcoll.topology.model import Topology
from forestcoll.topology.numbers import Exact

__all__ = ["BEST_OF", "METHODS", "generate", "grow"]

BEST_OF = ("nearest", "joined")
"""The orders of ports among which "best" keeps the faster forest; ties go to the first."""


def generate(
    topology: Topology,
    collective: str = "allgather",
    *,
    unit: Exact | None = None,
    child: str = "next-number",
    ports: str = "best",
) -> Forest | Allreduce[Forest]:
    """Grow the trees and return them as a forest with k = 1.

    Parameters
    ----------
    collective : str
        "allgather", "reduce-scatter" or "allreduce".
    unit : int, Fraction or str, optional
        Bandwidth of one multi-edge in GB/s; that of the slowest link if not given.
    child : str
        Choice among the GPUs behind a port: "next-number", "next-box", "number" or "box".
    ports : str
        Choice among the ports of a tree: "nearest", "widest", "joined", or "best": the faster of
        the first and the last.

    Raises
    ------
    InvalidParameterError
        If the unit is not a positive number, or there is no such choice.
    UnsupportedError
        If the trees cannot span the GPUs through links of at least one unit.
    """
    check_choice("ports", ports, ("best", *PORTS))
    spread = partial(_gather, unit=unit, child=child, ports=ports)
    return collect(spread, topology, collective)


def _gather(topology: Topology, unit: Exact | None, child: str, ports: str) -> Forest:
    grown: list[Forest] = []
    for order in BEST_OF if ports == "best" else (ports,):
        if not grown or grown[0].congestion > _ingress_bound(topology):
            growth = grow(topology, unit=unit, child=child, ports=order)
            grown.append(_forest(topology, growth))
    return min(grown, key=lambda forest: forest.congestion)


def _ingress_bound(topology: Topology) -> Fraction:
    """Lower bound on the congestion of one tree per root: all shards enter every GPU and box."""
    inside: dict[tuple[str, int], set[int]] = {("gpu", gpu): {gpu} for gpu in topology.compute}
    for position, node in enumerate(topology.nodes):
        if node.box is not None:
            inside.setdefault(("box", node.box), set()).add(position)
    width, size = dict.fromkeys(inside, Fraction(0)), dict.fromkeys(inside, 0)
    for key, nodes in inside.items():
        size[key] = len(nodes.intersection(topology.compute))
    for link in topology.links:
        box = topology.nodes[link.head].box
        if ("gpu", link.head) in width:
            width["gpu", link.head] += link.bandwidth_gb_s
        if box is not None and topology.nodes[link.tail].box != box:
            width["box", box] += link.bandwidth_gb_s
    return max((topology.num_compute - size[key]) / width[key] for key in inside if width[key])


def _forest(topology: Topology, growth: Growth) -> Forest:
    ranks = np.arange(topology.num_compute, dtype=np.int32)
    once = np.ones(topology.num_compute, dtype=np.int64)
    return build_forest(topology, "multitree", ranks, once, growth.parent, growth.routes)


def grow(
    topology: Topology,
    *,
    unit: Exact | None = None,
    child: str = "next-number",
    ports: str = "nearest",
) -> Growth:
    """Grow all trees by one choice of child and port; otherwise as :func:`generate`."""
    check_size(topology)
    check_choice("child", child, CHILDREN)
    check_choice("ports", ports, PORTS)
    if unit is None:
        size = min((link.bandwidth_gb_s for link in topology.links), default=Fraction(1))
    else:
        size = exact_parameter("unit", unit)
    if size <= 0:
        raise InvalidParameterError(f"unit is {size} GB/s; it must be positive")
    return grow_trees(topology, size, child, ports)


METHODS = (
    Method(
        name="multitree",
        summary="greedy trees from all roots, grown step by step",
        source="Huang et al., MultiTree (ISCA 2021), as in ForestColl section 6.5",
        generate=generate,
        collectives=GATHERING,
        notes="unit = slowest link; trees flow at once; the paper's fastest reading",
    ),
)
