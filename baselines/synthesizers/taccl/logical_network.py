"""The logical network of a sketch: links between GPUs, and the ports that they share.

Problem: which GPU may send to which at what cost, so that the physical network can always carry it.
Output:  logical links with their paths, latency and time per chunk; ports, which are sets of links
         that transmit one at a time.
Cost:    a path for every pair of GPUs that the sketch joins.
Source:  Shah et al., TACCL (NSDI 2023), section 3 (switch hyper-edges, relays) and the rules of its
         public code: a switch is a clique in which each GPU sends to one GPU and receives from one
         at a time. Between two boxes the links that use a NIC divide its bandwidth. With three
         boxes or more a GPU sends to one GPU of all other boxes at a time, and receives from one.

The public code divides a NIC by senders times receivers. Here each physical link is divided by the
number of logical links that can use it at once: the same on those networks, and valid on any other.
If common ticks of all links do not fit 64 bits, times are rounded up: by at most a millionth, or by
2^-36 of the largest time if costs are that far apart.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

from baselines.building.ticks import common_part
from baselines.networks.boxes import gpus_by_box
from baselines.networks.switch_free import latency_us
from baselines.networks.switch_paths import Router
from baselines.synthesizers.taccl.sketch import Connections, Sketch
from forestcoll.errors import InvalidParameterError, UnsupportedError
from forestcoll.topology.model import Topology

__all__ = ["LogicalLink", "LogicalNetwork", "Port", "equal_boxes"]

_MOST_TICKS = 1 << 36
"""Limit for one transfer, so that sums of many fit 64 bits."""

_FINE = 10**6

_DIRECT, _SWITCH, _REMOTE = "direct", "switch", "remote"


@dataclass(frozen=True, slots=True)
class LogicalLink:
    """A link from one GPU to another, by place: box times GPUs of a box plus number in the box.

    Parameters
    ----------
    busy_us : Fraction
        Time for which a chunk occupies the link.
    remote : bool
        Whether it leads to another box.
    plane : int
        Number among parallel switches with the same GPUs.
    paths : tuple of tuples of int
        The nodes of each physical path; several paths share the data evenly.
    """

    tail: int
    head: int
    latency_us: Fraction
    busy_us: Fraction
    remote: bool
    plane: int
    paths: tuple[tuple[int, ...], ...]

    @property
    def cost_us(self) -> Fraction:
        """Time from the start of a chunk to its arrival."""
        return self.latency_us + self.busy_us


@dataclass(frozen=True, slots=True)
class Port:
    """Links of one GPU, outgoing or incoming, of which one at a time transmits."""

    place: int
    out: bool
    links: tuple[int, ...]


@dataclass(frozen=True)
class LogicalNetwork:
    """GPUs by place, links and ports.

    Parameters
    ----------
    boxes, size : int
        Number of boxes, and of GPUs in each.
    ranks : tuple of int
        The rank of each GPU by place.
    """

    topology: Topology
    boxes: int
    size: int
    ranks: tuple[int, ...]
    links: tuple[LogicalLink, ...]
    ports: tuple[Port, ...]

    @property
    def gpus(self) -> int:
        """Number of GPUs."""
        return self.boxes * self.size

    def box(self, place: int) -> int:
        """Return the box of a GPU."""
        return place // self.size

    def name(self, place: int) -> str:
        """Return the name of a GPU in the topology."""
        return self.topology.nodes[self.topology.compute[self.ranks[place]]].name

    @cached_property
    def tick_us(self) -> Fraction:
        """The largest time of which all latencies and times for a chunk are multiples."""
        return common_part([*(u.busy_us for u in self.links), *(u.latency_us for u in self.links)])

    @cached_property
    def latency(self) -> tuple[int, ...]:
        """The latency of each link, in ticks."""
        return tuple(int(link.latency_us / self.tick_us) for link in self.links)

    @cached_property
    def busy(self) -> tuple[int, ...]:
        """The time for which a chunk occupies each link, in ticks."""
        return tuple(int(link.busy_us / self.tick_us) for link in self.links)

    @cached_property
    def into(self) -> tuple[tuple[int, ...], ...]:
        """The links into each GPU."""
        return self._by(link.head for link in self.links)

    @cached_property
    def out(self) -> tuple[tuple[int, ...], ...]:
        """The links out of each GPU."""
        return self._by(link.tail for link in self.links)

    def _by(self, places: Iterable[int]) -> tuple[tuple[int, ...], ...]:
        found: list[list[int]] = [[] for _ in range(self.gpus)]
        for number, place in enumerate(places):
            found[place].append(number)
        return tuple(map(tuple, found))

    @classmethod
    def of(
        cls, topology: Topology, sketch: Sketch, chunk_kb: Fraction, *, exact: bool = False
    ) -> LogicalNetwork:
        """Derive the links that a sketch allows.

        Parameters
        ----------
        chunk_kb : Fraction
            Size of a chunk in 1000 bytes: a link of 1 GB/s carries this unit in a microsecond.
        exact : bool
            Whether costs are never rounded, for comparisons of links; times may exceed 64 bits
            then.

        Raises
        ------
        InvalidParameterError
            If the sketch is for another number of boxes, or names an unknown GPU or link.
        UnsupportedError
            If boxes differ in their number of GPUs.
        """
        boxes = equal_boxes(topology)
        size = len(boxes[0])
        if len(boxes) not in sketch.boxes:
            allowed = " or ".join(map(str, sketch.boxes))
            raise InvalidParameterError(
                f"{sketch.source}: nnodes is {allowed}, but {topology.name} has {len(boxes)}; take "
                f"a sketch for so many boxes"
            )
        gpus = tuple(gpu for box in boxes for gpu in box)
        ways = _Ways(topology, sketch, len(boxes), size, gpus)
        drafts = [*ways.direct(), *ways.switched(), *ways.remote()]
        rates = _rates(drafts, topology, size, exclusive=len(boxes) > 2)
        latencies = [max(latency_us(topology, path) for path in draft.paths) for draft in drafts]
        times = [*zip(latencies, (chunk_kb / rate for rate in rates), strict=True)]
        times = times if exact else _coarse(times)
        links = tuple(
            LogicalLink(
                *(draft.tail, draft.head, latency, busy),
                remote=draft.kind == _REMOTE,
                plane=draft.plane,
                paths=draft.paths,
            )
            for draft, (latency, busy) in zip(drafts, times, strict=True)
        )
        ranks = tuple(topology.rank_of[gpu] for gpu in gpus)
        ports = _ports(drafts, remote=len(boxes) > 2)
        return cls(topology, len(boxes), size, ranks, links, ports)


def equal_boxes(topology: Topology) -> list[list[int]]:
    """Return the GPUs of each box.

    Raises
    ------
    UnsupportedError
        If boxes differ in their number of GPUs.
    """
    boxes = gpus_by_box(topology)
    if len({len(box) for box in boxes}) > 1:
        raise UnsupportedError(
            f"unsupported: the boxes of {topology.name} differ in their number of GPUs; a sketch "
            f"of taccl is for equal ones"
        )
    return boxes


@dataclass(frozen=True, slots=True)
class _Draft:
    tail: int
    head: int
    kind: str
    group: int
    plane: int
    paths: tuple[tuple[int, ...], ...]


class _Ways:
    """The physical paths of the links that a sketch allows."""

    def __init__(
        self, topology: Topology, sketch: Sketch, boxes: int, size: int, gpus: tuple[int, ...]
    ) -> None:
        self.topology, self.sketch, self.boxes, self.size = topology, sketch, boxes, size
        self.gpus = gpus
        self.router = Router(topology)

    def direct(self) -> Iterable[_Draft]:
        """Yield the links between GPUs of a box, except those that a switch replaces."""
        switched = {(u, v) for one in self.sketch.switches for u in one for v in one}
        place = {gpu: i for i, gpu in enumerate(self.gpus)}
        for link in self.topology.links:
            tail, head = place.get(link.tail), place.get(link.head)
            if tail is None or head is None or tail // self.size != head // self.size:
                continue
            if (tail % self.size, head % self.size) not in switched:
                yield _Draft(tail, head, _DIRECT, 0, 0, ((link.tail, link.head),))

    def switched(self) -> Iterable[_Draft]:
        planes: dict[tuple[int, ...], int] = {}
        for group, gpus in enumerate(self.sketch.switches):
            self._check("switches", gpus)
            plane = planes[gpus] = planes.get(gpus, -1) + 1
            for box in range(self.boxes):
                for u in gpus:
                    for v in gpus:
                        if u != v:
                            ends = box * self.size + u, box * self.size + v
                            paths = self._paths(*ends, "switches")
                            yield _Draft(*ends, _SWITCH, group, plane, paths)

    def remote(self) -> Iterable[_Draft]:
        if self.boxes == 1:
            return
        connections = self._connections()
        for sender, sources in self.sketch.sources.items():
            self._check("gpus_to_sender_rev_map", (sender, *sources))
            if sender not in connections:
                raise self._fault(
                    f"gpus_to_sender_rev_map has sender {sender}, which internode_conn does not "
                    f"let send; leave it out"
                )
        self._check_all_sent()
        for sender, receivers in connections.items():
            self._check("internode_conn", (sender, *receivers))
            for a in range(self.boxes):
                for b in range(self.boxes):
                    if a != b:
                        for receiver in receivers:
                            ends = a * self.size + sender, b * self.size + receiver
                            paths = self._paths(*ends, "internode_conn")
                            yield _Draft(*ends, _REMOTE, 0, 0, paths)

    def _check_all_sent(self) -> None:
        sent = {gpu for sources in self.sketch.sources.values() for gpu in sources}
        left = ", ".join(str(gpu) for gpu in range(self.size) if gpu not in sent)
        if sent and left:
            raise self._fault(
                f"gpus_to_sender_rev_map has no sender for GPUs {left} of a box; put each of them "
                f"into the list of one, or leave the field out"
            )

    def _connections(self) -> Connections:
        each = range(self.size)
        if self.sketch.pattern == "direct-map":
            return {gpu: (gpu,) for gpu in each}
        if self.sketch.pattern == "fully-connected":
            return {gpu: tuple(each) for gpu in each}
        return self.sketch.connections

    def _paths(self, tail: int, head: int, name: str) -> tuple[tuple[int, ...], ...]:
        try:
            return self.router.paths(self.gpus[tail], self.gpus[head])
        except UnsupportedError as error:
            raise self._fault(
                f"{name} joins two GPUs that no link and no switch joins: {error}; name others, or "
                f"take another sketch"
            ) from None

    def _check(self, name: str, gpus: Iterable[int]) -> None:
        for gpu in gpus:
            if gpu >= self.size:
                raise self._fault(
                    f"{name} names GPU {gpu}, but boxes of {self.topology.name} have GPUs 0 to "
                    f"{self.size - 1}; name one of these"
                )

    def _fault(self, problem: str) -> InvalidParameterError:
        return InvalidParameterError(f"{self.sketch.source}: {problem}")


def _rates(
    drafts: list[_Draft], topology: Topology, size: int, *, exclusive: bool
) -> list[Fraction]:
    """Return the bandwidth in GB/s that each link has, whatever the others transmit."""
    users: dict[tuple[int, int], list[tuple[_Draft, Fraction]]] = {}
    shares = []
    for draft in drafts:
        share: dict[tuple[int, int], Fraction] = {}
        for path in draft.paths:
            for hop in pairwise(path):
                share[hop] = share.get(hop, Fraction(0)) + Fraction(1, len(draft.paths))
        shares.append(share)
        for hop, part in share.items():
            users.setdefault(hop, []).append((draft, part))
    divisor = {hop: _at_once(uses, size, exclusive) for hop, uses in users.items()}
    return [
        min(topology.link_between[hop].bandwidth_gb_s / divisor[hop] for hop in share)
        for share in shares
    ]


def _at_once(uses: list[tuple[_Draft, Fraction]], size: int, exclusive: bool) -> Fraction:
    """Return the largest sum of shares of logical links that use a physical link at once."""
    total = sum((part for draft, part in uses if draft.kind == _DIRECT), Fraction(0))
    switches: dict[tuple[int, int], list[tuple[_Draft, Fraction]]] = {}
    remote: list[tuple[_Draft, Fraction]] = []
    for draft, part in uses:
        if draft.kind == _SWITCH:
            switches.setdefault((draft.group, draft.tail // size), []).append((draft, part))
        elif draft.kind == _REMOTE:
            remote.append((draft, part))
    # In a switch hyper-edge each GPU sends to one and receives from one: a matching.
    total += sum((_matched(some) for some in switches.values()), Fraction(0))
    if not remote:
        return total
    if not exclusive:
        return total + sum((part for _, part in remote), Fraction(0))
    pairs: dict[tuple[int, int], Fraction] = {}
    for draft, part in remote:
        pair = draft.tail // size, draft.head // size
        pairs[pair] = pairs.get(pair, Fraction(0)) + part
    # Public code: all links between two boxes divide a NIC, even if ports allow fewer at once.
    return total + max(_matched(remote), *pairs.values())


def _matched(uses: list[tuple[_Draft, Fraction]]) -> Fraction:
    """Return the largest weight if each GPU sends to one and receives from one at a time."""
    tails: dict[int, Fraction] = {}
    heads: dict[int, Fraction] = {}
    for draft, part in uses:
        tails[draft.tail] = max(tails.get(draft.tail, Fraction(0)), part)
        heads[draft.head] = max(heads.get(draft.head, Fraction(0)), part)
    return min(sum(tails.values(), Fraction(0)), sum(heads.values(), Fraction(0)))


def _coarse(times: list[tuple[Fraction, Fraction]]) -> list[tuple[Fraction, Fraction]]:
    """Round times up if common ticks would not fit 64 bits.

    The tick is a millionth of the least time, or more if the largest time would exceed
    ``_MOST_TICKS``.
    """
    every = [time for pair in times for time in pair if time]
    if not every or max(every) / common_part(every) < _MOST_TICKS:
        return times
    tick = max(min(every) / _FINE, max(every) / _MOST_TICKS)
    return [(-(-a // tick) * tick, -(-b // tick) * tick) for a, b in times]


def _ports(drafts: list[_Draft], *, remote: bool) -> tuple[Port, ...]:
    """Return the ports of each GPU at each switch and, with three boxes or more, to other boxes."""
    found: dict[tuple[str, int, bool, int], list[int]] = {}
    for number, draft in enumerate(drafts):
        if draft.kind == _SWITCH or (draft.kind == _REMOTE and remote):
            for out, place in ((True, draft.tail), (False, draft.head)):
                found.setdefault((draft.kind, draft.group, out, place), []).append(number)
    return tuple(
        Port(place, out, tuple(links))
        for (_, _, out, place), links in sorted(found.items(), key=lambda item: item[0])
    )
