"""Hyper-edges: links between all neighbours of a switch, which replace the switch.

Output:  the paths between GPUs, directly or over a switch, and which of them share a link.
Cost:    a product for each switch.
Source:  Liu et al., TE-CCL (SIGCOMM 2024), appendix C, after TACCL.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from forestcoll.errors import UnsupportedError
from forestcoll.topology.model import Topology

__all__ = ["without_switches"]


def without_switches(
    topology: Topology,
) -> tuple[list[tuple[tuple[int, ...], int]], dict[int, list[int]]]:
    """Return paths, each with one of its links, and for each link the paths over it.

    Raises
    ------
    UnsupportedError
        For switches in a row, a switch with links of two bandwidths, or one with incoming links of
        two latencies: chunks sent at once would collide on the links out of it.
    """
    place = {node: end for end, node in enumerate(topology.ends)}
    index = {(link.tail, link.head): i for i, link in enumerate(topology.links)}
    switches = set(topology.switches)
    ways: list[tuple[tuple[int, ...], int]] = []
    sharing: dict[int, list[int]] = {}
    for path in _paths(topology, switches):
        links = [index[a, b] for a, b in pairwise(path)]
        if len({topology.links[i].bandwidth_gb_s for i in links}) > 1:
            name = topology.nodes[path[1]].name
            raise UnsupportedError(
                f"unsupported: {topology.name}: hyper-edges stand for switches whose links are of "
                f"one bandwidth, and those of {name} are not; take switches as nodes"
            )
        _check_in_step(topology, path)
        for link in links:
            sharing.setdefault(link, []).append(len(ways))
        ways.append((tuple(place[v] for v in path), links[0]))
    return ways, sharing


def _check_in_step(topology: Topology, path: tuple[int, ...]) -> None:
    if len(path) < 3:
        return
    into = {link.latency_us for link in topology.links if link.head == path[1]}
    if len(into) > 1:
        raise UnsupportedError(
            f"unsupported: {topology.name}: hyper-edges stand for switches to which all links have "
            f"one latency, and those to {topology.nodes[path[1]].name} have not; take switches as "
            f"nodes"
        )


def _paths(topology: Topology, switches: set[int]) -> Iterator[tuple[int, ...]]:
    """Yield links between GPUs, then paths over one switch between GPUs that no link joins."""
    for link in topology.links:
        if link.tail in switches and link.head in switches:
            raise UnsupportedError(
                f"unsupported: {topology.name}: hyper-edges stand for single switches, and "
                f"{topology.nodes[link.tail].name} leads to another; take switches as nodes"
            )
        if not {link.tail, link.head} & switches:
            yield link.tail, link.head
    for switch in topology.switches:
        before = [link.tail for link in topology.links if link.head == switch]
        after = [link.head for link in topology.links if link.tail == switch]
        for tail in before:
            for head in after:
                if tail != head and (tail, head) not in topology.link_between:
                    yield tail, switch, head
