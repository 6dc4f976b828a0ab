"""Step schedules out of parts: routed, turned round in time, and put one after the other.

Problem: a peer says in which step which GPU sends which chunk of an allgather; do the rest.
Input:   the chunks and transfers of an allgather (or broadcast).
Output:  the physical paths they take; the reductions and allreduces made of them.
Cost:    a sort of the transfers; one search for the paths into each GPU.
Source:  a reduce-scatter is an allgather backwards in time on the network with every link turned
         round, an allreduce both, one after the other (Zhao et al., NSDI 2025, sections 4 and 6).

A transfer takes the least-cost paths, through switches and GPUs, over all ties alike
(``forwarding``): equal-cost multipath, taken as a fluid. Methods that send hop by hop keep to the
links that they name.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from baselines.forwarding import forwarded
from baselines.ring_layout import gpus_by_box
from forestcoll.schedule.forest import Path, Routes
from forestcoll.schedule.steps import Chunks, Clock, Sends, StepSchedule
from forestcoll.schedule.turning import turned_routes
from forestcoll.topology.model import Topology

__all__ = [
    "Ranks",
    "by_number",
    "collect_steps",
    "hop_by_hop",
    "in_step",
    "in_turn",
    "joined",
    "routed",
    "time_reversed",
]

Ranks = npt.NDArray[np.int32]


def by_number(topology: Topology) -> Ranks:
    """Return the ranks in the order of their boxes and numbers, whatever that of the nodes."""
    gpus = [gpu for box in gpus_by_box(topology) for gpu in box]
    return np.array([topology.rank_of[gpu] for gpu in gpus], dtype=np.int32)


def in_step(step: int, chunk: npt.ArrayLike, tail: npt.ArrayLike, head: npt.ArrayLike) -> Sends:
    """Return the transfers of one step, which copy; for :func:`joined`, so in any order."""
    what, start, end = (np.asarray(a, dtype=np.int32) for a in (chunk, tail, head))
    copies = np.zeros(len(what), dtype=np.bool_)
    return Sends(np.full(len(what), step, dtype=np.int32), what, start, end, copies)


def joined(parts: Sequence[Sends]) -> Sends:
    """Put transfers together, each in the step that it names, and sort them."""
    return Sends.joined(parts).in_order()


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

    If ``direct``, a transfer between GPUs that a link joins takes it alone, and no other way that
    costs as much.

    Raises
    ------
    UnsupportedError
        If nothing leads from a sender to its receiver.
    """
    compute, pairs = topology.compute, _pairs(topology, sends)
    linked = {
        (tail, head): (Path((compute[tail], compute[head]), 1),)
        for tail, head in pairs
        if direct and (compute[tail], compute[head]) in topology.link_between
    }
    others = [pair for pair in pairs if pair not in linked]
    routes = Routes.from_paths({**linked, **forwarded(topology, others)})
    return StepSchedule(topology, method, collective, chunks, sends, routes)


def hop_by_hop(
    topology: Topology, method: str, collective: str, chunks: Chunks, sends: Sends
) -> StepSchedule:
    """Take the links between senders and receivers, which must be there, and nothing else."""
    compute = topology.compute
    routes = Routes.from_paths(
        {
            (tail, head): (Path((compute[tail], compute[head]), 1),)
            for tail, head in _pairs(topology, sends)
        }
    )
    return StepSchedule(topology, method, collective, chunks, sends, routes)


def _pairs(topology: Topology, sends: Sends) -> list[tuple[int, int]]:
    """Senders and receivers, each pair once."""
    size = topology.num_compute
    pairs = np.unique(sends.tail.astype(np.int64) * size + sends.head)
    return [divmod(pair, size) for pair in pairs.tolist()]


def collect_steps(
    spread: Callable[[Topology], StepSchedule], topology: Topology, collective: str
) -> StepSchedule:
    """Make a schedule of a collective.

    Parameters
    ----------
    spread : callable
        Makes an allgather or a broadcast for a topology.
    topology : Topology
    collective : str
        What ``spread`` makes, its reduction, or "allreduce": first the one, then the other.
    """
    if collective in ("allgather", "broadcast"):
        return spread(topology)
    reduction = time_reversed(spread(topology.reversed()), topology)
    return in_turn(reduction, spread(topology)) if collective == "allreduce" else reduction


