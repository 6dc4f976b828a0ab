"""Switches marked ``multicast``: which of them join GPUs, and networks on which only some copy.

Problem: a library's schedule uses the switch of a box, or those between boxes, or both.
Input:   a network, and GPUs that one switch is to join.
Output:  the marked switches on all shortest paths; the network with fewer marks.
Cost:    a search for paths for each GPU.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from baselines.networks.switch_paths import Router, router_of
from baselines.networks.switched import switched
from forestcoll.topology.model import Topology

__all__ = ["joining", "marked_only", "on_paths", "router_by_switches"]


def router_by_switches(network: Topology) -> Router:
    """Return a router that prefers switches to direct links."""
    return router_of(switched(network, needless=True)[-1])


def marked_only(topology: Topology, used: Collection[int]) -> Topology:
    """Return the network on which, of the marked switches, only these positions are marked."""
    if all(v in used for v in topology.switches if topology.nodes[v].multicast):
        return topology  # whose router is known
    nodes = tuple(
        replace(node, multicast=node.multicast and position in used)
        for position, node in enumerate(topology.nodes)
    )
    return topology.like(topology.name, nodes, topology.links, shared=topology.shared)


def joining(router: Router, gpus: Iterable[int]) -> set[int]:
    """Return the multicast switches on all shortest paths between the first GPU and others."""
    nodes = router.topology.nodes
    ways = {way for ends in _pairs(gpus) for way in router.switches(*ends)}
    return {v for v in set.intersection(*map(set, ways)) if nodes[v].multicast}


def on_paths(router: Router, gpus: Iterable[int]) -> list[set[int]]:
    """Return the nodes on any shortest path, for each pair of the first GPU and another."""
    return [set().union(*router.paths(*ends)) for ends in _pairs(gpus)]


def _pairs(gpus: Iterable[int]) -> list[tuple[int, int]]:
    first, *others = gpus
    return [ends for gpu in others for ends in ((first, gpu), (gpu, first))]
