"""Score of another synthesizer's output on a network: correctness, rate and share of the optimum.

Problem: is the output of TE-CCL, SCCL or TACCL correct, and how near is it to the bound?
Input:   transfers read from a file; a topology with as many GPUs.
Output:  its first error; or the loads of its transfers, the exact pipelined algbw and the bound.
Cost:    that of ``verify`` and of the bound.
Source:  own. The bound is that of :mod:`forestcoll.runtimes.scoring.file_bounds`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.errors import VerificationError
from forestcoll.runtimes.scoring.file_bounds import Measurement, bound_of, measured
from forestcoll.runtimes.scoring.other_tools.tool_schedule import as_the_file_has_it, tool_schedule
from forestcoll.runtimes.scoring.other_tools.tool_transfers import ToolTransfers
from forestcoll.schedule.cost_model import cost
from forestcoll.schedule.steps import StepSchedule
from forestcoll.schedule.verification import verify
from forestcoll.topology.model import Topology

__all__ = ["ToolScore", "score_transfers"]


@dataclass(frozen=True, slots=True)
class ToolScore:
    """The score of transfers on a network.

    Parameters
    ----------
    wrong : str, optional
        The counter-example of ``verify``, with the file's own names added.
    measurement : Measurement, optional
        None if the transfers are wrong.
    """

    schedule: StepSchedule
    wrong: str | None = None
    measurement: Measurement | None = None


def score_transfers(
    transfers: ToolTransfers, topology: Topology, order: Sequence[int] | None = None
) -> ToolScore:
    """Verify transfers and measure them on a network.

    Parameters
    ----------
    order : sequence of int, optional
        The rank in the topology of each GPU of the file; by default, the same number.

    Raises
    ------
    ForestCollError
        As of :func:`forestcoll.runtimes.scoring.other_tools.tool_schedule.tool_schedule` and
        :func:`forestcoll.core.optimality.optimum`.
    """
    schedule = tool_schedule(transfers, topology, order)
    try:
        verify(schedule)
    except VerificationError as failure:
        return ToolScore(schedule, wrong=as_the_file_has_it(transfers, str(failure)))
    root = transfers.root
    if root is not None and order is not None:
        root = order[root]
    weights = None if root is None else [int(rank == root) for rank in range(len(transfers.gpus))]
    bound = bound_of(topology, transfers.collective, weights)
    return ToolScore(schedule, measurement=measured(topology, _loads(schedule), bound))


def _loads(schedule: StepSchedule) -> list[Fraction]:
    if not len(schedule.sends):
        return [Fraction(0)] * len(schedule.topology.links)
    taken = cost(schedule)
    return [Fraction(load, taken.whole) for load in taken.loads]
