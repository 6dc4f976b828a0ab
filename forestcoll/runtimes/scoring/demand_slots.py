"""Slots of an all-to-all file that hold a demand, and the bound of the demand.

Problem: a runtime's all-to-all has equal slots; which of their chunks must a file move so that it
         serves a demand, and how fast can any schedule be?
Input:   an algorithm of MSCCL or a plan of MSCCL++, a demand, the GPU of each rank.
Output:  the chunks with data of each pair; the upper bound on the rate.
Cost:    linear in the pairs; the bound is that of :mod:`forestcoll.all_to_all.best_flow`.
Source:  ours, with the layout of :mod:`forestcoll.runtimes.data_layout`: a slot has room for the
         largest amount, and an amount lies at its beginning.

Where an amount is not a whole number of chunks, the file must move the chunk that holds its end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.errors import InvalidParameterError, TimeLimitError
from forestcoll.problem.demand import Demand
from forestcoll.runtimes.scoring.file_bounds import FileBound
from forestcoll.runtimes.scoring.sent_data import RuntimeFile, collective_of
from forestcoll.topology.model import Topology

__all__ = ["SECONDS", "Slots", "demand_bound", "slots_of"]

SECONDS = 60.0
"""Default time limit for the bound."""

_MOST_REASONS = 4
"""Prices that are named in the words of a bound."""


@dataclass(frozen=True, slots=True)
class Slots:
    """How a file's slots hold a demand.

    Parameters
    ----------
    chunks : tuple of tuples of int
        For each rank of the file as sender, of each as receiver: its first chunks, with data.
    share : Fraction
        A chunk's part of all bytes of the demand.
    """

    chunks: tuple[tuple[int, ...], ...]
    share: Fraction


def slots_of(file: RuntimeFile, demand: Demand, place: Sequence[int]) -> Slots:
    """Return which chunks of each slot must be moved.

    Parameters
    ----------
    place : sequence of int
        The rank in the demand of each rank of the file.

    Raises
    ------
    InvalidParameterError
        If the file is no all-to-all, its slots are unequal, or the demand has other GPUs.

    """
    gpus = len(file.gpus)
    collective = collective_of(file)
    if collective != "all-to-all":
        raise InvalidParameterError(f"{file.name} is of {collective}; a demand is for all-to-alls")
    if demand.gpus != gpus:
        raise InvalidParameterError(f"{demand.name} is of {demand.gpus} GPUs, and not of {gpus}")
    inputs = {gpu.input_chunks for gpu in file.gpus}
    each, rest = divmod(min(inputs), gpus)
    if len(inputs) > 1 or rest or not each:
        raise InvalidParameterError(
            f"{file.name}: the inputs of its GPUs do not have {gpus} equal slots"
        )
    amounts = demand.matrix
    largest = int(amounts.max())
    chunks = tuple(
        tuple(-(-int(amounts[one, other]) * each // largest) for other in place) for one in place
    )
    return Slots(chunks, Fraction(largest, each * demand.bytes))


def demand_bound(topology: Topology, demand: Demand, seconds: float) -> FileBound | None:
    """Return the best bound on a demand's rate; None if no prices are found in time."""
    from forestcoll.all_to_all.multicast_bounds import demand_bounds  # may load HiGHS

    try:
        found = demand_bounds(topology, demand, seconds=seconds)
    except TimeLimitError:
        return None
    rate = demand.bytes / found.least.inverse_rate
    by = "; ".join(found.least.in_words()[:_MOST_REASONS])
    return FileBound(rate, found.meet, by, f"any schedule of {demand.name}; all nodes may forward")
