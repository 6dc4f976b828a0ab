"""GPUs of a box that can use the network at once, each over links of its own.

Problem: GPUs may share NICs; choose as many GPUs as possible such that no two share one.
Input:   a topology, the box of every node, the GPUs of a box that reach others and are reachable.
Output:  the chosen GPUs, in order.
Cost:    the shortest paths of each GPU to one outside and back; a matching.
Source:  NCCL gives every channel a NIC and the nearest GPU. Matching by augmenting paths, in order.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

from baselines.networks.switch_paths import Router

__all__ = ["with_own_links"]

_Ends = tuple[int, int]
_Where = Sequence[int | None]


def with_own_links(
    router: Router, where: _Where, gpus: Sequence[int], reached: Mapping[int, int]
) -> tuple[int, ...]:
    """Choose GPUs of a box with a link out of it, and a link into it, of their own.

    Parameters
    ----------
    router : Router
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
    """The first GPU of another box with a path to it and back."""
    bit = 1 << router.bit_of[gpu]
    for other in router.gpus:
        there = reached[gpu] & 1 << router.bit_of[other]
        if there and reached[other] & bit and where[other] != where[gpu]:
            return other
    return None


def _borders(router: Router, where: _Where, ends: _Ends, box: int | None) -> list[_Ends]:
    """The links into and out of a box on the shortest paths between two GPUs."""
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
