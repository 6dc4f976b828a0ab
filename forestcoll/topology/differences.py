"""Differences between two networks, in words."""

from __future__ import annotations

from collections.abc import Iterator

from forestcoll.topology.model import Link, Node, Topology
from forestcoll.topology.shared_capacity import shared_attribute

__all__ = ["differences"]


def differences(one: Topology, other: Topology) -> Iterator[str]:
    """Yield the differences between two networks; nothing if they are equal.

    Nodes are identified by their names. Compared are kinds and marks of nodes, ranks of GPUs,
    bandwidths and latencies of links, and links and limits of shared capacities. Names of
    networks, boxes and numbers in boxes do not matter.

    Examples
    --------
    >>> from forestcoll.topology import load_topology
    >>> list(differences(load_topology("ring:nodes=3"), load_topology("torus:dims=3,wrap=false")))
    ['gpu0 -> gpu2 is missing', 'gpu2 -> gpu0 is missing']
    """
    yield from _of_nodes(one, other)
    yield from _of_order(one, other)
    yield from _of_links(one, other)
    yield from _of_groups(one, other)


def _of_nodes(one: Topology, other: Topology) -> Iterator[str]:
    mine, theirs = ({node.name: node for node in net.nodes} for net in (one, other))
    for name in [*mine, *(name for name in theirs if name not in mine)]:
        if name not in theirs:
            yield f"{mine[name].kind} node {name} is missing"
        elif name not in mine:
            yield f"{theirs[name].kind} node {name} is new"
        elif _kind(mine[name]) != _kind(theirs[name]):
            yield f"{name} is a {_kind(theirs[name])}, not a {_kind(mine[name])}"


def _kind(node: Node) -> str:
    marks = [mark for mark in ("multicast", "stores") if getattr(node, mark)]
    return " ".join([str(node.kind), "node", *(["with", " and ".join(marks)] if marks else [])])


def _of_order(one: Topology, other: Topology) -> Iterator[str]:
    mine, theirs = ([net.nodes[gpu].name for gpu in net.compute] for net in (one, other))
    if sorted(mine) == sorted(theirs):
        for rank, (name, found) in enumerate(zip(mine, theirs, strict=True)):
            if name != found:
                yield f"rank {rank} is {found}, not {name}"


def _of_links(one: Topology, other: Topology) -> Iterator[str]:
    mine, theirs = _by_name(one), _by_name(other)
    for ends in [*mine, *(ends for ends in theirs if ends not in mine)]:
        name = " -> ".join(ends)
        if ends not in theirs:
            yield f"{name} is missing"
        elif ends not in mine:
            yield f"{name} is new"
        else:
            old, new = mine[ends], theirs[ends]
            if old.bandwidth_gb_s != new.bandwidth_gb_s:
                yield f"{name} has {new.bandwidth_gb_s} GB/s, not {old.bandwidth_gb_s}"
            if old.latency_us != new.latency_us:
                yield f"{name} takes {new.latency_us} us, not {old.latency_us}"


def _of_groups(one: Topology, other: Topology) -> Iterator[str]:
    """Compare shared capacities, identified by their names."""
    mine, theirs = (
        {group["name"]: group for group in shared_attribute(net.shared, net.node_names)}
        for net in (one, other)
    )
    for name in [*mine, *(name for name in theirs if name not in mine)]:
        where = f"shared capacity {name}"
        if name not in theirs:
            yield f"{where} is missing"
        elif name not in mine:
            yield f"{where} is new"
        else:
            old, new = mine[name], theirs[name]
            if set(old["links"]) != set(new["links"]):
                yield f"{where} is of other links"
            if old["bandwidth_gb_s"] != new["bandwidth_gb_s"]:
                yield f"{where} has {new['bandwidth_gb_s']} GB/s, not {old['bandwidth_gb_s']}"


def _by_name(topology: Topology) -> dict[tuple[str, str], Link]:
    names = [node.name for node in topology.nodes]
    return {(names[link.tail], names[link.head]): link for link in topology.links}
