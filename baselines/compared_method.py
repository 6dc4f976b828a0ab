"""One method of a comparison: its schedule and rates, or why it has none."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from baselines.interface.method import Schedule
from forestcoll.topology.in_brief import InARow

__all__ = ["Compared"]


@dataclass(frozen=True, repr=False)
class Compared(InARow):
    """A method on a network.

    Parameters
    ----------
    method : str
    algbw_gb_s : Fraction, optional
        Theoretical algorithmic bandwidth of its schedule, pipelined; None without a schedule.
    bound_gb_s : Fraction, optional
        The optimum of the network, or the bound on allreduces of its model: with or without
        switches that multicast and reduce. None for an all-to-all.
    synchronous_gb_s : Fraction, optional
        The same in synchronous steps, each of which waits for its slowest link; None for flows.
    steps : int, optional
    time_us : float, optional
        Simulated time, if a size was given.
    reason : str
        Why there is no schedule, or what is wrong with it; "" for a verified schedule.
    """

    method: str
    algbw_gb_s: Fraction | None = None
    bound_gb_s: Fraction | None = None
    synchronous_gb_s: Fraction | None = None
    steps: int | None = None
    time_us: float | None = None
    reason: str = ""
    schedule: Schedule | None = field(default=None, compare=False)

    def in_a_row(self) -> dict[str, object]:
        """Return the method, its rates, and the share of the optimum."""
        share = None
        if self.algbw_gb_s is not None and self.bound_gb_s is not None:
            share = 100 * self.algbw_gb_s / self.bound_gb_s
        return {
            "method": self.method,
            "algbw_gb_s": self.algbw_gb_s,
            "percent_of_optimum": share,
            "synchronous_gb_s": self.synchronous_gb_s,
            "steps": self.steps,
            "time_us": self.time_us,
            "no_schedule": self.reason or None,
        }
