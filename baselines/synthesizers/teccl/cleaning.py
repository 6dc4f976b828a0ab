"""Removal of useless transfers from a solution.

Output:  the transfers that deliver chunks, each with the one that it passes on, if any.
Source:  Liu et al., TE-CCL (SIGCOMM 2024), section 3.1: the objective does not penalise useless
         transfers; a search backwards from the destinations keeps the others.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from baselines.synthesizers.teccl.instance.commodities import Demand
from baselines.synthesizers.teccl.instance.epochs import EpochNetwork
from baselines.synthesizers.teccl.milp.epoch_program import Sent

__all__ = ["epochs_taken", "needed"]


def needed(
    network: EpochNetwork, demand: Demand, sent: tuple[Sent, ...]
) -> dict[Sent, Sent | None]:
    """Return each useful transfer, and the transfer that it passes on.

    The latter delivers the chunk to a switch without a buffer; None where the sender keeps the
    chunk. With few slots, a dropped chunk may arrive again.
    """
    arriving: dict[tuple[int, int], list[tuple[int, Sent]]] = defaultdict(list)
    for chunk, i, epoch in sent:
        arc = network.arcs[i]
        arriving[chunk, arc.head].append((epoch + arc.span + 1, (chunk, i, epoch)))
    kept: dict[Sent, Sent | None] = {}
    used: set[Sent] = set()
    waiting = [
        (chunk, rank, min(arriving[chunk, rank])[0])
        for chunk, ranks in enumerate(demand.wants)
        for rank in sorted(ranks)
    ]
    while waiting:
        chunk, node, now = waiting.pop()
        source = _source(network, demand, arriving, chunk, node, now)
        if source is None or source in kept:
            continue
        # The chain ends at a node with a buffer, whose own copy is then traced in turn.
        chain = _chain(network, arriving, kept, used, source)
        kept.update(chain)
        first = next(reversed(chain))
        if chain[first] is None:
            waiting.append((chunk, *_place(network, first)))
    return kept


def _source(
    network: EpochNetwork,
    demand: Demand,
    arriving: dict[tuple[int, int], list[tuple[int, Sent]]],
    chunk: int,
    node: int,
    now: int,
) -> Sent | None:
    """Return the transfer that delivers a chunk to a node by now; None for the root.

    The first one; with few slots the last, since earlier ones may have been dropped.
    """
    if network.buffers is not None:
        came = [(when, send) for when, send in arriving[chunk, node] if when <= now]
        return max(came)[1] if came else None
    return None if node == demand.roots[chunk] else min(arriving[chunk, node])[1]


def epochs_taken(network: EpochNetwork, sent: Iterable[Sent]) -> int:
    """Return the number of epochs until all transfers have arrived."""
    return max((epoch + network.arcs[i].span + 1 for _, i, epoch in sent), default=0)


def _chain(
    network: EpochNetwork,
    arriving: dict[tuple[int, int], list[tuple[int, Sent]]],
    kept: dict[Sent, Sent | None],
    used: set[Sent],
    send: Sent,
) -> dict[Sent, Sent | None]:
    """Go back over switches without buffers to a node that keeps the chunk, or to a kept transfer.

    Where no switch multicasts, a solution may contain cycles of transfers that take no time. On
    return to a switch, the transfers since the first visit are dropped.
    """
    chain: dict[Sent, Sent | None] = {}
    at: dict[tuple[int, int], Sent] = {}  # what leaves a switch, by switch and time
    while send not in kept:
        arc = network.arcs[send[1]]
        if network.holds(arc.tail):
            chain[send] = None
            break
        place = _place(network, send)
        if place in at:
            send = at[place]
            while next(reversed(chain)) != send:
                del at[_place(network, chain.popitem()[0])]
        at[place] = send
        copies = network.copies(arc.tail)
        feeders = (
            other
            for when, other in arriving[send[0], arc.tail]
            if when == place[1] and (copies or other not in used)
        )
        # A feeder from a node with a buffer ends the chain, so no chain is shorter.
        feeder = min(
            feeders, key=lambda send: (not network.holds(network.arcs[send[1]].tail), send)
        )
        chain[send] = feeder
        used.add(feeder)
        send = feeder
    return chain


def _place(network: EpochNetwork, send: Sent) -> tuple[int, int]:
    """Return the sender of a transfer, and when the chunk is there."""
    arc = network.arcs[send[1]]
    return arc.tail, send[2] + 1 - arc.offset
