"""Process groups: a collective among some GPUs of a network; the others forward or are absent.

Problem: run a collective among the members of a group at the speed of the whole network.
Input:   a topology and the members; in text, names or boxes and indices.
Output:  the same network, in which all other GPUs are relays; or a network without them.
Cost:    linear in the nodes.
Source:  a node that receives at least what it sends adds nothing by copying, as what leaves it has
         entered it. So its removal (edge splitting) keeps every cut, and trees among the members,
         with paths through it, attain the bound over cuts. See docs/mathematics/collectives.md,
         "Process groups".
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

from forestcoll.errors import DisconnectedError, InvalidParameterError, did_you_mean
from forestcoll.topology.model import NodeKind, Topology
from forestcoll.topology.shared_capacity import kept, moved
from forestcoll.topology.spec import Network, as_topology

__all__ = ["IDLE", "group", "members_from_text"]

IDLE: tuple[Literal["forward"], Literal["absent"]] = ("forward", "absent")
"""Roles of GPUs outside a group."""

_SLICE = re.compile(r"(\*|\d{1,9}(?:-\d{1,9})?)/(\*|\d{1,9}(?:-\d{1,9})?)")


def group(
    topology: Network,
    members: str | Iterable[str],
    *,
    idle: Literal["forward", "absent"] = "forward",
) -> Topology:
    """Return the network for a collective among some of its GPUs.

    Parameters
    ----------
    topology : Topology, or its specification, path or networkx graph
    members : str or iterable of str
        Names of compute nodes, or a text as for :func:`members_from_text`.
    idle : {"forward", "absent"}
        What GPUs outside the group do. No library lets them forward. With "absent" they and their
        links are removed.

    Returns
    -------
    Topology
        With the same nodes and links, in the same order. GPUs outside the group have the kind
        relay, or are left out. Ranks count the members, in the order of the nodes.

    Raises
    ------
    InvalidParameterError
        If the group is empty, or a member is unknown, repeated or no compute node; for another
        ``idle``.
    DisconnectedError
        If absent GPUs are the only connection from one member to another.

    Examples
    --------
    >>> pair = group("ring:nodes=4", ["gpu0", "gpu2"])
    >>> pair.num_compute, [str(node.kind) for node in pair.nodes]
    (2, ['compute', 'relay', 'compute', 'relay'])
    >>> group("dgx_a100:boxes=4", "*/0").num_compute
    4
    """
    topology = as_topology(topology)
    if isinstance(members, str):
        members = members_from_text(topology, members)
    if idle not in IDLE:
        raise InvalidParameterError(f"idle is {idle!r}; it must be {' or '.join(IDLE)}")
    chosen: set[str] = set()
    for name in members:
        if name not in topology.position_of:
            example = f"a node is {topology.nodes[0].name!r}"
            hint = did_you_mean(name, topology.position_of, example, repr)
            raise InvalidParameterError(
                f"the group names {name!r}, which is not a node of {topology.name}; {hint}"
            )
        kind = topology.nodes[topology.position_of[name]].kind
        if kind is not NodeKind.COMPUTE:
            raise InvalidParameterError(
                f"the group names {name!r}, which is a {kind}; only compute nodes take part"
            )
        if name in chosen:
            raise InvalidParameterError(f"the group names {name!r} twice; name each member once")
        chosen.add(name)
    if not chosen:
        raise InvalidParameterError("the group is empty; name at least one compute node")
    if idle == "absent":
        return _without_idle(topology, chosen)
    nodes = (
        replace(node, kind=NodeKind.RELAY)
        if node.kind is NodeKind.COMPUTE and node.name not in chosen
        else node
        for node in topology.nodes
    )
    return replace(topology, nodes=tuple(nodes))


def _without_idle(topology: Topology, members: set[str]) -> Topology:
    """Remove the GPUs that are no members, and their links.

    Shared capacities keep their limit for the remaining links.
    """
    nodes = [
        place
        for place, node in enumerate(topology.nodes)
        if node.kind is not NodeKind.COMPUTE or node.name in members
    ]
    new = {old: place for place, old in enumerate(nodes)}
    shared = kept(
        topology.shared, {(u, v) for u, v in topology.link_between if u in new and v in new}
    )
    links = tuple(
        replace(link, tail=new[link.tail], head=new[link.head])
        for link in topology.links
        if link.tail in new and link.head in new
    )
    left = topology.like(
        topology.name,
        tuple(topology.nodes[place] for place in nodes),
        links,
        shared=moved(shared, new),
    )
    _expect_as_connected(topology, left)
    return left


def _expect_as_connected(whole: Topology, left: Topology) -> None:
    """Refuse a group whose first member loses another, in either direction."""
    names = [left.nodes[place].name for place in left.compute]
    for back in (False, True):
        lost = _reached(whole, names[0], back=back) - _reached(left, names[0], back=back)
        for name in (one for one in names if one in lost):
            start, end = (name, names[0]) if back else (names[0], name)
            raise DisconnectedError(
                f"{whole.name}: GPU {start!r} cannot reach GPU {end!r} without the GPUs outside "
                f"the group; let these forward (--idle forward, in Python idle='forward')"
            )


def _reached(topology: Topology, first: str, *, back: bool) -> set[str]:
    """Return the nodes that a node reaches; those that reach it, if ``back``."""
    next_to: dict[int, list[int]] = {}
    for link in topology.links:
        start, end = (link.head, link.tail) if back else (link.tail, link.head)
        next_to.setdefault(start, []).append(end)
    seen = {topology.position_of[first]}
    frontier = list(seen)
    while frontier:
        found = [node for node in next_to.get(frontier.pop(), ()) if node not in seen]
        seen.update(found)
        frontier += found
    return {topology.nodes[place].name for place in seen}


def members_from_text(topology: Topology, text: str) -> list[str]:
    """Read the members of a group from the text of the command line.

    Parameters
    ----------
    topology : Topology
    text : str
        Items with commas between them. An item is the name of a GPU, or ``BOXES/INDICES``, each a
        number, a range such as 0-15, or * for all: ``0-3/*`` is all GPUs of boxes 0 to 3, ``*/0``
        GPU 0 of every box.

    Raises
    ------
    InvalidParameterError
        If a slice names a box or an index that no GPU has. Names are checked by :func:`group`.

    Examples
    --------
    >>> from forestcoll.topology import load_topology
    >>> members_from_text(load_topology("dgx_a100:boxes=2"), "0/6-7,1/0")
    ['b0.gpu6', 'b0.gpu7', 'b1.gpu0']
    """
    members: list[str] = []
    for item in filter(None, (part.strip() for part in text.split(","))):
        found = _SLICE.fullmatch(item)
        if item in topology.position_of or found is None:
            members.append(item)
            continue
        members += _of_slice(topology, item, *found.groups())
    return members


def _of_slice(topology: Topology, item: str, boxes: str, indices: str) -> list[str]:
    """Return the GPUs of some boxes with some indices, each of which has to be there."""
    gpus = [node for node in topology.nodes if node.kind is NodeKind.COMPUTE]
    inside = [node for node in gpus if node.box is not None]
    _expect_all(topology, item, boxes, {node.box for node in inside}, "box", "boxes")
    inside = [node for node in inside if _holds(boxes, node.box) and node.index is not None]
    _expect_all(topology, item, indices, {node.index for node in inside}, "index", "indices")
    return [node.name for node in inside if _holds(indices, node.index)]


def _expect_all(
    topology: Topology, item: str, numbers: str, there: set[int | None], one: str, many: str
) -> None:
    """Refuse numbers that no GPU has: they are mistakes, or meant for another network."""
    known = sorted(number for number in there if number is not None)
    if not known:
        raise InvalidParameterError(
            f"the group names {item!r}, but no GPU of {topology.name} has a number of its {one}; "
            f"name GPUs instead"
        )
    if numbers == "*":
        return
    low, high = _ends(numbers)
    if low > high:
        raise InvalidParameterError(f"the group names {item!r}, whose range is reversed; turn it")
    if sum(low <= number <= high for number in known) < high - low + 1:
        missing = next(number for number in range(low, high + 1) if number not in there)
        where = topology.name if one == "box" else f"these boxes of {topology.name}"
        raise InvalidParameterError(
            f"the group names {item!r}, but no GPU has {one} {missing}; "
            f"the {many} of {where} are {_as_ranges(known)}"
        )


def _as_ranges(known: list[int]) -> str:
    """Write numbers in order as ranges: 0-3, 8."""
    parts: list[list[int]] = []
    for number in known:
        if parts and parts[-1][-1] == number - 1:
            parts[-1][1:] = [number]
        else:
            parts.append([number])
    return ", ".join("-".join(map(str, part)) for part in parts)


def _ends(numbers: str) -> tuple[int, int]:
    low, _, high = numbers.partition("-")
    return int(low), int(high or low)


def _holds(numbers: str, value: int | None) -> bool:
    """Whether a range such as 0-15, a number or * holds a value."""
    if value is None or numbers == "*":
        return value is not None
    low, high = _ends(numbers)
    return low <= value <= high
