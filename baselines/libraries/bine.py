"""Bine: binomial trees and butterflies whose distances are sums of powers of -2.

Problem: a collective in log2 N steps with less data between groups of consecutive GPUs.
Input:   a topology of an even number of GPUs, of a power of two for trees and the latency form;
         the order of the distances.
Output:  step schedules: a binary exchange of N (N - 1) shards, or a tree of N - 1 transfers.
Cost:    linear in the transfers; twice that by default.
Source:  De Sensi et al., "Bine Trees: Enhancing Collective Operations by Optimizing Communication
         Locality" (SC 2025, arXiv 2508.17311), its abstract, public summaries and its code
         (HLC-Lab/bine-trees, bine_trees_fugaku), read for the pattern. Reimplemented.

GPUs are numbered by box and then by their number in the box. At distance index i an even GPU meets
the one rho(i) = 1 + (-2) + ... + (-2)^i places on, and an odd GPU the one rho(i) places back:
1, -1, 3, -5, 11, modulo N. So a distance is about two thirds of the 2^i of binomial trees. The
indices rise in the order "distance-doubling" and fall in "distance-halving". In a broadcast all
GPUs that have the data send it to the GPUs that they meet. In an allgather both exchange all that
they have. A reduce or reduce-scatter is the same backwards. The "bandwidth" form of an allreduce
is a reduce-scatter and an allgather; the "latency" form exchanges and adds the whole data.

The distances are those of Swing on a ring, here on any network.

Where N is even and no power of two, no shard is sent twice, and the logarithm is rounded up.

Left out: odd numbers of GPUs, and trees and the latency form of all but powers of two; gather,
scatter, all-to-all, and the broadcast and reduce made of a scatter or gather; orders of blocks in
memory, since chunks have names here. A root meets the GPUs of its own number, as in the code for
Fugaku; the other code shifts all numbers by the root. Partners need no link: a transfer takes the
least-cost paths through switches and GPUs (``forwarding``). Traffic and rates:
docs/baselines/steps.md.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from baselines.building.composing import collect_steps, fastest, in_step, joined, routed
from baselines.building.peer_rounds import FORMS, Exchange, Rounds, exchange, rho
from baselines.interface.method import Method
from baselines.interface.parameters import check_choice
from baselines.interface.supported import GATHERING, check_supported
from baselines.networks.boxes import by_number
from baselines.networks.switch_paths import check_size
from forestcoll.errors import UnsupportedError
from forestcoll.problem.weights import weights_for
from forestcoll.schedule.sends import Chunks
from forestcoll.schedule.steps import StepSchedule
from forestcoll.topology.model import Topology

__all__ = ["METHODS", "ORDERS", "generate"]

ORDERS = ("distance-halving", "distance-doubling")
"""Order of the distances in a broadcast or allgather; a reduction has it backwards."""

ROOTED = ("broadcast", "reduce")
"""Collectives of trees."""

COLLECTIVES = (*GATHERING, *ROOTED)


def generate(
    topology: Topology,
    collective: str = "allgather",
    *,
    order: str | None = None,
    form: str = "bandwidth",
    root: str | int | None = None,
) -> StepSchedule:
    """Exchange data over a Bine butterfly, or send it over a Bine tree.

    Parameters
    ----------
    collective : str
        "allgather", "reduce-scatter", "allreduce", "broadcast" or "reduce".
    order : str, optional
        One of ``ORDERS``. The default has the least pipelined time
        (:func:`forestcoll.schedule.cost`); ties go to the least synchronous time,
        "distance-halving".
    form : str
        "bandwidth" or "latency"; "latency" for an allreduce only.
    root : str or int, optional
        Name or rank of the root of a broadcast or reduce, by default the first GPU.

    Raises
    ------
    UnsupportedError
        If the number of GPUs is odd, or no power of two in a tree or the "latency" form. If there
        is no path between two that meet, for another collective, a root is given and the collective
        takes none, or for another than an allreduce of the "latency" form.
    InvalidParameterError
        If there is no such order, form or root.
    """
    check_supported("bine", collective, COLLECTIVES)
    check_size(topology)
    if order is not None:
        check_choice("order", order, ORDERS)
    check_choice("form", form, FORMS)
    if collective in ROOTED:
        if form != "bandwidth":
            raise UnsupportedError(f"unsupported: bine has no {collective} of its {form} form")
        rank = weights_for(topology, collective, root=root or 0).index(1)
        make: Callable[[str], StepSchedule] = partial(_tree, topology, collective, rank)
    elif root is not None:
        raise UnsupportedError(
            f"unsupported: bine takes no root for {collective}; it does for broadcast and reduce"
        )
    else:
        make = partial(_butterfly, topology, collective, form)
    return fastest(make(each) for each in (ORDERS if order is None else (order,)))


def _tree(topology: Topology, collective: str, root: int, order: str) -> StepSchedule:
    return collect_steps(partial(_broadcast, root=root, order=order), topology, collective)


def _butterfly(topology: Topology, collective: str, form: str, order: str) -> StepSchedule:
    find = partial(_courses, order=order, form=form)
    return exchange(find, "bine", topology, collective, form)


def _courses(topology: Topology, order: str, form: str) -> Exchange:
    """Return the rounds of a reduction, which an allgather has backwards."""
    if form == "latency":
        _check_power(topology, "the latency form")
    ranks = by_number(topology)
    return Exchange(ranks, [_rounds(topology, order)[::-1]])


def _broadcast(topology: Topology, root: int, order: str) -> StepSchedule:
    _check_power(topology, "a tree")
    ranks = by_number(topology)
    held = np.flatnonzero(ranks == root)  # the places that have the data
    parts = []
    for step, (peers,) in enumerate(_rounds(topology, order)):
        parts.append(in_step(step, np.zeros_like(held), ranks[held], ranks[peers[held]]))
        held = np.concatenate([held, peers[held]])
    return routed(topology, "bine", "broadcast", Chunks.equal([root], whole=1), joined(parts))


def _rounds(topology: Topology, order: str) -> Rounds:
    """Return whom each place meets in the steps of a broadcast or allgather."""
    size = topology.num_compute
    if size % 2:
        raise UnsupportedError(
            f"unsupported: {topology.name} has {size} GPUs; bine takes even numbers"
        )
    place = np.arange(size, dtype=np.int32)
    away = np.where(place % 2 == 0, 1, -1)
    rounds = [[(place + away * rho(i)) % size] for i in range((size - 1).bit_length())]
    return rounds if order == "distance-doubling" else rounds[::-1]


def _check_power(topology: Topology, what: str) -> None:
    """Raise UnsupportedError if the number of GPUs is no power of two."""
    size = topology.num_compute
    if size.bit_count() != 1:
        raise UnsupportedError(
            f"unsupported: {topology.name} has {size} GPUs; {what} of bine takes powers of two"
        )


METHODS = (
    Method(
        name="bine",
        summary="butterflies and binomial trees with distances of sums of powers of -2",
        source="De Sensi et al., Bine trees (SC 2025)",
        generate=generate,
        collectives=COLLECTIVES,
        notes="even numbers of GPUs; the better order of distances; from public text and code",
    ),
)
