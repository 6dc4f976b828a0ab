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
    return replace(topology, nodes=tuple(nodes))


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
    """Refuse numbers that no GPU has: they are mistakes, or of another network."""
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
