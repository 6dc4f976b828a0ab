"""Hops through switches where these are faster than the direct link beside them.

Problem: a hop takes the shortest path, which may be a slow link beside fast ports to a switch.
Output:  networks to try: the topology itself, the same without links that are slower than the path
         around them, and on request without all links that have a path around them.
Cost:    the shortest paths between the ends of direct links.
Source:  NCCL ranks the paths between two GPUs by their kind, and lowers its target bandwidth until
         it finds rings; here whole networks are tried, and the faster rings are kept.
"""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction
from itertools import pairwise

from baselines.networks.ports import has_direct_links
from baselines.networks.switch_paths import Router
from forestcoll.topology.model import Link, Topology
from forestcoll.topology.shared_capacity import kept

__all__ = ["switched"]


def switched(topology: Topology, *, needless: bool = False) -> tuple[Topology, ...]:
    """Return the networks whose shortest ways to try, each once, the topology in front.

    Nodes keep their positions.

    Parameters
    ----------
    needless : bool
        Whether to leave out also the links that are faster than the way round them.

    Examples
    --------
    >>> from forestcoll.topology import load_topology
    >>> [len(switched(load_topology(spec))) for spec in ("dgx_a100:boxes=2", "mi250:boxes=2")]
    [1, 1]
    """
    if not has_direct_links(topology) or not topology.switches:
        return (topology,)
    direct = [link for link in topology.links if _joins_gpus(topology, link)]
    around = Router(_without(topology, frozenset(direct)))
    width = {link: _width_around(around, link) for link in direct}
    sets = [frozenset(link for link in direct if link.bandwidth_gb_s < width[link])]
    if needless:
        sets.append(frozenset(link for link in direct if width[link]))
    return (topology, *(_without(topology, gone) for gone in dict.fromkeys(sets) if gone))


def _joins_gpus(topology: Topology, link: Link) -> bool:
    return not any(topology.nodes[end].is_switch for end in (link.tail, link.head))


def _without(topology: Topology, gone: Collection[Link]) -> Topology:
    left = tuple(link for link in topology.links if link not in gone)
    shared = kept(topology.shared, {(link.tail, link.head) for link in left})
    return Topology(topology.name, topology.nodes, left, shared)


def _width_around(router: Router, link: Link) -> Fraction:
    """The bandwidth of the widest of the shortest ways through switches, 0 if there is none."""
    if not router.hops(link.tail, link.head):
        return Fraction(0)
    between = router.topology.link_between
    return max(
        min(between[hop].bandwidth_gb_s for hop in pairwise(way))
        for way in router.paths(link.tail, link.head)
    )
