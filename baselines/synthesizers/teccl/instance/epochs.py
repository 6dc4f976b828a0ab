"""TE-CCL's view of a network: epochs, link capacities an epoch, switch models and limited buffers.

Problem: in whole epochs, how long a chunk occupies a link, when it arrives, and how many chunks a
         link carries.
Output:  arcs, and groups of arcs that share a capacity, in whole numbers.
Cost:    linear; with hyper-edges a product for each switch.
Source:  Liu et al., TE-CCL (SIGCOMM 2024), sections 3.1 and 5, appendices B, C and F. A chunk sent
         in epoch k occupies its link for kappa = ceil(1 / (T tau)) epochs. With latency alpha it
         has arrived by the end of epoch k + kappa - 1 + ceil(alpha / tau). The text omits the last
         term; the public code has it.

Rules for crossing a switch (``CROSSINGS``); every figure must name its rule:

- "stored": as in the paper; each hop is a transmission, every latency counts.
- "rounded": latencies of at most a tenth of an epoch count as 0.
- "through": also, a switch passes on a chunk while it arrives, so the path through it takes one
  transmission; as in the public code and the paper's figures.

The paper prints hyper-edges (appendix C) without a latency; here they have that of both links. In
the public code a chunk may leave on a slower link without delay; here it arrives when the slower
link is done.

Limited buffers (appendix B): with X for removed chunks, B[k] = B[k-1] - X[k-1] + arrivals, and the
sum of B over all chunks is at most L at every node in every epoch. Read literally:

- Every chunk in B takes a slot, at GPUs and at switches that store, including a GPU's own chunks.
  It has these in the first epoch, and may drop them and receive them again.
- A GPU reads a chunk that it needs on arrival, with or without a slot (R, not B). To send it on, it
  needs a slot.
- A dropped chunk may arrive again, and be sent again.
- "passing", the printed rule: a chunk is sent in epoch k if it was in the buffer in epoch k - 1 or
  arrives by its end, even if it is dropped then. What is sent on at once takes no slot.
- "kept": a chunk is sent in epoch k only if it is in the buffer in epoch k.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from baselines.networks.switch_free import latency_us
from baselines.synthesizers.teccl.instance.hyper_edges import without_switches
from baselines.synthesizers.teccl.instance.slowdowns import Slowdown, limits_of
from forestcoll.errors import DisconnectedError
from forestcoll.topology.model import Node, Topology

__all__ = [
    "BUFFERING", "CROSSINGS", "EPOCHS", "SWITCHES", "Arc", "Buffers", "EpochNetwork", "Group",
    "epoch_us",
]  # fmt: skip

BUFFERING = ("passing", "kept")
"""Rules for the chunks that a node with limited buffers may send."""


@dataclass(frozen=True, slots=True)
class Buffers:
    """Limit on the chunks that every node with a buffer can hold.

    Parameters
    ----------
    slots : int
        L, in chunks.
    kept : bool
        Whether a chunk that is sent in an epoch needs a slot in it.
    again : bool
        Whether a dropped chunk may arrive again, as in the paper.
    """

    slots: int
    kept: bool = False
    again: bool = True


CROSSINGS = ("through", "rounded", "stored")
"""Rules for crossing a switch."""

SWITCHES = ("nodes", "hyper-edges")
"""Models of switches: nodes without buffers, or links between all neighbours."""

EPOCHS = ("fastest", "slowest")
"""The link on which a chunk takes one epoch."""

_NEGLIGIBLE = Fraction(1, 10)  # of an epoch; a latency, where small ones are dropped
_LATENCIES_RULE = 200  # epochs in a latency, beyond which epochs are made longer
_LONGER = 5  # times


@dataclass(frozen=True, slots=True)
class Arc:
    """A path for chunks between two ends.

    Parameters
    ----------
    path : tuple of int
        The ends on it, from the tail to the head.
    busy : int
        kappa: the epochs for which a chunk occupies it.
    lag : int
        Epochs from then until the chunk has arrived.
    offset : int
        Epochs from the arrival at the tail to the departure: the least at GPUs and switches that
        store, the only one at other switches.
    dropped_us : Fraction
        Latency that does not count.
    """

    path: tuple[int, ...]
    busy: int
    lag: int
    offset: int
    dropped_us: Fraction

    @property
    def tail(self) -> int:
        """The sender."""
        return self.path[0]

    @property
    def head(self) -> int:
        """The receiver."""
        return self.path[-1]

    @property
    def span(self) -> int:
        """Epochs from the one in which a chunk is sent to the one at whose end it has arrived."""
        return self.busy - 1 + self.lag


@dataclass(frozen=True, slots=True)
class Group:
    """Arcs that carry at most ``capacity`` chunks together in any ``window`` consecutive epochs.

    ``slowed`` lists epochs from which a window carries fewer chunks, and how many.
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
    epoch_us : Fraction
        tau.
    groups : tuple of Group
        Every arc is in at least one.
    buffers : Buffers, optional
        Limits of buffers, if any.
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
        """Whether a node keeps chunks: a GPU, or a switch that stores and copies."""
        at = self.topology.nodes[self.topology.ends[node]]
        return node < self.topology.num_compute or (at.stores and at.multicast)

    def copies(self, node: int) -> bool:
        """Whether a switch may send a chunk to several nodes."""
        return self.topology.nodes[self.topology.ends[node]].multicast

    def out_of(self) -> tuple[tuple[int, ...], ...]:
        """Return the arcs out of each node."""
        return _lists(self.nodes, [arc.tail for arc in self.arcs])

    def into(self) -> tuple[tuple[int, ...], ...]:
        """Return the arcs into each node."""
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
        chunk_kb : Fraction
            Size of a chunk, in 1000 bytes.
        epoch : Fraction
            tau, in microseconds.
        crossing, switches : str
            Of ``CROSSINGS`` and ``SWITCHES``.

        Raises
        ------
        UnsupportedError
            If a hyper-edge would pass several switches, or links of two bandwidths.
        """
        if switches == "hyper-edges":
            ways, sharing = without_switches(topology)
        else:
            place = {node: end for end, node in enumerate(topology.ends)}
            ways = [((place[e.tail], place[e.head]), i) for i, e in enumerate(topology.links)]
            sharing = {i: [i] for i in range(len(ways))}
        per_epoch = [e.bandwidth_gb_s * epoch / chunk_kb for e in topology.links]
        busy = tuple(max(1, math.ceil(1 / each)) for each in per_epoch)
        rounded = _Rounded(topology, epoch, crossing, busy)
        arcs = tuple(rounded.arc(path, link) for path, link in ways)
        groups = []
        for link, members in sharing.items():
            window = max(arcs[i].busy for i in members)
            # Appendix F: any kappa epochs carry kappa T tau chunks, rounded down to whole ones.
            capacity = math.floor(window * per_epoch[link])
            slowed = limits_of(link, slowdowns, per_epoch[link], window)
            groups.append(Group(tuple(members), window, capacity, slowed))
        return cls(topology, epoch, arcs, tuple(groups), buffers)


def epoch_us(topology: Topology, chunk_kb: Fraction, which: str) -> Fraction:
    """Return the time of a chunk on the fastest or slowest link, in microseconds.

    Five times that if some latency is more than 200 times as long (section 5).

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


