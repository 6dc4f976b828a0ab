"""Parser of texts such as "b3.gpu2 - ib" that name nodes and links of a network.

Problem: name parts of a machine briefly, on the command line, in files and in Python.
Input:   a topology and a text.
Output:  positions of nodes, and links by the positions of their ends.
Cost:    linear in the nodes and links for a pattern; a look-up for names.
Source:  none.

========================  =====================================================
``b7.gpu0``               a node, by its name
``b7.*``                  all nodes whose names match a shell pattern
``b3.gpu2 - ib``          the links between two nodes, both ways
``b3.gpu2 -> ib``         the link one way
``b3.* - ib``             links between any of the first and any of the second
========================  =====================================================
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np
import numpy.typing as npt

from forestcoll.errors import InvalidTopologyError, did_you_mean
from forestcoll.topology.graph import NetworkGraph

__all__ = ["NamedParts", "ends_named", "links_named", "parts_named"]

_BETWEEN = re.compile(r"\s+(->|<-|<->|-)\s+")


@dataclass(frozen=True, slots=True)
class NamedParts:
    """Parts of a network.

    Parameters
    ----------
    nodes : tuple of int
        Positions; empty if the text names links.
    links : tuple of (int, int)
        Tail and head of the named links, or of all links at the named nodes.
    """

    nodes: tuple[int, ...]
    links: tuple[tuple[int, int], ...]


def parts_named(topology: NetworkGraph, text: str) -> NamedParts:
    """Return the parts that a text names.

    Raises
    ------
    InvalidTopologyError
        If a node, or a link between the nodes, does not exist.

    Examples
    --------
    >>> from forestcoll.topology import load_topology
    >>> ring = load_topology("ring:nodes=4")
    >>> parts_named(ring, "gpu0 - gpu1").links
    ((0, 1), (1, 0))
    >>> parts_named(ring, "gpu[01]").nodes
    (0, 1)
    """
    if _is_node(topology, text):
        nodes = _nodes(topology, text, text)
        at_tail, at_head = _at(topology, nodes, nodes)
        return NamedParts(nodes, _ends(topology, at_tail | at_head))
    links: set[tuple[int, int]] = set()
    for tails, heads in _ways(topology, text):
        links.update(_between(topology, tails, heads))
    if not links:
        raise InvalidTopologyError(
            f"{text!r} names no link of {topology.name}: these nodes have no link this way"
        )
    return NamedParts((), tuple(sorted(links)))


def ends_named(topology: NetworkGraph, text: str) -> tuple[tuple[int, int], ...]:
    """Return the ends of the links that a text names, whether the links exist or not.

    Raises
    ------
    InvalidTopologyError
        If a node does not exist, or the text does not name two nodes.
    """
    if _is_node(topology, text):
        raise InvalidTopologyError(f'{text!r} names no two nodes; write "A - B" or "A -> B"')
    ends = {
        (tail, head) for tails, heads in _ways(topology, text) for tail in tails for head in heads
    }
    return tuple(sorted(ends))


def links_named(
    topology: NetworkGraph, name: str, parts: Iterable[str]
) -> tuple[tuple[int, int], ...]:
    """Return the links of a shared capacity from texts such as "b0.* -> ib" or "a - b".

    Raises
    ------
    InvalidTopologyError
        If a text names no link of the network.

    Examples
    --------
    >>> from forestcoll.topology import load_topology
    >>> links_named(load_topology("ring:nodes=3"), "wire", ["gpu0 - gpu1"])
    ((0, 1), (1, 0))
    """
    found: set[tuple[int, int]] = set()
    for part in parts:
        try:
            found.update(parts_named(topology, part).links)
        except InvalidTopologyError as error:
            raise InvalidTopologyError(f"shared capacity {name!r}: {error}") from None
    return tuple(sorted(found))


def _is_node(topology: NetworkGraph, text: str) -> bool:
    return text in topology.position_of or len(_BETWEEN.split(text.strip())) == 1


def _ways(topology: NetworkGraph, text: str) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Return the tails and heads that a text names: two entries for links both ways."""
    pieces = _pieces(topology, text.strip())
    if len(pieces) != 3:
        raise InvalidTopologyError(
            f"{text!r} has more than one arrow; name a node, or two with one of - and -> between"
        )
    left, right = (_nodes(topology, side, text) for side in pieces[::2])
    there = {"->": [(left, right)], "<-": [(right, left)]}
    return there.get(pieces[1], [(left, right), (right, left)])


def _pieces(topology: NetworkGraph, text: str) -> list[str]:
    """Split a text at its arrow; if names contain arrows, split between two names."""
    for arrow in _BETWEEN.finditer(text):
        left, right = text[: arrow.start()], text[arrow.end() :]
        if left in topology.position_of and right in topology.position_of:
            return [left, arrow[1], right]
    return _BETWEEN.split(text)


def _nodes(topology: NetworkGraph, pattern: str, text: str) -> tuple[int, ...]:
    if pattern in topology.position_of:
        return (topology.position_of[pattern],)
    found = [v for v, node in enumerate(topology.nodes) if fnmatchcase(node.name, pattern)]
    if not found:
        example = f"its nodes have names like {topology.nodes[0].name!r}"
        hint = did_you_mean(pattern, topology.position_of, example, repr)
        within = "" if pattern == text else f" of {text!r}"
        raise InvalidTopologyError(f"{pattern!r}{within} is not a node of {topology.name}; {hint}")
    return tuple(found)


def _between(
    topology: NetworkGraph, tails: tuple[int, ...], heads: tuple[int, ...]
) -> tuple[tuple[int, int], ...]:
    at_tail, at_head = _at(topology, tails, heads)
    return _ends(topology, at_tail & at_head)


def _at(
    topology: NetworkGraph, tails: tuple[int, ...], heads: tuple[int, ...]
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Whether each link leaves one of the tails, and whether it enters one of the heads."""
    tail, head = topology.link_ends
    chosen = np.zeros((2, len(topology.nodes)), dtype=np.bool_)
    chosen[0, tails], chosen[1, heads] = True, True
    return chosen[0, tail], chosen[1, head]


def _ends(topology: NetworkGraph, which: npt.NDArray[np.bool_]) -> tuple[tuple[int, int], ...]:
    """Return the ends of some links, in order."""
    return tuple(zip(*(end[which].tolist() for end in topology.link_ends), strict=True))
