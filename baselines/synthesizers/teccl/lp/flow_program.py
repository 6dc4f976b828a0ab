"""TE-CCL's linear program for demands without copies: flow by source, link and epoch.

Problem: deliver all data in K epochs, over as few arcs as that allows.
Cost:    sources x (arcs + GPUs) x epochs variables, whatever the number of chunks.
Source:  Liu et al., TE-CCL (SIGCOMM 2024), section 4.1: an all-to-all copies nothing, so the
         program needs neither whole numbers nor an index of chunks, only the source of the data.

    sent[s, a, k]   chunks of source s that are sent on arc a in epoch k (F)
    held[s, n, k]   those that GPU n keeps from the start of epoch k to that of the next (B)

- Conservation: a GPU keeps or sends what has arrived by the start of an epoch. A switch without a
  buffer sends all of it in the one epoch that fits.
- Destinations: after the last epoch, d has all data of s for d. The paper removes it on arrival
  (R), which only its objective needs.
- Capacity: in any window of a group at most what its link carries in that time, as in appendix F
  and the public code. Fractions of chunks use all of it, unlike whole chunks.

In the paper's own program (section 5) any fraction of a chunk that fits leaves within one epoch.
:func:`without_windows` makes such a network.

A source never receives its own data. K is minimised by a search, so the paper's reward for early
arrivals is left out. The sum of all ``sent`` replaces it: it removes useless flow, and the solver
takes a tenth of its time without an objective.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from baselines.synthesizers.teccl.instance.commodities import Demand
from baselines.synthesizers.teccl.instance.epochs import EpochNetwork, Group
from baselines.synthesizers.teccl.milp.epoch_program import earliest
from forestcoll.errors import UnsupportedError

if TYPE_CHECKING:
    from forestcoll.solver.linear_program import Program

__all__ = ["FlowProgram", "amounts", "capacity", "without_windows", "write"]

_Ints = npt.NDArray[np.int64]
_Floats = npt.NDArray[np.float64]
_Amounts = _Ints | _Floats

_LEAST_AMOUNT = 1e-4
"""Least chunks of a pair: smaller amounts would drown in a solver's tolerance, and count as so
many. Schedules carry their bytes all the same.
"""

_LEAST_SHARE = 1e-9
"""Least share of the largest pair's chunks, for the same reason."""


@dataclass(frozen=True)
class FlowProgram:
    """A linear program with the meaning of its columns: transfers first, then kept data.

    Parameters
    ----------
    epochs : int
        K.
    amount : array of shape (N, N)
        Chunks from each rank to each other: whole ones, or of a given demand with fractions.
    source, arc, epoch : int arrays, one entry a transfer
    keeper : int array of shape (H, 3)
        Source, node and time of kept data.
    """

    epochs: int
    amount: _Amounts = field(repr=False)
    source: _Ints = field(repr=False)
    arc: _Ints = field(repr=False)
    epoch: _Ints = field(repr=False)
    keeper: _Ints = field(repr=False)
    program: Program = field(repr=False)


def amounts(network: EpochNetwork, demand: Demand) -> _Amounts:
    """Count the chunks from each rank to each other; of a given demand with fractions.

    Raises
    ------
    UnsupportedError
        If several ranks need one chunk.
    """
    gpus = network.topology.num_compute
    amount = np.zeros((gpus, gpus), dtype=np.int64)
    for root, wants in zip(demand.roots, demand.wants, strict=True):
        if len(wants) > 1:
            raise UnsupportedError(
                "unsupported: a linear program cannot say that several GPUs want a copy of one "
                "chunk; take the whole numbers"
            )
        for rank in wants:
            amount[root, rank] += 1
    if demand.given is not None:
        shares = demand.given.matrix / float(1000 * demand.chunk_kb)
        least = max(_LEAST_AMOUNT, _LEAST_SHARE * float(shares.max()))
        return np.where(amount > 0, np.maximum(shares, least), 0.0)
    return amount


def capacity(network: EpochNetwork, demand: Demand, group: Group) -> float:
    """Return the chunks, with fractions, that a group carries in a window."""
    path = network.arcs[group.arcs[0]].path
    ends = network.topology.ends
    link = network.topology.link_between[ends[path[0]], ends[path[1]]]
    return float(group.window * link.bandwidth_gb_s * network.epoch_us / demand.chunk_kb)


def without_windows(network: EpochNetwork) -> EpochNetwork:
    """Return a network on which fractions of chunks leave within their epoch."""
    arcs = (replace(arc, busy=1, offset=min(max(arc.offset, 0), 1)) for arc in network.arcs)
    groups = (replace(group, window=1) for group in network.groups)
    return replace(network, arcs=tuple(arcs), groups=tuple(groups))


def write(network: EpochNetwork, demand: Demand, epochs: int) -> FlowProgram:
    """Write the program for a number of epochs.

    Raises
    ------
    UnsupportedError
        If several ranks need one chunk, or for hyper-edges, which stand for switches that
        multicast.
    """
    if any(len(arc.path) > 2 for arc in network.arcs):
        raise UnsupportedError(
            "unsupported: hyper-edges are for whole chunks only; take switches as nodes"
        )
    amount = amounts(network, demand)
    sent = np.array(list(_transfers(network, amount, epochs)), dtype=np.int64).reshape(-1, 3)
    source, arc, epoch = sent.T
    keeper = _keepers(network, amount, epochs)
    balances, due = _balances(network, amount, sent, keeper, epochs)
    loads, limits = _loads(network, demand, arc, epoch)
    row, column, value = (
        np.concatenate(pair)
        for pair in zip(
            balances, (len(due) + loads[0], loads[1], np.ones(len(loads[0]))), strict=True
        )
    )
    cost = np.repeat([1.0, 0.0], [len(sent), len(keeper)])
    program = _stated(row, column, value, due, limits, cost)
    return FlowProgram(epochs, amount, source, arc, epoch, keeper, program)


