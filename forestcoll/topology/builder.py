"""Topology builder: add GPUs, switches, links and shared capacities by name, then ``build``."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

import numpy as np

from forestcoll.errors import InvalidTopologyError, did_you_mean
from forestcoll.topology.changes.named_parts import links_named
from forestcoll.topology.link_columns import LinkColumns, LinkNumbers
from forestcoll.topology.model import Node, NodeKind, Topology
from forestcoll.topology.numbers import Exact, exact
from forestcoll.topology.shared_capacity import SharedCapacity

__all__ = ["MOST_LINKS", "MOST_NODES", "NO_LATENCY", "TopologyBuilder", "expect_size"]

MOST_NODES = 1_000_000
"""Largest number of nodes; the product of two parameters of a family can be far larger."""

MOST_LINKS = 20_000_000
"""Largest number of links, each direction counted: a complete network of 4096 GPUs."""

_MOST_KNOWN = 1000
"""Number objects known by identity; those made anew for each link would fill the memory."""

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
        self._shared: list[tuple[str, tuple[str, ...], Fraction]] = []
        self._position: dict[str, int] = {}
        # Links in flat rows of four: positions of the ends, place in kinds, whether both ways.
        self._rows: list[int] = []
        self._num_links = 0
        self._kinds: dict[LinkNumbers, int] = {}
        self._kind_of: dict[tuple[int, int], int] = {}  # by identity of numbers
        self._alive: list[LinkNumbers] = []  # those numbers, so that no other has their identity

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
        self._add_link(tail, head, bandwidth, latency, both=False)

    def link(
        self, a: str, b: str, bandwidth: Exact | float, latency: Exact | float = NO_LATENCY
    ) -> None:
        """Add a full-duplex link: ``bandwidth`` GB/s in each direction."""
        self._add_link(a, b, bandwidth, latency, both=True)

    def _add_link(
        self, tail: str, head: str, bandwidth: Exact | float, latency: Exact | float, *, both: bool
    ) -> None:
        if self._num_links + 1 + both > MOST_LINKS:
            raise InvalidTopologyError(f"has over {MOST_LINKS} links; ask for a smaller network")
        try:
            ends = self._position[tail], self._position[head]
        except KeyError as missing:
            raise self._unknown(missing.args[0]) from None
        kind = self._kind_of.get((id(bandwidth), id(latency)))
        if kind is None:
            kind = self._read(bandwidth, latency, f"link {tail} -> {head}")
        self._rows += (*ends, kind, both)
        self._num_links += 1 + both

    def _read(self, bandwidth: Exact | float, latency: Exact | float, where: str) -> int:
        """Return the place of two numbers in the table; remember the objects if they are exact."""
        numbers = exact(bandwidth, f"{where}: bandwidth"), exact(latency, f"{where}: latency")
        kind = self._kinds.setdefault(numbers, len(self._kinds))
        known = numbers[0] is bandwidth and numbers[1] is latency
        if known and len(self._alive) < _MOST_KNOWN:
            self._kind_of[id(bandwidth), id(latency)] = kind
            self._alive.append(numbers)
        return kind

    def _columns(self) -> LinkColumns:
        rows = np.fromiter(self._rows, dtype=np.int32, count=len(self._rows)).reshape(-1, 4)
        tail, head, kind, both = rows.T
        return LinkColumns(tail, head, kind, tuple(self._kinds)).both_ways(both == 1)

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
        made = Topology.of_columns(name, self._nodes, self._columns())
        if not self._shared:
            return made
        groups = tuple(
            SharedCapacity(called, links_named(made, called, parts), limit)
            for called, parts, limit in self._shared
        )
        return Topology.of_columns(name, made.nodes, made.columns, groups)

    def _add(self, node: Node) -> str:
        if node.name in self._position:
            raise InvalidTopologyError(f"two nodes are named {node.name!r}; rename one")
        if len(self._nodes) >= MOST_NODES:
            raise InvalidTopologyError(f"has over {MOST_NODES} nodes; ask for a smaller network")
        self._position[node.name] = len(self._nodes)
        self._nodes.append(node)
        return node.name

    def _unknown(self, name: str) -> InvalidTopologyError:
        hint = did_you_mean(name, self._position, "add it before its links", repr)
        return InvalidTopologyError(f"no node is named {name!r}; {hint}")
