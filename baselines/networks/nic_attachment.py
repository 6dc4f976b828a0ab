"""NIC attachment of each box: the GPUs that other boxes can reach, and those that reach others.

Problem: find the GPUs of a box with a path to the network, if NICs are dead or missing, and as many
         as possible that use the network at once, each over links of its own.
Output:  the attachments of every box, and the bandwidths of the links into it and out of it.
Cost:    one union of bit sets a box; the shortest paths of each GPU to one outside; a matching.
Source:  NCCL counts the NICs of every machine, and the machine with the fewest limits its channels.
         A GPU without a NIC sends through a neighbour with one (PXN). Every channel has a NIC and
         the nearest GPU. Matching by augmenting paths, in order.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, reduce
from itertools import pairwise
from operator import or_

from baselines.networks.switch_paths import Router

__all__ = ["MOST_LANES", "NicAttachment", "find_nic_attachments", "ring_counts", "with_own_links"]

MOST_LANES = 4
"""Limit of rings per link of a box, where its links differ in bandwidth."""


@dataclass(frozen=True, slots=True)
class NicAttachment:
    """The GPUs and links by which data enters and leaves a box.

    Parameters
    ----------
    size : int
        GPUs in the box.
    ins, outs : tuple of int
        The GPUs, by position, that GPUs of other boxes can reach, and those that can reach them.
    own : tuple of int
        GPUs that do both over links of their own, which no other of these GPUs needs.
    widths_in, widths_out : tuple of Fraction
        The bandwidths of the links into the box and out of it, in GB/s, ascending.
    """

    size: int
    ins: tuple[int, ...]
    outs: tuple[int, ...]
    own: tuple[int, ...]
    widths_in: tuple[Fraction, ...]
    widths_out: tuple[Fraction, ...]

    @property
    def is_open(self) -> bool:
        """Whether every GPU is reachable and reaches other boxes, possibly over shared links."""
        return len(self.ins) == len(self.outs) == self.size

    @property
    def is_whole(self) -> bool:
        """Whether every GPU is reachable and reaches other boxes over links of its own."""
        return len(self.own) == self.size

    @property
    def lanes(self) -> int:
        """Links in and out; a link of several times the least bandwidth counts as so many.

        Bandwidths do not count if that gave more than ``MOST_LANES`` times the links.
        """
        ways = [
            [int(w / ways[0]) for w in ways] for ways in (self.widths_in, self.widths_out) if ways
        ]
        fewest = min(map(sum, ways), default=0)
        return fewest if fewest <= MOST_LANES * self.count else self.count

    def is_like(self, other: NicAttachment) -> bool:
        """Whether another box has equally many GPUs and links of the same bandwidths."""
        mine, others = (
            (attachments.size, attachments.widths_in, attachments.widths_out)
            for attachments in (self, other)
        )
        return mine == others

    @property
    def count(self) -> int:
        """Number of rings that can enter and leave without a common GPU or link."""
        return min(map(len, (self.ins, self.outs, self.widths_in, self.widths_out)))


def find_nic_attachments(
    router: Router, boxes: Sequence[Sequence[int]]
) -> tuple[NicAttachment, ...]:
    """Return the attachments of every box, in order."""
    return _found(router, tuple(map(tuple, boxes)))


@lru_cache(maxsize=2)  # several methods in a row ask for those of the same network
def _found(router: Router, boxes: tuple[tuple[int, ...], ...]) -> tuple[NicAttachment, ...]:
    inside = [_union(1 << router.bit_of[gpu] for gpu in box) for box in boxes]
    reached = {gpu: _union(router.reach[gpu]) for box in boxes for gpu in box}
    arrivals = _union(
        _union(reached[gpu] for gpu in box) & ~bits for box, bits in zip(boxes, inside, strict=True)
    )
    where = _box_of(router, boxes)
    widths = _widths(router, where, len(boxes))
    found = []
    for box, bits, (into, out) in zip(boxes, inside, widths, strict=True):
        ins = tuple(gpu for gpu in box if arrivals & 1 << router.bit_of[gpu])
        outs = tuple(gpu for gpu in box if reached[gpu] & ~bits)
        both = [gpu for gpu in ins if gpu in outs]
        own = with_own_links(router, where, both, reached)
        found.append(
            NicAttachment(len(box), ins, outs, own, tuple(sorted(into)), tuple(sorted(out)))
        )
    return tuple(found)


def ring_counts(attachments: Sequence[NicAttachment]) -> list[int]:
    """Numbers of rings to try: those that can enter and leave some box without a common link.

    If links differ in bandwidth, also the number that fills them, so that wider links take more.
    """
    counts = {found.count for found in attachments} | {found.lanes for found in attachments}
    return sorted(counts - {0})


def _union(sets: Iterable[int]) -> int:
    return reduce(or_, sets, 0)


def _box_of(router: Router, boxes: Sequence[Sequence[int]]) -> list[int | None]:
    """The box of every node by its place among the boxes; switches belong to their marked box."""
    nodes = router.topology.nodes
    place = {gpu: i for i, box in enumerate(boxes) for gpu in box}
    marked = {nodes[gpu].box: i for gpu, i in place.items() if nodes[gpu].box is not None}
    return [
        marked.get(node.box) if node.is_switch and node.box is not None else place.get(position)
        for position, node in enumerate(nodes)
    ]


def _widths(
    router: Router, where: Sequence[int | None], boxes: int
) -> list[tuple[list[Fraction], list[Fraction]]]:
    widths: list[tuple[list[Fraction], list[Fraction]]] = [([], []) for _ in range(boxes)]
    for link in router.topology.links:
        tail, head = where[link.tail], where[link.head]
        if tail != head and head is not None:
            widths[head][0].append(link.bandwidth_gb_s)
        if tail != head and tail is not None:
            widths[tail][1].append(link.bandwidth_gb_s)
    return widths


_Ends = tuple[int, int]
_Where = Sequence[int | None]


def with_own_links(
    router: Router, where: _Where, gpus: Sequence[int], reached: Mapping[int, int]
) -> tuple[int, ...]:
    """Choose GPUs of a box with a link out of it, and a link into it, of their own.

    Parameters
    ----------
    where : sequence of int or None
        The box of every node.
    gpus : sequence of int
        The GPUs of one box.
    reached : mapping
        The set of GPUs that each can reach, in the router's bits.
    """
    partners = {gpu: _partner(router, where, gpu, reached) for gpu in gpus}
    ways = {gpu: partner for gpu, partner in partners.items() if partner is not None}
    out = {
        gpu: _borders(router, where, (gpu, partner), where[gpu]) for gpu, partner in ways.items()
    }
    back = {
        gpu: _borders(router, where, (partner, gpu), where[gpu]) for gpu, partner in ways.items()
    }
    leaving = _matched(out)
    return tuple(_matched({gpu: back[gpu] for gpu in leaving}))


def _partner(router: Router, where: _Where, gpu: int, reached: Mapping[int, int]) -> int | None:
    bit = 1 << router.bit_of[gpu]
    for other in router.gpus:
        there = reached[gpu] & 1 << router.bit_of[other]
        if there and reached[other] & bit and where[other] != where[gpu]:
            return other
    return None


def _borders(router: Router, where: _Where, ends: _Ends, box: int | None) -> list[_Ends]:
    hops = {hop for way in router.paths(*ends) for hop in pairwise(way)}
    return sorted(
        (tail, head) for tail, head in hops if (where[tail] == box) != (where[head] == box)
    )


def _matched(links_of: Mapping[int, Collection[_Ends]]) -> list[int]:
    """A maximum set of GPUs with a link each; earlier GPUs are preferred."""
    taken: dict[_Ends, int] = {}

    def place(gpu: int, seen: set[_Ends]) -> bool:
        for link in links_of[gpu]:
            if link not in seen:
                seen.add(link)
                if link not in taken or place(taken[link], seen):
                    taken[link] = gpu
                    return True
        return False

    return [gpu for gpu in links_of if place(gpu, set())]