def time_reversed(schedule: StepSchedule, topology: Topology) -> StepSchedule:
    """Turn an allgather or broadcast on the reversed network into a reduction on the network.

    The last step comes first, receivers send, and what they send is added. A clock runs backwards
    too. A transfer loads its links until its latency before its end, whichever way time runs, so
    that all loads move by the latency; where transfers with different latencies share a link they
    may come to overlap, which ``verify`` finds.

    Parameters
    ----------
    schedule : StepSchedule
        On ``topology.reversed()``.
    topology : Topology

    Raises
    ------
    ValueError
        If a GPU gets a chunk twice, or gets its own: backwards it would be counted twice.
    """
    sends, chunks, clock = schedule.sends, schedule.chunks, schedule.clock
    got = sends.chunk.astype(np.int64) * topology.num_compute + sends.head
    if len(np.unique(got)) < len(got) or (chunks.root[sends.chunk] == sends.head).any():
        raise ValueError("a GPU gets a chunk that it has; this has no reduction")
    step = np.int32(schedule.num_steps - 1) - sends.step
    if clock is not None:
        finish = clock.end.max(initial=0)
        step = np.unique(finish - clock.end, return_inverse=True)[1].astype(np.int32)
    order = np.lexsort((sends.tail, sends.head, sends.chunk, step))
    if clock is not None:
        start, end = finish - clock.end[order], finish - clock.start[order]
        clock = replace(clock, start=start, end=end)
    return StepSchedule(
        topology=topology,
        method=schedule.method,
        collective={"allgather": "reduce-scatter", "broadcast": "reduce"}[schedule.collective],
        chunks=chunks,
        sends=Sends(
            step=step[order],
            chunk=sends.chunk[order],
            tail=sends.head[order],
            head=sends.tail[order],
            reduce=np.ones(len(order), dtype=np.bool_),
        ),
        routes=turned_routes(schedule.routes),
        clock=clock,
    )


def in_turn(reduce: StepSchedule, gather: StepSchedule) -> StepSchedule:
    """Make an allreduce: when the last sum is complete, the gathering of the sums begins.

    A transfer is divided over paths in one way throughout; where the phases divide a link's
    traffic differently, half of each way is taken.

    Raises
    ------
    ValueError
        If the phases cut the data differently, or have clocks for different amounts of it.
    """
    one, other = reduce.chunks, gather.chunks
    if one.whole != other.whole or not (
        np.array_equal(one.size, other.size) and np.array_equal(one.root, other.root)
    ):
        raise ValueError("the phases of this allreduce cut the data into different chunks")
    then = replace(gather.sends, step=gather.sends.step + np.int32(reduce.num_steps))
    return StepSchedule(
        topology=gather.topology,
        method=gather.method,
        collective="allreduce",
        chunks=replace(other, root=np.full(len(other), -1, dtype=np.int32)),
        sends=Sends.joined([reduce.sends, then], other),
        routes=_united(reduce.routes, gather.routes),
        clock=_one_after_the_other(reduce.clock, gather.clock),
    )


def _one_after_the_other(first: Clock | None, then: Clock | None) -> Clock | None:
    """One clock for both, the second set to where the first stops."""
    if first is None or then is None:
        if first is not then:
            raise ValueError("one phase of this allreduce has a clock and the other none")
        return None
    if first.size_bytes != then.size_bytes:
        raise ValueError("the phases of this allreduce have clocks for data of different sizes")
    one, other = first.tick_us, then.tick_us
    common = math.lcm(one.denominator, other.denominator)
    tick = Fraction(math.gcd(int(one * common), int(other * common)), common)
    before, after = int(one / tick), int(other / tick)
    finish = int(first.end.max(initial=0)) * before
    return Clock(
        size_bytes=first.size_bytes,
        tick_us=tick,
        start=np.concatenate([first.start * before, finish + then.start * after]),
        end=np.concatenate([first.end * before, finish + then.end * after]),
    )


def _united(one: Routes, other: Routes) -> Routes:
    """The paths of both; of links that both use, half of the traffic in each way."""
    first, then = one.paths(), other.paths()
    united = {**first, **then}
    for link in first.keys() & then.keys():
        united[link] = _halved(first[link], then[link])
    return Routes.from_paths(united)


def _halved(one: Sequence[Path], other: Sequence[Path]) -> tuple[Path, ...]:
    ways: dict[tuple[int, ...], Fraction] = {}
    for paths in (one, other):
        total = sum(path.multiplicity for path in paths)
        for path in paths:
            ways[path.nodes] = ways.get(path.nodes, Fraction(0)) + Fraction(
                path.multiplicity, total
            )
    common = math.lcm(*(share.denominator for share in ways.values()))
    shares = [int(share * common) for share in ways.values()]
    divisor = math.gcd(*shares)
    return tuple(Path(way, share // divisor) for way, share in zip(ways, shares, strict=True))
