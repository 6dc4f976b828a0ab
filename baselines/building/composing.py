"""Schedules from parts: routed steps, and the reductions and allreduces of a method.

Problem: a baseline defines out-trees, or the sends of an allgather by step, GPU and chunk; derive
         the rest.
Output:  physical paths of the sends; reductions and allreduces; the fastest of several variants.
Cost:    a sort of the transfers; one search for the paths into each GPU.
Source:  a reduction is an allgather or broadcast backwards in time on the network with every link
         reversed; an allreduce is both as sequential phases (Zhao et al., NSDI 2025, sections 4 and
         6; ForestColl, section 5.7; :mod:`forestcoll.schedule.transform`).

A transfer divides equally over all least-cost paths through switches and GPUs (``forwarding``):
fluid equal-cost multipath. Methods that send hop by hop use exactly the links that they name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from baselines.networks.forwarding import forwarded
from forestcoll.errors import UnsupportedError, VerificationError
from forestcoll.schedule.allreduce import Allreduce
from forestcoll.schedule.cost_model.measures import cost, synchronous
from forestcoll.schedule.forest import Forest, Routes
from forestcoll.schedule.sends import Chunks, Sends
from forestcoll.schedule.steps import StepSchedule
from forestcoll.schedule.transform import sequential, time_reversed
from forestcoll.schedule.transform.reversal import transposed
from forestcoll.topology.model import Topology

__all__ = ["collect", "collect_steps", "fastest", "hop_by_hop", "in_step", "joined", "routed"]

_Made = TypeVar("_Made", Forest, StepSchedule)

_SPREADS = ("allgather", "broadcast")

_AT_ONCE = 1 << 18
"""Transfers that are processed together."""


def in_step(
    step: int,
    chunk: npt.ArrayLike,
    tail: npt.ArrayLike,
    head: npt.ArrayLike,
    *,
    reduce: bool = False,
) -> Sends:
    """Return the transfers of one step, in any order: :func:`joined` sorts them.

    The receivers add the data to theirs if ``reduce``, and replace theirs otherwise.
    """
    given = (np.asarray(a, dtype=np.int32) for a in (chunk, tail, head))
    what, start, end = np.broadcast_arrays(*map(np.atleast_1d, given))
    adds = np.full(len(what), reduce, dtype=np.bool_)
    return Sends(np.full(len(what), step, dtype=np.int32), what, start, end, adds)


def joined(parts: Sequence[Sends]) -> Sends:
    """Concatenate transfers, and sort them by step."""
    return Sends.joined(parts or [in_step(0, (), (), ())]).in_order()


def routed(
    topology: Topology,
    method: str,
    collective: str,
    chunks: Chunks,
    sends: Sends,
    *,
    direct: bool = False,
) -> StepSchedule:
    """Find the physical paths of the transfers, through switches and GPUs.

    If ``direct``, a transfer between linked GPUs takes only that link, even if other paths cost as
    much.

    Raises
    ------
    UnsupportedError
        If there is no path from a sender to its receiver.
    VerificationError
        If a rank does not exist, or a GPU sends to itself.
    """
    routes = forwarded(topology, _pairs(topology, sends), direct=direct)
    return StepSchedule(topology, method, collective, chunks, sends, routes)


def hop_by_hop(
    topology: Topology, method: str, collective: str, chunks: Chunks, sends: Sends
) -> StepSchedule:
    """Use only the links between senders and receivers, all of which must exist."""
    pairs = _pairs(topology, sends)
    one_each = np.arange(len(pairs) + 1)
    routes = Routes(
        tail=pairs[:, 0],
        head=pairs[:, 1],
        first_path=one_each,
        multiplicity=np.ones(len(pairs), dtype=np.int64),
        first_hop=2 * one_each,
        hop=np.array(topology.compute, dtype=np.int32)[pairs].ravel(),
    )
    return StepSchedule(topology, method, collective, chunks, sends, routes)


def _pairs(topology: Topology, sends: Sends) -> npt.NDArray[np.int32]:
    """Return the tail and head of each pair with a transfer, in order, a row a pair."""
    size = topology.num_compute
    _check_ends(size, sends)
    met = np.zeros(
        (size, size), dtype=np.bool_
    )  # a table, because there may be millions of transfers over few links
    for first in range(0, len(sends), _AT_ONCE):
        some = slice(first, first + _AT_ONCE)
        met[sends.tail[some], sends.head[some]] = True
    return np.argwhere(met).astype(np.int32)


def _check_ends(size: int, sends: Sends) -> None:
    """Refuse ranks that do not exist, and transfers of a GPU to itself."""
    low, high = np.minimum(sends.tail, sends.head), np.maximum(sends.tail, sends.head)
    wrong = np.flatnonzero((low < 0) | (high >= size) | (low == high))
    if len(wrong):
        step, chunk, tail, head = (
            int(column[wrong[0]]) for column in (sends.step, sends.chunk, sends.tail, sends.head)
        )
        raise VerificationError(
            f"step {step}, chunk {chunk}: rank {tail} sends to rank {head}; "
            f"the two must differ and lie between 0 and {size - 1}"
        )


def collect_steps(
    spread: Callable[[Topology], StepSchedule], topology: Topology, collective: str
) -> StepSchedule:
    """Make a schedule of a collective.

    Parameters
    ----------
    spread : callable
        Makes an allgather or a broadcast for a topology.
    collective : str
        The collective of ``spread``, its reduction, or "allreduce": the reduction, then the spread.

    Raises
    ------
    UnsupportedError
        For another collective.
    """
    if collective != "allreduce":
        return _one_way(spread, time_reversed, topology, collective)
    return sequential(time_reversed(spread(topology.reversed()), topology), spread(topology))


def _one_way(
    spread: Callable[[Topology], _Made],
    reverse: Callable[[_Made, Topology], _Made],
    topology: Topology,
    collective: str,
) -> _Made:
    """Return the spread, or its reduction; refuse a collective that is neither."""
    spreads = collective in _SPREADS
    made = spread(topology) if spreads else reverse(spread(topology.reversed()), topology)
    if made.collective != collective:
        raise UnsupportedError(
            f"unsupported: {made.method} has no {collective}; it makes schedules of "
            f"{made.collective} and allreduce"
        )
    return made


def fastest(schedules: Iterable[StepSchedule]) -> StepSchedule:
    """Return the schedule of least pipelined time, then synchronous time, then the first."""
    return min(
        schedules, key=lambda made: (cost(made).time_s_per_gb, synchronous(made).time_s_per_gb)
    )


def collect(
    spread: Callable[[Topology], Forest], topology: Topology, collective: str
) -> Forest | Allreduce[Forest]:
    """Make a schedule of a collective.

    Parameters
    ----------
    spread : callable
        Makes an allgather or broadcast forest for a topology.
    collective : str
        The collective of ``spread``, its reduction, or "allreduce": both phases, with the same
        trees where every link has a counterpart of the same bandwidth.

    Raises
    ------
    UnsupportedError
        For another collective.
    """
    if collective != "allreduce":
        return _one_way(spread, transposed, topology, collective)
    gather = spread(topology)
    # The reversed network then equals this one, so a second run would make the same trees.
    alike = topology.reversed() == topology
    return Allreduce(transposed(gather if alike else spread(topology.reversed()), topology), gather)
