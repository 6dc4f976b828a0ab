"""Topology builder: add GPUs, switches, links and shared capacities by name, then ``build``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import TypeGuard

from forestcoll.errors import InvalidTopologyError, did_you_mean
from forestcoll.topology.changes.named_parts import links_named
from forestcoll.topology.model import Link, Node, NodeKind, Topology
from forestcoll.topology.numbers import Exact, exact, is_usual
from forestcoll.topology.shared_capacity import SharedCapacity

__all__ = ["MOST_LINKS", "MOST_NODES", "NO_LATENCY", "TopologyBuilder", "expect_size"]

MOST_NODES = 1_000_000
"""Largest number of nodes; the product of two parameters of a family can be far larger."""

MOST_LINKS = 20_000_000
"""Largest number of links, each direction counted: a complete network of 4096 GPUs."""

NO_LATENCY = Fraction(0)
"""Default latency; one shared object, because comparing an object with itself is fast."""


def expect_size(nodes: int, links: int, what: str) -> None:
    """Refuse a network of too many nodes or links, both ways counted, before they are made.

    Raises
    ------
    InvalidTopologyError
    """
    for count, most, of in ((nodes, MOST_NODES, "nodes"), (links, MOST_LINKS, "links")):
        if count > most:
            raise InvalidTopologyError(f"{what}: makes over {most} {of}; ask for a smaller network")


class TopologyBuilder:
    """Collects nodes and links by name; ``build`` freezes them into a Topology.

    Examples
    --------
    >>> builder = TopologyBuilder()
    >>> switch = builder.switch("switch")
    >>> for i in range(4):
    ...     builder.link(builder.gpu(f"gpu{i}", box=0, index=i), switch, "12.5")
    >>> topology = builder.build("four GPUs on a switch")
    >>> topology.num_compute, len(topology.links)
    (4, 8)
    """

    def __init__(self) -> None:
        self._nodes: list[Node] = []
        self._links: list[Link] = []
        self._shared: list[tuple[str, tuple[str, ...], Fraction]] = []
        self._position: dict[str, int] = {}
        self._usual: dict[int, object] = {}  # numbers by identity, kept alive, each checked once

    def gpu(self, name: str, box: int | None = None, index: int | None = None) -> str:
        """Add a compute node and return its name."""
        return self._add(Node(name, NodeKind.COMPUTE, box, index))

    def switch(
        self,
        name: str,
        box: int | None = None,
        index: int | None = None,
        *,
        multicast: bool = False,
        stores: bool = False,
    ) -> str:
        """Add a switch and return its name."""
        return self._add(Node(name, NodeKind.SWITCH, box, index, multicast, stores))

    def arc(
        self, tail: str, head: str, bandwidth: Exact | float, latency: Exact | float = NO_LATENCY
    ) -> None:
        """Add a link in one direction.

        Parameters
        ----------
        tail, head : str
            Names of the nodes it leaves and enters.
        bandwidth : int, Fraction, str, or float that prints as a short decimal
            In GB/s.
        latency : the same
            In microseconds.
        """
        self._links.append(self._link(tail, head, bandwidth, latency, room=1))

    def link(
        self, a: str, b: str, bandwidth: Exact | float, latency: Exact | float = NO_LATENCY
    ) -> None:
        """Add a full-duplex link: ``bandwidth`` GB/s in each direction."""
        one = self._link(a, b, bandwidth, latency, room=2)
        self._links += (one, Link(one.head, one.tail, one.bandwidth_gb_s, one.latency_us))

    def _link(
        self, tail: str, head: str, bandwidth: Exact | float, latency: Exact | float, room: int
    ) -> Link:
        """Return a link between known nodes, if the limit on links allows that many more."""
        if len(self._links) + room > MOST_LINKS:
            raise InvalidTopologyError(f"has over {MOST_LINKS} links; ask for a smaller network")
        ends = self._find(tail), self._find(head)
        # Nearly all: no message is written for them.
        if self._is_usual(bandwidth) and self._is_usual(latency):
            return Link(*ends, bandwidth, latency)
        where = f"link {tail} -> {head}"
        return Link(
            *ends, exact(bandwidth, f"{where}: bandwidth"), exact(latency, f"{where}: latency")
        )

    def _is_usual(self, number: object) -> TypeGuard[Fraction]:
        """Return :func:`is_usual` of a number; the links of a large network share few objects."""
        if id(number) in self._usual:
            return True
        if is_usual(number):
            self._usual[id(number)] = number
            return True
        return False

    def share(self, name: str, links: str | Iterable[str], bandwidth_gb_s: Exact | float) -> None:
        """Add a shared capacity: a common limit of some links.

        Parameters
        ----------
        name : str
            Unique name of the shared capacity.
        links : str or iterable of str
            Patterns such as "gpu* -> host" (one way) or "a - b" (both ways), or the name of a
            node for all its links; they also name links that are added later.
        bandwidth_gb_s : int, Fraction, str, or float that prints as a short decimal
            The limit on all the links together, in GB/s.
        """
        parts = (links,) if isinstance(links, str) else tuple(links)
        limit = exact(bandwidth_gb_s, f"shared capacity {name!r}: bandwidth")
        self._shared.append((name, parts, limit))

    def build(self, name: str) -> Topology:
        """Return the topology; the builder stays usable and may grow further."""
        made = Topology(name, tuple(self._nodes), tuple(self._links))
        if not self._shared:
            return made
        groups = (
            SharedCapacity(called, links_named(made, called, parts), limit)
            for called, parts, limit in self._shared
        )
        return replace(made, shared=tuple(groups))

    def _add(self, node: Node) -> str:
        if node.name in self._position:
            raise InvalidTopologyError(f"two nodes are named {node.name!r}; rename one")
        if len(self._nodes) >= MOST_NODES:
            raise InvalidTopologyError(f"has over {MOST_NODES} nodes; ask for a smaller network")
        self._position[node.name] = len(self._nodes)
        self._nodes.append(node)
        return node.name

    def _find(self, name: str) -> int:
        try:
            return self._position[name]
        except KeyError:
            hint = did_you_mean(name, self._position, "add it before its links", repr)
            raise InvalidTopologyError(f"no node is named {name!r}; {hint}") from None
