"""Process groups: a collective among some GPUs of a network, which the others help to forward.

Problem: run a collective among the members of a group at the speed of the whole network.
Input:   a topology and the members; in text, names or boxes and indices.
Output:  the same network, in which all other GPUs are relays.
Cost:    linear in the nodes.
Source:  a node that receives at least what it sends adds nothing by copying: what leaves it has
         entered it, so removing it (edge splitting) keeps every cut, and the bound over cuts is
         attained by trees among the members whose paths run through it. See
         docs/mathematics/collectives.md, "Process groups".
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import replace

from forestcoll.errors import InvalidParameterError
from forestcoll.topology.model import NodeKind, Topology

__all__ = ["group", "members_from_text"]

_SLICE = re.compile(r"(\*|\d{1,9}(?:-\d{1,9})?)/(\*|\d{1,9}(?:-\d{1,9})?)")


def group(topology: Topology, members: Iterable[str]) -> Topology:
    """Return the network for a collective among some of its GPUs.

    Parameters
    ----------
    topology : Topology
    members : iterable of str
        Names of compute nodes.

    Returns
    -------
    Topology
        With the same nodes and links, in the same order; GPUs outside the group have the kind
        relay. Ranks count the members, in the order of the nodes.

    Raises
    ------
    InvalidParameterError
        If the group is empty, or a member is unknown, repeated or no compute node.

    Examples
    --------
    >>> from forestcoll.topology import load_topology
    >>> pair = group(load_topology("ring:nodes=4"), ["gpu0", "gpu2"])
    >>> pair.num_compute, [str(node.kind) for node in pair.nodes]
    (2, ['compute', 'relay', 'compute', 'relay'])
    """
    chosen: set[str] = set()
    for name in members:
        if name not in topology.position_of:
            near = difflib.get_close_matches(str(name), topology.position_of, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise InvalidParameterError(
                f"the group names {name!r}, which is no node of {topology.name}{hint}"
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
    nodes = (
        replace(node, kind=NodeKind.RELAY)
        if node.kind is NodeKind.COMPUTE and node.name not in chosen
        else node
        for node in topology.nodes
    )
    return Topology(topology.name, tuple(nodes), topology.links)


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
        If a slice holds no GPU. Names are checked by :func:`group`.

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
        boxes, indices = found.groups()
        chosen = [
            node.name
            for node in topology.nodes
            if node.kind is NodeKind.COMPUTE
            and _holds(boxes, node.box)
            and _holds(indices, node.index)
        ]
        if not chosen:
            raise InvalidParameterError(
                f"the group names {item!r}, but {topology.name} has no GPU in such a box with "
                f"such an index"
            )
        members += chosen
    return members


def _holds(numbers: str, value: int | None) -> bool:
    """Whether a range such as 0-15, a number or * holds a value."""
    if value is None or numbers == "*":
        return value is not None
    low, _, high = numbers.partition("-")
    return int(low) <= value <= int(high or low)
