"""TE-CCL's view of a network: epochs, link capacities an epoch, and switch models.

Problem: say in whole epochs how long a chunk keeps a link busy, when it arrives, and how many
         chunks a link takes.
Input:   a topology with bandwidths and latencies; the size of a chunk; how long an epoch is; the
         rule for crossing switches.
Output:  arcs and groups of arcs that share a capacity, in whole numbers.
Cost:    linear; with hyper-edges a product for each switch.
Source:  Liu et al., TE-CCL (SIGCOMM 2024), sections 3.1 and 5, appendices C and F. Sent in epoch k,
         a chunk keeps its link busy for kappa = ceil(1 / (T tau)) epochs, and with alpha it has
         arrived by the end of epoch k + kappa - 1 + ceil(alpha / tau). The last term is what the
         text leaves out where it says "as for alpha"; the public code has it.

Rules for crossing (``CROSSINGS``), of which every figure must say which it uses:

- "stored": as the paper writes it; each hop is a transmission, every latency counts.
- "rounded": latencies of a tenth of an epoch or less count as none.
- "through": these besides, and a switch passes on what is still coming in, so that the way through
  it takes one transmission; as in the public code and the paper's figures.

Hyper-edges (appendix C) are printed without a latency; here they have that of both links.

Where the public code lets what comes in fast leave on a slower link without waiting for it, we let
it arrive when the slower link is done.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

from baselines.synthesizers.teccl.instance.hyper_edges import without_switches
from baselines.synthesizers.teccl.instance.slowdowns import Slowdown, limits_of
from forestcoll.errors import DisconnectedError
from forestcoll.topology.model import Node, Topology

__all__ = [
    "BUFFERING",
    "CROSSINGS",
    "EPOCHS",
    "SWITCHES",
    "Arc",
    "Buffers",
    "EpochNetwork",
    "Group",
    "epoch_us",
]

BUFFERING = ("passing", "kept")
"""From where chunks are sent."""


@dataclass(frozen=True, slots=True)
class Buffers:
    """What every node can hold that keeps what it gets.

    Parameters
    ----------
    slots : int
        L, in chunks.
    kept : bool
        Whether what is sent in an epoch must have a slot in it.
    again : bool
        Whether what a node has dropped may come again, as in the paper.
    """

    slots: int
    kept: bool = False
    again: bool = True


CROSSINGS = ("through", "rounded", "stored")
"""Rules for crossing a switch."""

SWITCHES = ("nodes", "hyper-edges")
"""What becomes of switches: nodes without buffers, or links between all that they join."""

EPOCHS = ("fastest", "slowest")
"""On which link a chunk takes an epoch."""

_NEGLIGIBLE = Fraction(1, 10)  # of an epoch; a latency, where small ones are dropped
_LATENCIES_RULE = 200  # epochs in a latency, beyond which epochs are made longer
_LONGER = 5  # times


@dataclass(frozen=True, slots=True)
class Arc:
    """A way for chunks from end to end.

    Parameters
    ----------
    path : tuple of int
        The ends that it leads over, the first its tail, the last its head.
    busy : int
        kappa: the epochs that a chunk takes to leave.
    lag : int
        Epochs from then until it has arrived.
    offset : int
        From the epoch at whose end a chunk has arrived at the tail to that in which it can be sent
        on; of GPUs and of switches that store the earliest, of others the only one.
    dropped_us : Fraction
        The latency that is not counted.
    """

    path: tuple[int, ...]
    busy: int
    lag: int
    offset: int
    dropped_us: Fraction

    @property
    def tail(self) -> int:
        """The end that sends."""
        return self.path[0]

    @property
    def head(self) -> int:
        """The end that receives."""
        return self.path[-1]

    @property
    def span(self) -> int:
        """From the epoch in which a chunk is sent to the one at whose end it has arrived."""
        return self.busy - 1 + self.lag


@dataclass(frozen=True, slots=True)
class Group:
    """Arcs that take ``capacity`` chunks together in any ``window`` epochs in a row.

    ``slowed`` has the epochs from which on the link is too slow for as many in a window, and for
    how many it is fast enough.
    """

    arcs: tuple[int, ...]
    window: int
    capacity: int
    slowed: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class EpochNetwork:
    """A topology in epochs; nodes are numbered as its ends.

    Parameters
    ----------
    topology : Topology
    epoch_us : Fraction
        tau.
    arcs : tuple of Arc
    groups : tuple of Group
        Every arc is in one at least.
    buffers : Buffers, optional
        What nodes can hold, if not everything.
    """

    topology: Topology = field(repr=False)
    epoch_us: Fraction
    arcs: tuple[Arc, ...] = field(repr=False)
    groups: tuple[Group, ...] = field(repr=False)
    buffers: Buffers | None = None

    @property
    def nodes(self) -> int:
        """Number of ends."""
        return len(self.topology.ends)

    def holds(self, node: int) -> bool:
        """Whether a node keeps what it gets: a GPU, or a switch that stores and copies."""
        at = self.topology.nodes[self.topology.ends[node]]
        return node < self.topology.num_compute or (at.stores and at.multicast)

    def copies(self, node: int) -> bool:
        """Whether a switch may send on to several."""
        return self.topology.nodes[self.topology.ends[node]].multicast

    def out_of(self) -> tuple[tuple[int, ...], ...]:
        """For each node the arcs that leave it."""
        return _lists(self.nodes, [arc.tail for arc in self.arcs])

    def into(self) -> tuple[tuple[int, ...], ...]:
        """For each node the arcs that lead to it."""
        return _lists(self.nodes, [arc.head for arc in self.arcs])

    @classmethod
    def of(
        cls,
        topology: Topology,
        chunk_kb: Fraction,
        epoch: Fraction,
        crossing: str = "through",
        switches: str = "nodes",
        slowdowns: Sequence[Slowdown] = (),
        buffers: Buffers | None = None,
    ) -> EpochNetwork:
        """Round a topology to epochs.

        Parameters
        ----------
        topology : Topology
        chunk_kb : Fraction
            Size of a chunk, in 1000 bytes.
        epoch : Fraction
            tau, in microseconds.
        crossing, switches : str
            Of ``CROSSINGS`` and ``SWITCHES``.
        slowdowns : sequence of Slowdown
        buffers : Buffers, optional

        Raises
        ------
        UnsupportedError
            If there is to be a hyper-edge through switches in a row, or of links of two bandwidths.
        """
        if switches == "hyper-edges":
            ways, sharing = without_switches(topology)
        else:
            place = {node: end for end, node in enumerate(topology.ends)}
            ways = [((place[e.tail], place[e.head]), i) for i, e in enumerate(topology.links)]
            sharing = {i: [i] for i in range(len(ways))}
        per_epoch = [e.bandwidth_gb_s * epoch / chunk_kb for e in topology.links]
        rounded = _Rounded(topology, epoch, crossing, tuple(map(_busy, per_epoch)))
        arcs = tuple(rounded.arc(path, link) for path, link in ways)
        groups = []
        for link, members in sharing.items():
            window = max(arcs[i].busy for i in members)
            capacity = math.floor(window * per_epoch[link])
            slowed = limits_of(link, slowdowns, per_epoch[link], window)
            groups.append(Group(tuple(members), window, capacity, slowed))
        return cls(topology, epoch, arcs, tuple(groups), buffers)


def epoch_us(topology: Topology, chunk_kb: Fraction, which: str) -> Fraction:
    """Return how long a chunk takes on the fastest or slowest link, in microseconds.

    Five times that if some latency is more than 200 of it (section 5).

    Raises
    ------
    DisconnectedError
        If there are no links.
    """
    if not topology.links:
        raise DisconnectedError(f"{topology.name} has no links; add some between its GPUs")
    times = [chunk_kb / link.bandwidth_gb_s for link in topology.links]
    epoch = min(times) if which == "fastest" else max(times)
    latency = max(link.latency_us for link in topology.links)
    return epoch * _LONGER if latency > _LATENCIES_RULE * epoch else epoch


def _lists(nodes: int, ends: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    lists: list[list[int]] = [[] for _ in range(nodes)]
    for i, end in enumerate(ends):
        lists[end].append(i)
    return tuple(map(tuple, lists))


def _busy(per_epoch: Fraction) -> int:
    return max(1, math.ceil(1 / per_epoch))


@dataclass(frozen=True, slots=True)
class _Rounded:
    """How links become arcs; ``busy`` is by link."""

    topology: Topology
    epoch: Fraction
    crossing: str
    busy: tuple[int, ...]

    def arc(self, path: tuple[int, ...], link: int) -> Arc:
        """Make the arc of a path, one of whose links, all of one bandwidth, is given."""
        ends = self.topology.ends
        hops = [self.topology.link_between[ends[a], ends[b]] for a, b in pairwise(path)]
        latency = sum((hop.latency_us for hop in hops), Fraction(0))
        dropped = self.crossing != "stored" and latency <= _NEGLIGIBLE * self.epoch
        return Arc(
            path=path,
            busy=self.busy[link],
            lag=0 if dropped else math.ceil(latency / self.epoch),
            offset=self._offset(path, self.busy[link]),
            dropped_us=latency if dropped else Fraction(0),
        )

    def _offset(self, path: tuple[int, ...], busy: int) -> int:
        """As late as the last of what comes in needs, and no later.

        From a switch that copies to another it is an epoch more: if copies went on at once, two
        such could have a chunk from each other that nobody sent.
        """
        tail, head = path[0], path[-1]
        if self.crossing != "through" or self._stores(tail):
            return 1
        if self._node(tail).multicast and not self._stores(head):
            return 1
        links = enumerate(self.topology.links)
        ends = self.topology.ends
        return 1 - min(busy, *(self.busy[i] for i, link in links if link.head == ends[tail]))

    def _stores(self, end: int) -> bool:
        node = self._node(end)
        return end < self.topology.num_compute or (node.stores and node.multicast)

    def _node(self, end: int) -> Node:
        return self.topology.nodes[self.topology.ends[end]]
