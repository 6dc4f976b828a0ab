"""The data of a network: compute nodes, switches, and directed links with bandwidths.

:class:`NetworkGraph` has the nodes and links with what follows from them. It is below the functions
that edit and describe a network. :class:`forestcoll.topology.model.Topology`, above them, offers
them as methods.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from typing import Self

import numpy as np
import numpy.typing as npt

from forestcoll.errors import CapacityOverflowError, InvalidTopologyError
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
class Link:
    """A directed link between two nodes, given by their positions in the topology.

    Parameters
    ----------
    tail, head : int
        Where the link leaves and where it enters.
    bandwidth_gb_s : Fraction
        In this direction, in GB/s (1e9 bytes per second); positive.
    latency_us : Fraction
        In microseconds; not negative. Outside the throughput model, used by simulations.
    """

    tail: int
    head: int
    bandwidth_gb_s: Fraction
    latency_us: Fraction = Fraction(0)


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

    Parameters and errors are documented there.
    """

    name: str
    nodes: tuple[Node, ...]
    links: tuple[Link, ...] = field(repr=False)
    shared: tuple[SharedCapacity, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "nodes", tuple(self.nodes))
        self._check_names()
        object.__setattr__(self, "links", self._merge(self.links))
        object.__setattr__(self, "shared", self._checked_groups())

    def __hash__(self) -> int:
        """Hash the name and the numbers of nodes and links, as hashing all links is slow."""
        return hash((self.name, len(self.nodes), len(self.links)))

    def _checked_groups(self) -> tuple[SharedCapacity, ...]:
        if not self.shared:
            return ()
        ends = {(link.tail, link.head) for link in self.links}
        return checked(self.shared, ends, [node.name for node in self.nodes])

    def _check_names(self) -> None:
        _check_name(self.name, "the topology")
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

    def _merge(self, links: Iterable[Link]) -> tuple[Link, ...]:
        links = tuple(links)  # keeps the numbers alive, whose identities are compared
        if (ordered := self._ordered(links)) is not None:
            return ordered
        merged: dict[tuple[int, int], Link] = {}
        right: set[tuple[int, int]] = set()
        for link in links:
            # Most links of a large network share few numbers, each pair of which is checked once.
            numbers = id(link.bandwidth_gb_s), id(link.latency_us)
            if numbers in right and self._has_right_ends(link):
                checked = link
            else:
                checked = self._checked(link)
                if checked is link:
                    right.add(numbers)
            known = merged.get((link.tail, link.head))
            if known is not None:
                checked = replace(
                    known,
                    bandwidth_gb_s=known.bandwidth_gb_s + checked.bandwidth_gb_s,
                    latency_us=max(known.latency_us, checked.latency_us),
                )
            merged[link.tail, link.head] = checked
        # The order by (tail, head) is an invariant: binary searches, the native arrays and equality
        # of topologies rely on it.
        return tuple(merged[key] for key in sorted(merged))

    def _ordered(self, links: tuple[Link, ...]) -> tuple[Link, ...] | None:
        """Return links in order, by columns; None if one may be wrong or parallel.

        The links of a large network are checked so in a third of the time.
        """
        if set(map(type, links)) != {Link}:
            return None
        tails, heads = ([getattr(link, end) for link in links] for end in ("tail", "head"))
        nodes = len(self.nodes)
        for ends in (tails, heads):
            if min(ends) < 0 or max(ends) >= nodes:
                return None
        bandwidths = {id(link.bandwidth_gb_s): link.bandwidth_gb_s for link in links}
        latencies = {id(link.latency_us): link.latency_us for link in links}
        if not all(is_usual(b) and b.numerator > 0 for b in bandwidths.values()):
            return None
        if not all(is_usual(latency) and latency.numerator >= 0 for latency in latencies.values()):
            return None
        tail, head = np.array(tails, dtype=np.int64), np.array(heads, dtype=np.int64)
        key = tail * nodes + head
        order = np.argsort(key, kind="stable")
        if (tail == head).any() or (np.diff(key[order]) == 0).any():
            return None
        return tuple([links[i] for i in order.tolist()])

    def _checked(self, link: Link) -> Link:
        if self._is_right(link):  # nearly all
            return link
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

    def _is_right(self, link: Link) -> bool:
        """Whether a link certainly passes the checks below unchanged."""
        return (
            self._has_right_ends(link)
            and is_usual(link.bandwidth_gb_s)
            and link.bandwidth_gb_s.numerator > 0
            and is_usual(link.latency_us)
            and link.latency_us.numerator >= 0
        )

    def _has_right_ends(self, link: Link) -> bool:
        nodes = len(self.nodes)
        return (
            type(link) is Link
            and 0 <= link.tail < nodes
            and 0 <= link.head < nodes
            and link.tail != link.head
        )

    @cached_property
    def compute(self) -> tuple[int, ...]:
        """Positions of the compute nodes, in order; a GPU's place in here is its rank."""
        return tuple(i for i, node in enumerate(self.nodes) if not node.is_switch)

    @cached_property
    def switches(self) -> tuple[int, ...]:
        """Positions of the nodes that only forward, switches and relays, in order."""
        return tuple(i for i, node in enumerate(self.nodes) if node.is_switch)

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
        place = {(link.tail, link.head): i for i, link in enumerate(self.links)}
        return tuple(
            (tuple(place[ends] for ends in group.links), group.bandwidth_gb_s)
            for group in self.shared
        )

    @cached_property
    def link_ends(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """Positions of the tails and of the heads of all links."""
        tail = np.array([link.tail for link in self.links], dtype=np.int32)
        return tail, np.array([link.head for link in self.links], dtype=np.int32)

    @cached_property
    def ingress_gb_s(self) -> tuple[Fraction, ...]:
        """Total bandwidth into each node."""
        return self._totals([link.head for link in self.links])

    @cached_property
    def egress_gb_s(self) -> tuple[Fraction, ...]:
        """Total bandwidth out of each node."""
        return self._totals([link.tail for link in self.links])

    def _totals(self, ends: Iterable[int]) -> tuple[Fraction, ...]:
        """Sum the bandwidths of the links at each node, in whole numbers until the end."""
        denominator, whole = self.whole_bandwidths
        total = [0] * len(self.nodes)
        for end, bandwidth in zip(ends, whole, strict=True):
            total[end] += bandwidth
        return tuple(Fraction(amount, denominator) for amount in total)

    @cached_property
    def whole_bandwidths(self) -> tuple[int, list[int]]:
        """The common denominator of the bandwidths, and each bandwidth times it, of any size."""
        # Links share few objects, so each is converted once; the links keep them alive.
        distinct = {id(link.bandwidth_gb_s): link.bandwidth_gb_s for link in self.links}
        denominator = math.lcm(*(bandwidth.denominator for bandwidth in distinct.values()))
        whole = {key: b.numerator * (denominator // b.denominator) for key, b in distinct.items()}
        return denominator, [whole[id(link.bandwidth_gb_s)] for link in self.links]

    @cached_property
    def integer_capacities(self) -> IntegerCapacities:
        """The links scaled to whole numbers.

        Raises
        ------
        CapacityOverflowError
            If the scaled bandwidths do not fit 62 bits in sum.
        """
        denominator, scaled = self.whole_bandwidths
        # The sum of all capacities bounds every cut and flow, so the core's 64-bit sums are safe.
        if sum(scaled) >= 2**62:
            raise CapacityOverflowError(
                f"{self.name}: in whole numbers the bandwidths add up to {sum(scaled):.3g} (their "
                f"common denominator is {denominator:.3g}), beyond exact 64-bit arithmetic; round "
                f"them to fewer digits or use a larger unit"
            )
        tail, head = self.link_ends
        return IntegerCapacities(
            tail=tail,
            head=head,
            capacity=np.array(scaled, dtype=np.int64),
            denominator=denominator,
        )

    def reversed(self) -> Self:
        """Return the network with every link reversed."""
        return self._reversed

    @cached_property
    def _reversed(self) -> Self:
        """The reversed network: cached, and not checked again, as every reduction needs it."""
        # Reversal changes the order of the links: place i here is not place i there. The order is
        # that of ``np.lexsort((tail, head))``, as in :meth:`IntegerCapacities.reversed`.
        links = sorted(self.links, key=lambda link: (link.head, link.tail))
        backward = (Link(e.head, e.tail, e.bandwidth_gb_s, e.latency_us) for e in links)
        return self.like(
            self.name, self.nodes, tuple(backward), shared=reversed_groups(self.shared)
        )

    def like(
        self,
        name: str,
        nodes: tuple[Node, ...],
        links: tuple[Link, ...],
        *,
        shared: tuple[SharedCapacity, ...],
    ) -> Self:
        """Return a network made of parts of this one, without checks.

        The caller guarantees: the nodes are some of these; the links are sorted, not parallel, and
        of positive bandwidth; shared capacities hold only links of the result.
        """
        # Skips the checks of __init__: the caller guarantees the form, and they take long.
        made = object.__new__(type(self))
        object.__setattr__(made, "name", name)
        object.__setattr__(made, "nodes", nodes)
        object.__setattr__(made, "links", links)
        object.__setattr__(made, "shared", shared)
        return made

    def relabelled(self, order: Iterable[int]) -> Self:
        """Return the same network with its nodes in another order.

        ``order[i]`` is the present position of the node that moves to i.
        """
        order = tuple(order)
        if sorted(order) != list(range(len(self.nodes))):
            raise InvalidTopologyError("relabelling needs every node exactly once")
        place = {old: new for new, old in enumerate(order)}
        links = (replace(e, tail=place[e.tail], head=place[e.head]) for e in self.links)
        nodes = tuple(self.nodes[i] for i in order)
        return type(self)(self.name, nodes, tuple(links), moved(self.shared, place))


def _check_name(name: str, what: str) -> None:
    """Refuse names that would break one-line messages and files: unprintable or padded ones."""
    if not name:
        raise InvalidTopologyError(f"{what} has an empty name; give it one")
    if not name.isprintable() or name != name.strip():
        raise InvalidTopologyError(
            f"{what} is named {name!r}; use printable characters, no spaces at the ends"
        )
