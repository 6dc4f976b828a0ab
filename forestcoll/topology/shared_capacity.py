"""Shared capacities: sets of links that together carry no more than a common limit.

Problem: host memory, a half-duplex wire or a root complex limits several links together.
         Bandwidths of single links cannot express that.
Input:   groups of links with their capacities; changes of the nodes and links around them.
Output:  the groups, checked against a network or adapted to a changed one.
Cost:    linear in the members of the groups.
Source:  Own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.numbers import exact

__all__ = [
    "SharedCapacity", "checked", "groups_from_attribute", "kept", "moved", "reversed_groups",
    "shared_attribute",
]  # fmt: skip

Ends = tuple[int, int]


@dataclass(frozen=True, slots=True)
class SharedCapacity:
    """A set of links with a common limit.

    Parameters
    ----------
    name : str
        Unique in its topology, and no node's name.
    links : tuple of (int, int)
        Tail and head of each link, as positions; sorted, without repeats.
    bandwidth_gb_s : Fraction
        The limit on all the links together, in GB/s; positive.
    """

    name: str
    links: tuple[Ends, ...]
    bandwidth_gb_s: Fraction


def checked(
    groups: Iterable[SharedCapacity], links: Collection[Ends], nodes: Sequence[str]
) -> tuple[SharedCapacity, ...]:
    """Return groups in order of their names, with sorted links and exact numbers.

    Parameters
    ----------
    groups : iterable of SharedCapacity
    links : collection of (int, int)
        The ends of the network's links.
    nodes : sequence of str
        The names of its nodes, by position.

    Raises
    ------
    InvalidTopologyError
        For a name that is empty, unprintable or taken, a group without links, a link that does
        not exist, or a capacity that is not positive.
    """
    found: dict[str, SharedCapacity] = {}
    taken = set(nodes)
    for group in groups:
        _check_name(group.name)
        where = f"shared capacity {group.name!r}"
        if group.name in found:
            raise InvalidTopologyError(
                f"two shared capacities are named {group.name!r}; rename one of them"
            )
        if group.name in taken:
            raise InvalidTopologyError(f"{where} has the name of a node; rename one of the two")
        _check_links(where, group.links, links, nodes)
        bandwidth = exact(group.bandwidth_gb_s, f"{where}: bandwidth")
        if bandwidth <= 0:
            raise InvalidTopologyError(
                f"{where}: bandwidth is {bandwidth} GB/s; it must be positive (leave dead links "
                f"out instead)"
            )
        members = tuple(sorted({(int(tail), int(head)) for tail, head in group.links}))
        found[group.name] = SharedCapacity(group.name, members, bandwidth)
    return tuple(found[name] for name in sorted(found))


def _check_name(name: str) -> None:
    if not name or not name.isprintable() or name != name.strip():
        raise InvalidTopologyError(
            f"a shared capacity is named {name!r}; use printable characters, no spaces at the ends"
        )


def _check_links(
    where: str, members: Iterable[Ends], links: Collection[Ends], nodes: Sequence[str]
) -> None:
    members = tuple(members)
    if not members:
        raise InvalidTopologyError(f"{where} has no links; name at least one, or remove it")
    for tail, head in members:
        for end in (tail, head):
            if not 0 <= end < len(nodes):
                raise InvalidTopologyError(
                    f"{where} names node {end}, but the nodes are 0 to {len(nodes) - 1}"
                )
        if (tail, head) not in links:
            raise InvalidTopologyError(
                f"{where} names the link {nodes[tail]} -> {nodes[head]}, which is not there; add "
                f"the link or leave it out of the shared capacity"
            )


def shared_attribute(
    groups: Iterable[SharedCapacity], names: Sequence[str]
) -> list[dict[str, Any]]:
    """Return groups as a networkx graph lists them, with the names of the nodes."""
    return [
        {
            "name": group.name,
            "links": [(names[tail], names[head]) for tail, head in group.links],
            "bandwidth_gb_s": group.bandwidth_gb_s,
        }
        for group in groups
    ]


def groups_from_attribute(entries: object, place: Mapping[Any, int]) -> tuple[SharedCapacity, ...]:
    """Read what :func:`shared_attribute` returns; ``place`` holds the positions of the nodes.

    Raises
    ------
    InvalidTopologyError
        For an entry of another form, or a node that does not exist.
    """
    wanted = "a list of dicts of name, links (pairs of nodes) and bandwidth_gb_s"
    if not isinstance(entries, list | tuple):
        raise InvalidTopologyError(f"shared is {entries!r}; it must be {wanted}")
    groups = []
    for entry in entries:
        try:
            name, limit = str(entry["name"]), entry["bandwidth_gb_s"]
            pairs = [(tail, head) for tail, head in entry["links"]]
        except (TypeError, KeyError, ValueError):
            raise InvalidTopologyError(f"shared holds {entry!r}; it must be {wanted}") from None
        if strangers := [end for pair in pairs for end in pair if end not in place]:
            raise InvalidTopologyError(
                f"shared capacity {name!r} names {strangers[0]!r}, which is not a node"
            )
        links = tuple((place[tail], place[head]) for tail, head in pairs)
        bandwidth = exact(limit, f"shared capacity {name!r}: bandwidth")
        groups.append(SharedCapacity(name, links, bandwidth))
    return tuple(groups)


def moved(groups: Iterable[SharedCapacity], place: Mapping[int, int]) -> tuple[SharedCapacity, ...]:
    """Return groups with new positions of the nodes; links of nodes without one are dropped.

    Groups that lose all their links are dropped, too.
    """
    return _with_links(
        (
            group,
            (
                (place[tail], place[head])
                for tail, head in group.links
                if tail in place and head in place
            ),
        )
        for group in groups
    )


def kept(groups: Iterable[SharedCapacity], links: Collection[Ends]) -> tuple[SharedCapacity, ...]:
    """Return groups with only the links that are left, without empty groups."""
    return _with_links((group, (ends for ends in group.links if ends in links)) for group in groups)


def reversed_groups(groups: Iterable[SharedCapacity]) -> tuple[SharedCapacity, ...]:
    """Return groups whose links all point the other way."""
    return _with_links((group, ((head, tail) for tail, head in group.links)) for group in groups)


def _with_links(
    pairs: Iterable[tuple[SharedCapacity, Iterable[Ends]]],
) -> tuple[SharedCapacity, ...]:
    made = (replace(group, links=tuple(sorted(links))) for group, links in pairs)
    return tuple(group for group in made if group.links)
