"""Rate of given link loads: the time of the busiest link, and the share of the bound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from forestcoll.runtimes.scoring.file_bounds import FileBound
from forestcoll.schedule.pipelined import slowest_of_loads
from forestcoll.topology.model import Topology

__all__ = ["Measurement", "measured"]


@dataclass(frozen=True, slots=True)
class Measurement:
    """The pipelined rate of given loads, with an upper bound.

    Parameters
    ----------
    algbw_gb_s : Fraction, optional
        None if nothing is sent.
    busiest_link : tuple of str, optional
        Tail and head of the first link with the longest time, or the name of a shared capacity.
    bound : FileBound, optional
        None for a single GPU.
    loads : tuple of Fraction
        For each link of the topology, its load as a share of the data.
    """

    algbw_gb_s: Fraction | None
    busiest_link: tuple[str, ...] | None
    bound: FileBound | None
    loads: tuple[Fraction, ...] = field(repr=False)

    @property
    def share(self) -> Fraction | None:
        """The rate over the bound: at least this share of the optimum is reached."""
        if self.algbw_gb_s is None or self.bound is None:
            return None
        return self.algbw_gb_s / self.bound.algbw_gb_s


def measured(topology: Topology, loads: Sequence[Fraction], bound: FileBound | None) -> Measurement:
    """Measure loads, given as shares of the data, in the order of the topology's links."""
    slowest, names = slowest_of_loads(topology, loads)
    if names is None:
        return Measurement(None, None, bound, tuple(loads))
    return Measurement(1 / slowest, names, bound, tuple(loads))
