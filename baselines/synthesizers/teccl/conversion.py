"""Conversion of a solution in epochs into a clocked schedule.

Problem: start, departure and arrival of every transfer, within the real bandwidths and latencies.
Output:  a step schedule whose ends are GPUs and switches.
Source:  Liu et al., TE-CCL (SIGCOMM 2024), section 5.

If every latency counts, epoch k begins at k tau. If the model drops latencies, epochs are
lengthened by the largest sum of dropped latencies on a path, so the clock is valid; the time in the
model is epochs times tau. A chunk arrives at the end of its epochs. One that a switch passes on
while it arrives does so earlier, so that the reversed schedule sends it in time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from baselines.building.ticks import common_part
from baselines.networks.switch_free import latency_us
from baselines.synthesizers.teccl.instance.commodities import Demand
from baselines.synthesizers.teccl.instance.epochs import EpochNetwork
from baselines.synthesizers.teccl.milp.epoch_program import Sent
from forestcoll.schedule.clock import timed
from forestcoll.schedule.forest import Path, Routes
from forestcoll.schedule.sends import Chunks, TimedSend
from forestcoll.schedule.steps import StepSchedule

__all__ = ["Move", "clocked", "schedule_of"]


def schedule_of(
    network: EpochNetwork,
    demand: Demand,
    kept: Mapping[Sent, Sent | None],
    collective: str,
    size_bytes: int,
) -> StepSchedule:
    """Put the transfers of a solution on the clock."""
    delayed: dict[Sent, Fraction] = {}
    for send in sorted(kept, key=lambda send: send[2] + network.arcs[send[1]].span):
        _delay(network, kept, send, delayed)
    onward: dict[Sent, list[Sent]] = {}
    for send, feeder in kept.items():
        if feeder is not None:
            onward.setdefault(feeder, []).append(send)
    moves = []
    for send in kept:
        after = onward.get(send, [])
        at_once = bool(after) and all(network.arcs[then[1]].offset < 1 for then in after)
        last = max((then[2], delayed[then]) for then in after) if at_once else None
        moves.append(Move(*send, delayed[send], passed_on=last))
    return clocked(network, demand.chunks, moves, collective, size_bytes)


class Move(NamedTuple):
    """A transfer: chunk, arc, epoch, and how much later than the epoch it starts.

    ``delay_us`` is for latencies that the model drops. Without an amount it is the whole chunk.
    ``passed_on``: if a switch passes it on while it arrives, epoch and delay of the last such
    transfer.
    """

    chunk: int
    arc: int
    epoch: int
    delay_us: Fraction
    first: int = 0
    amount: int | None = None
    passed_on: tuple[int, Fraction] | None = None


def clocked(
    network: EpochNetwork,
    chunks: Chunks,
    moves: Sequence[Move],
    collective: str,
    size_bytes: int,
    stretch: Fraction = Fraction(1),
) -> StepSchedule:
    """Put moves on the clock; ``stretch`` multiplies all times."""
    lost = max((m.delay_us + network.arcs[m.arc].dropped_us for m in moves), default=Fraction(0))
    epoch = network.epoch_us
    ends = network.topology.ends
    latency = {
        m.arc: latency_us(network.topology, (ends[v] for v in network.arcs[m.arc].path))
        for m in moves
        if m.passed_on
    }
    # All starts and ends are sums of these, so they are whole numbers of ticks.
    tick = common_part([epoch, lost, *{move.delay_us for move in moves}, *latency.values()])
    used = sorted(
        {network.arcs[move.arc].path for move in moves}, key=lambda path: (path[0], path[-1], path)
    )
    place = {path: number for number, path in enumerate(used)}  # as the routes number them
    rows = []
    for move in moves:
        arc = network.arcs[move.arc]
        # Every epoch is longer by the largest delay, so delayed transfers still end before the next
        # epoch that uses them.
        start = move.epoch * (epoch + lost) + move.delay_us
        left = start + arc.busy * epoch
        end = (move.epoch + arc.span + 1) * (epoch + lost)
        if move.passed_on:
            begun, late = move.passed_on
            end = max(left + latency[move.arc], begun * (epoch + lost) + late)
        rows.append(
            TimedSend(
                *(int(start / tick), int(end / tick), move.chunk, arc.tail, arc.head),
                first=move.first,
                amount=move.amount,
                left=int(left / tick),
                path=place[arc.path],
            )
        )
    sends, clock = timed(rows, size_bytes, tick * stretch)
    routes = _routes(network, used)
    return StepSchedule(network.topology, "teccl", collective, chunks, sends, routes, clock)


def _routes(network: EpochNetwork, used: Sequence[tuple[int, ...]]) -> Routes:
    ends = network.topology.ends
    paths: dict[tuple[int, int], list[Path]] = {}
    for path in used:
        paths.setdefault((path[0], path[-1]), []).append(Path(tuple(ends[v] for v in path), 1))
    return Routes.from_paths(paths)


def _delay(
    network: EpochNetwork,
    kept: Mapping[Sent, Sent | None],
    send: Sent,
    delayed: dict[Sent, Fraction],
) -> Fraction:
    """Return how much later than its epoch a transfer starts, for dropped latencies before it."""
    if send not in delayed:
        feeder, late = kept[send], Fraction(0)
        if feeder is not None and network.arcs[send[1]].offset < 1:
            late = _delay(network, kept, feeder, delayed) + network.arcs[feeder[1]].dropped_us
        delayed[send] = late
    return delayed[send]