@dataclass(frozen=True, slots=True)
class _Places:
    """Numbers of (source, node, time), consecutive in time."""

    nodes: int
    epochs: int

    def __call__(self, source: _Ints, node: _Ints, time: _Ints) -> _Ints:
        return (source * self.nodes + node) * (self.epochs + 1) + time


def _transfers(
    network: EpochNetwork, amount: _Amounts, epochs: int
) -> Iterator[tuple[int, int, int]]:
    """Yield source, arc and epoch of all transfers that can still reach a destination in time."""
    left = [earliest(network, d, backwards=True) for d in range(len(amount))]
    for source in np.flatnonzero(amount.any(axis=1)).tolist():
        first = earliest(network, source)
        near = np.min([left[d] for d in np.flatnonzero(amount[source])], axis=0, initial=1 << 60)
        for i, arc in enumerate(network.arcs):
            if arc.head != source:
                last = epochs - int(near[arc.head]) - arc.span - 1
                for epoch in range(first[arc.tail] + arc.offset - 1, last + 1):
                    yield source, i, epoch


def _keepers(network: EpochNetwork, amount: _Amounts, epochs: int) -> _Ints:
    """Return source, node and time of data that may be kept for an epoch."""
    kept = [
        (source, node, time)
        for source in np.flatnonzero(amount.any(axis=1)).tolist()
        for node, first in enumerate(earliest(network, source))
        if network.holds(node)
        for time in range(first, epochs)
    ]
    return np.array(kept, dtype=np.int64).reshape(-1, 3)


def _balances(
    network: EpochNetwork, amount: _Amounts, sent: _Ints, keeper: _Ints, epochs: int
) -> tuple[tuple[_Ints, _Ints, _Floats], _Floats]:
    """Return the entries of one row a place, and its excess of arrivals over departures."""
    source, arc, epoch = sent.T
    tail, head, offset, span = np.array(
        [(a.tail, a.head, a.offset, a.span) for a in network.arcs], dtype=np.int64
    ).T
    place = _Places(network.nodes, epochs)
    came = place(source, head[arc], epoch + span[arc] + 1)
    left = place(source, tail[arc], epoch + 1 - offset[arc])
    kept = place(*keeper.T)
    roots, targets = np.nonzero(amount)
    senders = np.flatnonzero(amount.any(axis=1))
    ends = [place(senders, senders, 0 * senders), place(roots, targets, 0 * roots + epochs)]
    # Places that no column touches get no row.
    used = np.unique(np.concatenate([came, left, kept, kept + 1, *ends]))
    # Section 4.1, conservation: arrivals and kept data in, departures and kept data out. A source
    # starts with all its data; each destination keeps its share after the last epoch.
    due = np.zeros(len(used))
    due[np.searchsorted(used, np.concatenate(ends))] = np.concatenate(
        [-amount.sum(axis=1)[senders], amount[roots, targets]]
    )
    column = np.arange(len(sent) + len(keeper))
    into, out = np.concatenate([came, kept + 1]), np.concatenate([left, kept])
    row = np.searchsorted(used, np.concatenate([into, out]))
    value = np.repeat([1.0, -1.0], len(column))
    return (row, np.concatenate([column, column]), value), due


def _loads(
    network: EpochNetwork, demand: Demand, arc: _Ints, epoch: _Ints
) -> tuple[tuple[_Ints, _Ints], _Floats]:
    """Return rows and columns of the transfers in each window, and the windows' capacities."""
    groups = network.groups
    # Only hyper-edges share links, and `write` refuses them: each arc is in one group.
    of_arc = np.empty(len(network.arcs), dtype=np.int64)
    for number, group in enumerate(groups):
        of_arc[list(group.arcs)] = number
    window = np.array([group.window for group in groups])
    most = np.array([capacity(network, demand, group) for group in groups])
    many = window[of_arc[arc]]
    column = np.repeat(np.arange(len(arc)), many)
    # A transfer in epoch k is in the windows that end in epochs k to k + window - 1.
    later = np.arange(len(column)) - np.repeat(np.cumsum(many) - many, many)
    latest = int(epoch.max(initial=0)) + int(window.max()) + 1
    windows = of_arc[arc][column] * latest + epoch[column] + later
    used, row = np.unique(windows, return_inverse=True)
    return (row.reshape(-1), column), most[used // latest]


def _stated(
    row: _Ints,
    column: _Ints,
    value: _Floats,
    due: _Floats,
    limits: _Floats,
    cost: _Floats,
) -> Program:
    """Assemble the program: first the balances, then the limits."""
    import scipy.sparse as sp

    from forestcoll.solver.linear_program import Program

    return Program(
        cost=cost,
        matrix=sp.coo_array((value, (row, column)), shape=(len(due) + len(limits), len(cost))),
        row_lower=np.concatenate([due, np.full(len(limits), -np.inf)]),
        row_upper=np.concatenate([due, limits]),
        lower=np.zeros(len(cost)),
        upper=np.full(len(cost), np.inf),
    )