@dataclass(frozen=True, slots=True)
class _Rounded:
    """Conversion of links to arcs; ``busy`` is by link."""

    topology: Topology
    epoch: Fraction
    crossing: str
    busy: tuple[int, ...]

    def arc(self, path: tuple[int, ...], link: int) -> Arc:
        """Make the arc of a path, given one of its links, all of one bandwidth."""
        latency = latency_us(self.topology, (self.topology.ends[v] for v in path))
        dropped = self.crossing != "stored" and latency <= _NEGLIGIBLE * self.epoch
        return Arc(
            path=path,
            busy=self.busy[link],
            lag=0 if dropped else math.ceil(latency / self.epoch),
            offset=self._offset(path, self.busy[link]),
            dropped_us=latency if dropped else Fraction(0),
        )

    def _offset(self, path: tuple[int, ...], busy: int) -> int:
        """Return the least offset for which even the slowest arrival is complete.

        From a switch that multicasts to another it is an epoch more. If copies left at once, two
        such switches could receive a chunk from each other that nobody sent.
        """
        tail, head = path[0], path[-1]
        if self.crossing != "through" or self._stores(tail):
            return 1
        if self._node(tail).multicast and not self._stores(head):
            return 1
        links = enumerate(self.topology.links)
        ends = self.topology.ends
        return 1 - min([busy, *(self.busy[i] for i, link in links if link.head == ends[tail])])

    def _stores(self, end: int) -> bool:
        node = self._node(end)
        return end < self.topology.num_compute or (node.stores and node.multicast)

    def _node(self, end: int) -> Node:
        return self.topology.nodes[self.topology.ends[end]]
