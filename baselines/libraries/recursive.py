"""Recursive halving and doubling: GPUs swap all they have with partners at distances 1, 2, 4, ...

Problem: an allgather, reduce-scatter or allreduce in log2 N steps.
Input:   a topology; whether near or far partners come first (default: the faster order).
Output:  step schedules: N (N - 1) transfers of one shard each.
Cost:    linear in the transfers; twice that by default.
Source:  Thakur, Rabenseifner, Gropp, "Optimization of Collective Communication Operations in
         MPICH" (IJHPCA 2005): recursive doubling allgather, recursive halving reduce-scatter,
         and Rabenseifner's allreduce, which is both. Reimplemented from the paper.

GPUs are numbered by box and then by their number in the box; partners differ in one bit. The
reduce-scatter is the allgather backwards. With "near-first", the first partners of an allgather are
neighbours, and so are the last partners of a reduce-scatter, as in Rabenseifner's allreduce. The
default is the order of less time in theory.

N need not be a power of two. With N = 2^L + r, each of the first r even numbers is folded into the
odd number after it, as in MPICH: it sends its data in an extra first step, and receives the result
in an extra last step. An allreduce then has 2^L parts and 2 L + 2 steps; an allgather or
reduce-scatter has L + 2 steps.

Left out: MPICH's other methods for N that is no power of two. Partners need no link: a transfer
takes the least-cost paths through switches and GPUs (``forwarding``). Rates beside published
numbers: docs/baselines/steps.md.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt

from baselines.building.composing import collect_steps, fastest, in_step, joined, routed
from baselines.interface.method import Method
from baselines.interface.parameters import check_choice
from baselines.interface.supported import GATHERING
from baselines.networks.boxes import Ranks, by_number
from baselines.networks.switch_paths import check_size
from forestcoll.schedule.sends import Chunks, Sends
from forestcoll.schedule.steps import StepSchedule
from forestcoll.topology.model import Topology

__all__ = ["METHODS", "ORDERS", "generate"]

ORDERS = ("near-first", "far-first")
"""Order of the partners in an allgather."""

METHOD = "recursive-halving-doubling"


def generate(
    topology: Topology, collective: str = "allgather", *, order: str | None = None
) -> StepSchedule:
    """Swap all data with partners at all powers of two.

    Parameters
    ----------
    collective : str
        "allgather", "reduce-scatter" or "allreduce".
    order : str, optional
        One of ``ORDERS``. The default has the least pipelined time
        (:func:`forestcoll.schedule.cost`); ties go to the least synchronous time, "near-first".

    Raises
    ------
    UnsupportedError
        If there is no path from a GPU to its partner.
    InvalidParameterError
        If there is no such order.
    """
    check_size(topology)
    if order is not None:
        check_choice("order", order, ORDERS)
    folded = collective == "allreduce"
    made = (
        collect_steps(partial(_gather, order=each, folded=folded), topology, collective)
        for each in (ORDERS if order is None else (order,))
    )
    return fastest(made)


def _gather(topology: Topology, order: str, folded: bool) -> StepSchedule:
    """Spread the shards of all GPUs or, if folded, of those that remain after folding."""
    inside, outside = _fold(by_number(topology))
    swaps, partners = _swaps(len(inside), order), inside[: len(outside)]
    if folded:
        chunks = Chunks.equal(inside, whole=len(inside))
        parts = [_named(swaps, np.arange(len(inside)), inside, first_step=0)]
    else:
        chunks = Chunks.equal(np.arange(topology.num_compute), whole=topology.num_compute)
        start = 1 if len(outside) else 0
        parts = [
            in_step(0, outside, outside, partners),
            _named(swaps, inside, inside, first_step=start),
            _named(swaps, outside, inside, first_step=start),
        ]
    end = 1 + max(int(part.step.max(initial=-1)) for part in parts)
    parts.append(_unfolded(end, chunks, partners, outside))
    return routed(topology, METHOD, "allgather", chunks, joined(parts))


def _unfolded(step: int, chunks: Chunks, partners: Ranks, outside: Ranks) -> Sends:
    """Send every foreign chunk to the GPUs that folding left out."""
    chunk, pair = np.divmod(np.arange(len(chunks) * len(outside)), max(len(outside), 1))
    news = chunks.root[chunk] != outside[pair]
    chunk, pair = chunk[news], pair[news]
    return in_step(step, chunk, partners[pair], outside[pair])


def _fold(ranks: Ranks) -> tuple[Ranks, Ranks]:
    """Split into 2^L ranks and the others, whose partners are the first of those ranks."""
    extra = len(ranks) - 2 ** (len(ranks).bit_length() - 1)
    inside = np.concatenate([ranks[1 : 2 * extra : 2], ranks[2 * extra :]])
    return inside, ranks[0 : 2 * extra : 2]


def _swaps(places: int, order: str) -> Sends:
    """Recursive doubling among 2^L places; each begins with the chunk of its own number."""
    place = np.arange(places)
    held = np.zeros(1, dtype=place.dtype)  # the chunks at place 0
    distances = [1 << bit for bit in range(places.bit_length() - 1)]
    parts = []
    for step, distance in enumerate(distances if order == "near-first" else distances[::-1]):
        chunk = place[:, None] ^ held
        tail = np.broadcast_to(place[:, None], chunk.shape).ravel()
        parts.append(in_step(step, chunk.ravel(), tail, tail ^ distance))
        held = np.concatenate([held, held ^ distance])
    return joined(parts)


def _named(swaps: Sends, chunks: npt.ArrayLike, ranks: Ranks, first_step: int) -> Sends:
    """Map swaps between places to chunks (of the first places, if not of all) and ranks."""
    names = np.asarray(chunks)
    some = swaps.chunk < len(names)
    return Sends.sorted(
        swaps.step[some] + first_step,
        names[swaps.chunk[some]],
        ranks[swaps.tail[some]],
        ranks[swaps.head[some]],
    )


METHODS = (
    Method(
        name=METHOD,
        summary="swaps with partners at distances 1, 2, 4, ...",
        source="Thakur, Rabenseifner, Gropp (IJHPCA 2005)",
        generate=generate,
        collectives=GATHERING,
        notes="the better order (A100 x2: far-first 342.9 GB/s, near-first 50.0); any N",
    ),
)
