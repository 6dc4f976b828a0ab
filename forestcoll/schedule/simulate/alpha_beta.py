"""Alpha-beta-gamma model of the simulation: latencies, bandwidths, and waiting.

A transfer of n bytes that shares its links with no other takes

    alpha * (GPUs on its path that send) + latencies of its links + n / (slowest bandwidth)

and a receiver that adds takes ``gamma * n`` more. Switches cost their links' latencies only: a hop
from GPU to GPU over switches is one alpha. A transfer uses no bandwidth while it waits for its
latency. But the next pipeline chunk of the same transfer waits as well, so every pipeline chunk has
a price, and more of them are not always better.
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
"""Default latency of a hop: that of the simulations in the BFB paper."""

_MOST_US = 10**9


class Sharing(StrEnum):
    """How transfers share a link.

    FAIR: max-min fair rates in proportion to the transfers' sizes, so a transfer in two halves has
    the rate of the whole. FIFO: one after the other as they come; switches queue the rest.
    """

    FAIR = "fair"
    FIFO = "fifo"


@dataclass(frozen=True, slots=True, kw_only=True)
class AlphaBeta:
    """The alpha-beta-gamma model; beta are the bandwidths of the topology.

    Parameters
    ----------
    alpha_us : int, Fraction or str
        Microseconds of every hop from GPU to GPU, in addition to the latencies of its links.
    gamma_s_per_gb : int, Fraction or str
        Seconds that a GPU takes to add one gigabyte to what it has.
    lockstep : bool
        Whether there is a barrier after each step, as step schedules assume. The steps of different
        pipeline chunks run side by side. Without it, transfers wait only for their dependencies.
    keep_clock : bool
        Whether a schedule with a clock keeps its times; only for its size and one pipeline chunk.

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
