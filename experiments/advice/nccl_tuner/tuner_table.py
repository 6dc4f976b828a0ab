"""Best built-in algorithm, protocol and number of channels of NCCL at each size.

Problem: NCCL's tuner plugin chooses among algorithms; which is nearest to the optimum?
Input:   a network, collectives, sizes, the machine.
Output:  for each size the fastest pair in simulation, its share of the optimal rate; ranges.
Cost:    simulations of the pairs that can be the best, at each size.
Source:  ours, with the costs of :mod:`experiments.advice.nccl_tuner.nccl_costs`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby, pairwise

from experiments.advice.nccl_tuner.built_in import BuiltIn, boxes_of, built_in
from experiments.advice.nccl_tuner.tuner_file import MOST_BYTES, TunerLine
from experiments.measures.bounds import UpperBound, upper_bound
from forestcoll.errors import UnsupportedError
from forestcoll.runtimes.scoring.threadblock_rates import MachineRate
from forestcoll.topology.model import Topology

__all__ = ["Choice", "Table", "lines_of", "table"]

_TIE = 1e-9


@dataclass(frozen=True, slots=True)
class Choice:
    """The fastest pair at a size.

    Parameters
    ----------
    algbw_gb_s : float
        In simulation.
    share : float or None
        Of the optimal rate, which small sizes cannot reach; None if no rate is proved.
    """

    size_bytes: int
    algorithm: str
    protocol: str
    channels: int
    time_s: float
    algbw_gb_s: float
    share: float | None


@dataclass(frozen=True, slots=True)
class Table:
    """The choices of one collective, in ascending order of size, and why others have none."""

    collective: str
    choices: tuple[Choice, ...]
    bound: UpperBound | None
    left_out: tuple[str, ...]


def table(
    topology: Topology,
    collective: str,
    sizes: Sequence[int],
    machine: MachineRate,
    protocols: tuple[str, ...],
    progress: Callable[[str, int, int], None] = lambda stage, done, total: None,
) -> Table:
    """Find the fastest pair at each size.

    Raises
    ------
    UnsupportedError
        If there is none, or the collective or machine is not NCCL's.
    """
    entries, notes = built_in(topology, collective, machine, protocols)
    if not entries:
        raise UnsupportedError(
            f"NCCL has no algorithm for {collective} on {topology.name}: " + "; ".join(notes)
        )
    root = 0 if collective in ("broadcast", "reduce") else None
    bound = upper_bound(topology, collective, Fraction(0), root)
    choices = []
    for place, size in enumerate(sorted(sizes)):
        progress(collective, place, len(sizes))
        choices.append(_choice(entries, size, bound))
    return Table(collective, tuple(choices), bound, tuple(notes))


def _choice(entries: Sequence[BuiltIn], size: int, bound: UpperBound | None) -> Choice:
    best, least = entries[0], float("inf")
    for one in sorted(entries, key=lambda one: one.at_least_s(size)):
        if one.at_least_s(size) >= least:
            break
        time_s = one.time_s(size)
        if time_s < least * (1 - _TIE):
            best, least = one, time_s
    rate = size / 1e9 / least
    share = None if bound is None else rate / float(bound.algbw_gb_s)
    channels = best.channels(size, least)
    return Choice(size, best.algorithm, best.protocol, channels, least, rate, share)


def lines_of(found: Table, topology: Topology) -> list[TunerLine]:
    """Return the lines of a table: neighbouring sizes with one choice are one range.

    The first range begins at 0, and the last has no end. Two ranges meet at the geometric mean of
    the sizes between which the choice changes.
    """
    parts = [
        (key, list(group))
        for key, group in groupby(
            found.choices, key=lambda one: (one.algorithm, one.protocol, one.channels)
        )
    ]
    begins = [0]
    for (_, below), (_, above) in pairwise(parts):
        begins.append(math.isqrt(below[-1].size_bytes * above[0].size_bytes) + 1)
    ends = [*(begin - 1 for begin in begins[1:]), MOST_BYTES]
    boxes = boxes_of(topology) or -1
    return [
        TunerLine(found.collective, begin, end, *key, boxes, topology.num_compute)
        for (key, _), begin, end in zip(parts, begins, ends, strict=True)
    ]
