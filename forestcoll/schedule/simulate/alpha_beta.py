"""What a simulation assumes: latencies, bandwidths, and who waits for whom.

A transfer of n bytes over one path takes, where it has its links for itself,

    alpha * (GPUs on its path that send) + latencies of its links + n / (slowest bandwidth)

and a receiver that adds takes ``gamma * n`` more. Switches cost their links' latencies only: a hop
from GPU to GPU over switches is one alpha. While it waits for its latency it uses no bandwidth, but
the next pipeline chunk of the same transfer waits as well, so that a pipeline chunk has a price and
more of them are not always better.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Literal

from forestcoll.errors import InvalidParameterError, InvalidTopologyError
from forestcoll.topology.numbers import Exact, exact

__all__ = ["DEFAULT_ALPHA_US", "AlphaBeta", "Sharing"]

DEFAULT_ALPHA_US = Fraction(10)
"""Of a hop, where nothing is known of a machine: that of the simulations of the BFB paper."""

_MOST_US = 10**9


class Sharing(StrEnum):
    """What happens to transfers that meet on a link.

    FAIR: they share it, by max-min fairness in proportion to their sizes, so that a transfer cut
    into two has the share of both. FIFO: one after the other as they come; switches hold the rest.
    """

    FAIR = "fair"
    FIFO = "fifo"


@dataclass(frozen=True, slots=True, kw_only=True)
class AlphaBeta:
    """The alpha-beta-gamma model; beta are the bandwidths of the topology.

    Parameters
    ----------
    alpha_us : int, Fraction or str
        Microseconds of every hop from GPU to GPU, beside the latencies of its links.
    gamma_s_per_gb : int, Fraction or str
        Seconds that a GPU takes to add one gigabyte to what it has.
    sharing : Sharing
    lockstep : bool
        Whether nothing of a step starts before all of the steps before has ended: what step
        schedules are made for. Cut into pipeline chunks, the steps of different pipeline chunks go
        side by side. Else transfers wait for what they need, and for nothing else.
    keep_clock : bool
        Whether a schedule with a clock keeps to its times; for its size and one pipeline chunk
        only.

    Raises
    ------
    InvalidParameterError
        If a number is negative, not exact, or more than a thousand seconds.
    """

    alpha_us: Exact = DEFAULT_ALPHA_US
    gamma_s_per_gb: Exact = 0
    sharing: Sharing | Literal["fair", "fifo"] = Sharing.FAIR
    lockstep: bool = False
    keep_clock: bool = False

    @property
    def alpha(self) -> Fraction:
        """Alpha in microseconds."""
        return Fraction(self.alpha_us)

    @property
    def gamma(self) -> Fraction:
        """Gamma in seconds for a gigabyte."""
        return Fraction(self.gamma_s_per_gb)

    @property
    def is_fair(self) -> bool:
        """Whether transfers share links."""
        return self.sharing is Sharing.FAIR

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha_us", _amount(self.alpha_us, "alpha", "us"))
        object.__setattr__(self, "gamma_s_per_gb", _amount(self.gamma_s_per_gb, "gamma", "s/GB"))
        try:
            object.__setattr__(self, "sharing", Sharing(self.sharing))
        except ValueError:
            known = ", ".join(Sharing)
            raise InvalidParameterError(
                f"sharing is {self.sharing!r}; it must be one of {known}"
            ) from None
        if self.lockstep and self.keep_clock:
            raise InvalidParameterError("a schedule keeps to steps or to its clock; choose one")


def _amount(given: object, what: str, unit: str) -> Fraction:
    try:
        number = exact(given, what)
    except InvalidTopologyError as error:
        raise InvalidParameterError(str(error)) from None
    if not 0 <= number <= _MOST_US:
        raise InvalidParameterError(
            f"{what} is {given} {unit}; it must be from 0 to {_MOST_US} {unit}"
        )
    return number
