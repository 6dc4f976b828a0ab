"""The paper's allreduce: an all-to-all, a local sum at every GPU, and an allgather.

Problem: the time of an allreduce if no GPU adds on the way.
Output:  the schedules of both phases, each to be verified by itself.
Source:  Liu et al., TE-CCL (SIGCOMM 2024), section 2: "allreduce" as the traffic of an all-to-all
         and that of an allgather.

Both do not combine into one schedule of an allreduce. There GPUs add arrivals to their own data, so
parts could not pass through them unchanged.
:func:`baselines.synthesizers.teccl.teccl.generate` reverses an allgather instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from baselines.synthesizers.teccl.teccl import generate
from forestcoll.problem.limits import Limits
from forestcoll.schedule.steps import StepSchedule
from forestcoll.topology.model import Topology

__all__ = ["PaperAllreduce", "paper_allreduce"]


@dataclass(frozen=True)
class PaperAllreduce:
    """Both phases of an allreduce.

    Parameters
    ----------
    scatter : StepSchedule
        An all-to-all: every GPU receives the parts of its shard.
    gather : StepSchedule
        An allgather of the sums.
    """

    scatter: StepSchedule
    gather: StepSchedule

    @property
    def finish_us(self) -> Fraction:
        """The end of the second phase, which begins when the first has ended."""
        clocks = (self.scatter.clock, self.gather.clock)
        return sum((clock.finish_us for clock in clocks if clock is not None), Fraction(0))


def paper_allreduce(
    topology: Topology, *, limits: Limits | None = None, **asked: Any
) -> PaperAllreduce:
    """Make both phases; parameters and errors as of ``generate``, the time shared evenly.

    Examples
    --------
    >>> from forestcoll import load_topology
    >>> paper_allreduce(load_topology("ring:nodes=4"), size_bytes=4000).finish_us
    Fraction(4, 1)
    """
    limits = (limits or Limits()).shared(2)
    phases = (
        generate(topology, which, limits=limits, **asked) for which in ("all-to-all", "allgather")
    )
    return PaperAllreduce(*phases)
