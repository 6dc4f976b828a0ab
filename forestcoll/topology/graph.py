"""The data of a network: compute nodes, switches, and directed links with bandwidths.

:class:`NetworkGraph` has the nodes and links with what follows from them. It is below the functions
that edit and describe a network. :class:`forestcoll.topology.model.Topology`, above them, offers
them as methods.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from forestcoll.errors import CapacityOverflowError, InvalidTopologyError
from forestcoll.topology.link_columns import Link, LinkColumns
from forestcoll.topology.numbers import exact, is_usual
from forestcoll.topology.shared_capacity import SharedCapacity, checked, moved, reversed_groups

__all__ = ["IntegerCapacities", "Link", "NetworkGraph", "Node", "NodeKind"]


class NodeKind(StrEnum):
    """A compute node holds and wants data; a switch only forwards it.

    A relay is a GPU that takes no part in a collective and only forwards, like a switch.
    """

    COMPUTE = "compute"
    SWITCH = "switch"
    RELAY = "relay"


@dataclass(frozen=True, slots=True)
class Node:
    """A compute node (GPU), or a switch or relay.

    Parameters
    ----------
    name : str
        Unique in its topology.
    kind : NodeKind
    box, index : int, optional
        The machine of the node and its number there; for drawings and descriptions.
    multicast : bool
        Whether a switch can multicast and reduce data itself.
    stores : bool
        Whether a switch can keep data and forward it later; if not, it forwards immediately. This
        matters for step schedules, not for the throughput model.
    """

    name: str
    kind: NodeKind
    box: int | None = None
    index: int | None = None
    multicast: bool = False
    stores: bool = False

    @property
    def is_gpu(self) -> bool:
        """Whether the node is a GPU, in the group or not."""
        return self.kind is not NodeKind.SWITCH

    @property
    def is_switch(self) -> bool:
        """Whether the node only forwards: a switch, or a GPU outside the group."""
        return self.kind is not NodeKind.COMPUTE


@dataclass(frozen=True, slots=True)
class IntegerCapacities:
    """Links in the form of the native core: whole numbers with one common denominator.

    ``capacity[i] / denominator`` is the bandwidth in GB/s of the link tail[i] -> head[i].
    """

    tail: npt.NDArray[np.int32]
    head: npt.NDArray[np.int32]
    capacity: npt.NDArray[np.int64]
    denominator: int

    def reversed(self) -> IntegerCapacities:
        """Return every link reversed, in the order of the reversed topology."""
        order = np.lexsort((self.tail, self.head))
        return IntegerCapacities(
            self.head[order], self.tail[order], self.capacity[order], self.denominator
        )


@dataclass(frozen=True, repr=False)
class NetworkGraph:
    """Nodes in order, and the directed links between them: the base of :class:`.model.Topology`.

    A network has its links as objects, as ``columns``, or as both: one is made from the other when
    first asked for. Parameters and errors are documented there.
    """

    name: str
    nodes: tuple[Node, ...]
    links: tuple[Link, ...] = field(repr=False)
    shared: tuple[SharedCapacity, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "nodes", tuple(self.nodes))
        self._check_names()
        columns, links = self._in_order(tuple(self.links))
        vars(self).update(links=links, columns=columns)
        object.__setattr__(self, "shared", self._checked_groups())

    @classmethod
    def of_columns(
        cls,
        name: str,
        nodes: Iterable[Node],
        columns: LinkColumns,
        shared: tuple[SharedCapacity, ...] = (),
    ) -> Self:
        """Return a network of links that are given by columns, in any order.

        Parameters and errors are those of the class.
        """
        made = cls._of(name=name, nodes=tuple(nodes), columns=columns, shared=shared)
        made._check_names()
        made._check_columns(columns)
        vars(made)["columns"] = columns.take(columns.order()).merged()
        vars(made)["shared"] = made._checked_groups()
        return made

    @classmethod
    def _of(cls, **parts: object) -> Self:
        """Return a network of checked parts, with links or columns or both."""
        # Skips the checks of __init__: the caller guarantees the form, and they take long.
        made = object.__new__(cls)
        vars(made).update(parts)
        return made

    if not TYPE_CHECKING:  # which would take any name for an attribute

        def __getattr__(self, name: str) -> Any:
            """Make the links, if they were given by columns; nothing else is missing."""
            if name != "links" or "columns" not in vars(self):
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            return vars(self).setdefault("links", self.columns.links())

    @cached_property
    def columns(self) -> LinkColumns:
        """The links by columns, in the same order."""
        return LinkColumns.of(self.links)

    def __eq__(self, other: object) -> bool:
        """Whether names, nodes, links and shared capacities are equal."""
        if self is other:
            return True
        if type(other) is not type(self):
            return NotImplemented
        return (self.name, self.nodes, self.shared) == (
            other.name,
            other.nodes,
            other.shared,
        ) and self.columns == other.columns

    def __hash__(self) -> int:
        """Hash the name and the numbers of nodes and links, as hashing all links is slow."""
        return hash((self.name, len(self.nodes), self.num_links))

    def _checked_groups(self) -> tuple[SharedCapacity, ...]:
        if not self.shared:
            return ()
        return checked(self.shared, self.columns.pairs(), [node.name for node in self.nodes])

    def _check_names(self) -> None:
        _check_name(self.name, "the topology")
        if self._has_right_names():
            return
        seen: set[str] = set()
        for position, node in enumerate(self.nodes):
            _check_name(node.name, f"node {position}")
            if node.name in seen:
                raise InvalidTopologyError(f"two nodes are named {node.name!r}; rename one")
            for mark in ("multicast", "stores"):
                if getattr(node, mark) and node.kind is not NodeKind.SWITCH:
                    raise InvalidTopologyError(
                        f"{node.kind} node {node.name!r} is marked {mark}, which only a switch "
                        f"can be"
                    )
            seen.add(node.name)

    def _has_right_names(self) -> bool:
        """Whether names and marks are right; a quick check of all nodes at once."""
        names = self.node_names
        return (
            all(names)
            and all(map(str.isprintable, names))
            and list(map(str.strip, names)) == names
            and len(set(names)) == len(names)
            and {node.kind for node in self.nodes if node.multicast or node.stores}
            <= {NodeKind.SWITCH}
        )

    def _in_order(self, links: tuple[Link, ...]) -> tuple[LinkColumns, tuple[Link, ...]]:
        """Check links, merge parallel ones, and return them in order, in both forms.

        The order by (tail, head) is an invariant: binary searches, the native arrays and equality
        of topologies rely on it.
        """
        if not self._are_usual(links):
            links = tuple(map(self._checked, links))
        columns = LinkColumns.of(links)
        self._check_columns(columns)
        order = columns.order()
        merged = columns.take(order).merged()
        if len(merged) < len(links):
            return merged, merged.links()
        return merged, tuple([links[i] for i in order.tolist()])

    def _are_usual(self, links: Sequence[Link]) -> bool:
        """Whether columns can hold links as they are, though some may be wrong."""
        if not set(map(type, links)) <= {Link}:
            return False
        bandwidths = {id(link.bandwidth_gb_s): link.bandwidth_gb_s for link in links}
        latencies = {id(link.latency_us): link.latency_us for link in links}
        known = range(len(self.nodes))
        return (
            all(map(is_usual, (*bandwidths.values(), *latencies.values())))
            and all(link.tail in known for link in links)
            and all(link.head in known for link in links)
        )

    def _check_columns(self, columns: LinkColumns) -> None:
        """Raise for the first link that is wrong, if any is."""
        tail, head = columns.tail, columns.head
        right = np.array([_are_right(*numbers) for numbers in columns.kinds], dtype=bool)
        ends = (tail != head) & (np.minimum(tail, head) >= 0)
        ends &= np.maximum(tail, head) < len(self.nodes)
        for place in np.flatnonzero(~(ends & right[columns.kind])).tolist():
            self._checked(
                Link(int(tail[place]), int(head[place]), *columns.kinds[columns.kind[place]])
            )

    def _checked(self, link: Link) -> Link:
        for end in (link.tail, link.head):
            if not 0 <= end < len(self.nodes):
                raise InvalidTopologyError(
                    f"a link names node {end}, but the nodes are 0 to {len(self.nodes) - 1}"
                )
        where = f"link {self.nodes[link.tail].name} -> {self.nodes[link.head].name}"
        if link.tail == link.head:
            raise InvalidTopologyError(f"{where} joins a node to itself; remove it")
        bandwidth = exact(link.bandwidth_gb_s, f"{where}: bandwidth")
        latency = exact(link.latency_us, f"{where}: latency")
        if bandwidth.numerator <= 0:
            raise InvalidTopologyError(
                f"{where}: bandwidth is {bandwidth} GB/s; it must be positive "
                f"(leave a dead link out)"
            )
        if latency.numerator < 0:
            raise InvalidTopologyError(f"{where}: latency is {latency} us; it cannot be negative")
        return Link(link.tail, link.head, bandwidth, latency)

    @cached_property
    def compute(self) -> tuple[int, ...]:
        """Positions of the compute nodes, in order; a GPU's place in here is its rank."""
        return self._positions(forwards_only=False)

    @cached_property
    def switches(self) -> tuple[int, ...]:
        """Positions of the nodes that only forward, switches and relays, in order."""
        return self._positions(forwards_only=True)

    def _positions(self, *, forwards_only: bool) -> tuple[int, ...]:
        # Kinds are compared here: a call of Node.is_switch a node takes three times as long.
        gpu = NodeKind.COMPUTE
        return tuple(
            [i for i, node in enumerate(self.nodes) if (node.kind is not gpu) is forwards_only]
        )

    @cached_property
    def ends(self) -> tuple[int, ...]:
        """Positions of all nodes, GPUs by rank first: numbers of the ends of a transfer."""
        return self.compute + self.switches

    @property
    def node_names(self) -> list[str]:
        """Names of the nodes, by position."""
        return [node.name for node in self.nodes]

    @property
    def num_compute(self) -> int:
        """Number of compute nodes, the papers' N."""
        return len(self.compute)

    @cached_property
    def rank_of(self) -> Mapping[int, int]:
        """Rank of a compute node by its position."""
        return {node: rank for rank, node in enumerate(self.compute)}

    @cached_property
    def position_of(self) -> Mapping[str, int]:
        """Position of a node by its name."""
        return {node.name: i for i, node in enumerate(self.nodes)}

    @cached_property
    def link_between(self) -> Mapping[tuple[int, int], Link]:
        """The link from one position to another, where there is one."""
        return {(link.tail, link.head): link for link in self.links}

    @cached_property
    def shared_places(self) -> tuple[tuple[tuple[int, ...], Fraction], ...]:
        """The shared capacities: places of their links in ``links``, and their bandwidth."""
        if not self.shared:
            return ()
        ends = zip(*(end.tolist() for end in self.link_ends), strict=True)
        place = {pair: i for i, pair in enumerate(ends)}
        return tuple(
            (tuple(place[ends] for ends in group.links), group.bandwidth_gb_s)
            for group in self.shared
        )

    @property
    def num_links(self) -> int:
        """Number of links, each direction counted."""
        return len(self.columns)

    @property
    def link_ends(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """Positions of the tails and of the heads of all links."""
        return self.columns.tail, self.columns.head

    @cached_property
    def ingress_gb_s(self) -> tuple[Fraction, ...]:
        """Total bandwidth into each node."""
        return self._totals(self.columns.head)

    @cached_property
    def egress_gb_s(self) -> tuple[Fraction, ...]:
        """Total bandwidth out of each node."""
        return self._totals(self.columns.tail)

    def _totals(self, ends: npt.NDArray[np.int32]) -> tuple[Fraction, ...]:
        """Sum the bandwidths of the links at each node, in whole numbers until the end."""
        denominator, whole = self.whole_bandwidths
        total = [0] * len(self.nodes)
        for end, bandwidth in zip(ends.tolist(), whole, strict=True):
            total[end] += bandwidth
        return tuple(Fraction(amount, denominator) for amount in total)

    @cached_property
    def whole_bandwidths(self) -> tuple[int, list[int]]:
        """The common denominator of the bandwidths, and each bandwidth times it, of any size."""
        denominator, whole = self.columns.whole_bandwidths()
        return denominator, [whole[kind] for kind in self.columns.kind.tolist()]

    @cached_property
    def integer_capacities(self) -> IntegerCapacities:
        """The links scaled to whole numbers.

        Raises
        ------
        CapacityOverflowError
            If the scaled bandwidths do not fit 62 bits in sum.
        """
        columns = self.columns
        denominator, whole = columns.whole_bandwidths()
        counts = np.bincount(columns.kind, minlength=len(whole)).tolist()
        # The sum of all capacities bounds every cut and flow, so the core's 64-bit sums are safe.
        total = sum(count * one for count, one in zip(counts, whole, strict=True))
        if total >= 2**62:
            raise CapacityOverflowError(
                f"{self.name}: in whole numbers the bandwidths add up to {total:.3g} (their "
                f"common denominator is {denominator:.3g}), beyond exact 64-bit arithmetic; round "
                f"them to fewer digits or use a larger unit"
            )
        return IntegerCapacities(
            tail=columns.tail,
            head=columns.head,
            capacity=np.array(whole, dtype=np.int64)[columns.kind],
            denominator=denominator,
        )

    def reversed(self) -> Self:
        """Return the network with every link reversed."""
        return self._reversed

    @cached_property
    def reversed_places(self) -> npt.NDArray[np.int64]:
        """The place here of each link of the reversed network.

        Where that is the same network, this is the place of the reverse of each link.
        """
        return np.lexsort(self.link_ends)

    @cached_property
    def _reversed(self) -> Self:
        """The reversed network: cached, and not checked again, as every reduction needs it."""
        # Reversal changes the order of the links: place i here is not place i there.
        return self._of(
            name=self.name,
            nodes=self.nodes,
            columns=self.columns.reversed(),
            shared=reversed_groups(self.shared),
        )

    def like(
        self,
        name: str,
        nodes: tuple[Node, ...],
        links: tuple[Link, ...] | LinkColumns,
        *,
        shared: tuple[SharedCapacity, ...],
    ) -> Self:
        """Return a network made of parts of this one, without checks.

        The caller guarantees: the nodes are some of these; the links are sorted, not parallel, and
        of positive bandwidth; shared capacities hold only links of the result.
        """
        form = "columns" if isinstance(links, LinkColumns) else "links"
        return self._of(name=name, nodes=nodes, shared=shared, **{form: links})

    def relabelled(self, order: Iterable[int]) -> Self:
        """Return the same network with its nodes in another order.

        ``order[i]`` is the present position of the node that moves to i.
        """
        order = tuple(order)
        if sorted(order) != list(range(len(self.nodes))):
            raise InvalidTopologyError("relabelling needs every node exactly once")
        place = np.argsort(order).astype(np.int32)  # the inverse of the order
        old = self.columns
        columns = replace(old, tail=place[old.tail], head=place[old.head])
        shared = moved(self.shared, dict(enumerate(place.tolist())))
        return self.of_columns(self.name, [self.nodes[i] for i in order], columns, shared)


def _are_right(bandwidth: Fraction, latency: Fraction) -> bool:
    """Whether numbers of a link certainly pass the check of a link unchanged."""
    return (
        is_usual(bandwidth)
        and bandwidth.numerator > 0
        and is_usual(latency)
        and latency.numerator >= 0
    )


def _check_name(name: str, what: str) -> None:
    """Refuse names that would break one-line messages and files: unprintable or padded ones."""
    if not name:
        raise InvalidTopologyError(f"{what} has an empty name; give it one")
    if not name.isprintable() or name != name.strip():
        raise InvalidTopologyError(
            f"{what} is named {name!r}; use printable characters, no spaces at the ends"
        )
