"""Detection of damaged links: slower than others of their class, or missing.

Links of a class join the same kinds of nodes, or the same GPUs of each box if there are three or
more boxes. The usual bandwidth is that of three in four of the class. A link between a GPU and a
switch outside its box is missing, too, if three in four GPUs have one to this switch.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.topology.model import Link, Topology

__all__ = ["Damage", "damage"]

_MOST = Fraction(3, 4)
_LEAST_MEMBERS = 3

_Pair = tuple[int, int]


@dataclass(frozen=True)
class Damage:
    """The damaged links of a network."""

    # by (tail, head) of a slow link, the usual bandwidth of its class in GB/s
    slow: Mapping[_Pair, Fraction]
    dead: frozenset[_Pair]  # missing links whose reverse exists, or that most boxes have


def damage(topology: Topology) -> Damage:
    """Compare each link with those of its class."""
    classes: dict[Hashable, list[Link]] = {}
    for link in topology.links:
        for name in _classes(topology, link):
            classes.setdefault(name, []).append(link)
    slow = {
        (link.tail, link.head): usual
        for links in classes.values()
        if (usual := _usual(links)) is not None
        for link in links
        if link.bandwidth_gb_s < usual
    }
    dead = {
        *_one_way(topology, classes),
        *_missing(topology, classes),
        *_missing_at_switches(topology),
    }
    return Damage(slow, frozenset(dead))


def _classes(topology: Topology, link: Link) -> Iterator[Hashable]:
    """Name the classes of a link: by the kinds of its ends, and by their numbers in a box."""
    yield ("kinds", *(_kind(topology, v) for v in (link.tail, link.head)), _inside(topology, link))
    if _boxed(topology, link):
        yield _numbers(topology, link.tail, link.head)


def _kind(topology: Topology, v: int) -> str:
    """Return a name without its numbers: "b3.gpu7" becomes "b.gpu"."""
    return re.sub(r"\d+", "", topology.nodes[v].name)


def _inside(topology: Topology, link: Link) -> bool:
    tail, head = (topology.nodes[v].box for v in (link.tail, link.head))
    return tail == head


def _boxed(topology: Topology, link: Link) -> bool:
    boxes = {topology.nodes[v].box for v in (link.tail, link.head)} - {None}
    return len(boxes) == 1


def _numbers(topology: Topology, tail: int, head: int) -> Hashable:
    return ("numbers", *(_local(topology, v) for v in (tail, head)))


def _local(topology: Topology, v: int) -> Hashable:
    node = topology.nodes[v]
    if node.box is None:
        return v
    return (node.kind, node.index if node.index is not None else _kind(topology, v))


def _usual(links: list[Link]) -> Fraction | None:
    """Return the bandwidth that three in four links of a class have, if there is one."""
    (bandwidth, count), *_ = Counter(link.bandwidth_gb_s for link in links).most_common(1)
    return bandwidth if len(links) >= _LEAST_MEMBERS and count >= _MOST * len(links) else None


def _one_way(topology: Topology, classes: Mapping[Hashable, list[Link]]) -> Iterator[_Pair]:
    """Yield missing reverses of links in classes where most links have one."""
    back = topology.link_between
    for name, links in classes.items():
        alone = [link for link in links if (link.head, link.tail) not in back]
        few = len(alone) <= (1 - _MOST) * len(links)
        if isinstance(name, tuple) and name[0] == "kinds" and few:
            yield from ((link.head, link.tail) for link in alone)


def _missing(topology: Topology, classes: Mapping[Hashable, list[Link]]) -> Iterator[_Pair]:
    """Yield missing links that three in four of the boxes with these nodes have."""
    members: dict[int, dict[Hashable, int]] = {}
    for v, node in enumerate(topology.nodes):
        if node.box is not None:
            members.setdefault(node.box, {})[_local(topology, v)] = v
    for name, links in classes.items():
        if not isinstance(name, tuple) or name[0] != "numbers":
            continue
        able = [box for box, its in members.items() if _ends(name, its) is not None]
        if len(able) >= _LEAST_MEMBERS and _MOST * len(able) <= len(links) < len(able):
            for box in able:
                pair = _ends(name, members[box])
                if pair is not None and pair not in topology.link_between:
                    yield pair


def _missing_at_switches(topology: Topology) -> Iterator[_Pair]:
    """Yield missing links between GPUs and a switch outside that three in four GPUs have.

    The GPU of the same number in another box has it, so that GPUs which are meant to be without one
    are not taken for damaged.
    """
    gpus = {v: n for v, n in enumerate(topology.nodes) if n.is_gpu and n.box is not None}
    outside = [v for v, n in enumerate(topology.nodes) if not n.is_gpu and n.box is None]
    for switch in outside:
        for outwards in (True, False):
            pairs = {v: (v, switch) if outwards else (switch, v) for v in gpus}
            without = [v for v in gpus if pairs[v] not in topology.link_between]
            having = [v for v in gpus if pairs[v] in topology.link_between]
            if len(having) >= _LEAST_MEMBERS and len(having) >= _MOST * len(gpus):
                numbers = {gpus[v].index for v in having}
                yield from (pairs[v] for v in without if gpus[v].index in numbers)


def _ends(name: tuple[Hashable, ...], its: Mapping[Hashable, int]) -> _Pair | None:
    """Return the nodes of a box (or outside) that a link of a class by numbers would join."""
    ends = [end if isinstance(end, int) else its.get(end) for end in name[1:]]
    tail, head = ends
    return None if tail is None or head is None else (tail, head)
