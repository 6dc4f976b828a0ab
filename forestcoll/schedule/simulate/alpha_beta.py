"""Alpha-beta-gamma model of the simulation: latencies, bandwidths, and waiting.

A transfer of n bytes that shares its links with no other takes

    alpha * (GPUs on its path that send) + latencies of its links + n / (slowest bandwidth)

and a receiver that adds takes ``gamma * n`` more. Switches cost their links' latencies only: a hop
from GPU to GPU over switches is one alpha. A transfer uses no bandwidth while it waits for its
latency. With a window of 1, the next pipeline chunk of the same transfer waits as well, so every
pipeline chunk has a price, and more of them are not always better. With a larger window, pipeline
chunks of one transfer share its latency and leave their sender one after the other; what remains
is the cost of a chunk (LogGP: g and o; Alexandrov et al., SPAA 1995).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Final, Literal, TypeVar

from forestcoll.errors import InvalidParameterError, InvalidTopologyError
from forestcoll.topology.describe import decimal
from forestcoll.topology.numbers import Exact, exact
from forestcoll.topology.reading.units import latency_us

__all__ = ["DEFAULT_ALPHA_US", "MOST_WINDOW", "UNLIMITED", "AlphaBeta", "Priority", "Sharing"]

DEFAULT_ALPHA_US = Fraction(10)
"""Default latency of a hop: that of the simulations in the BFB paper."""

UNLIMITED: Final = "unlimited"
"""The window without a limit: data is fluid, up to the size of a pipeline chunk."""

_MOST_US = 10**9
MOST_WINDOW = 2**20
_Names = TypeVar("_Names", bound=StrEnum)


class Sharing(StrEnum):
    """How transfers share a link.

    FAIR: max-min fair rates in proportion to the transfers' sizes, so a transfer in two halves has
    the rate of the whole. FIFO: one after the other as they come; switches queue the rest.
    """

    FAIR = "fair"
    FIFO = "fifo"


class Priority(StrEnum):
    """Which transfers go first on a link that they share.

    EQUAL: all alike. CRITICAL_PATH: those with the longest chain of dependent transfers behind them
    first; the others share what these leave.
    """

    EQUAL = "equal"
    CRITICAL_PATH = "critical-path"


@dataclass(frozen=True, slots=True, kw_only=True)
class AlphaBeta:
    """The alpha-beta-gamma model; beta are the bandwidths of the topology.

    Parameters
    ----------
    alpha_us : int, Fraction or str
        Microseconds of every hop from GPU to GPU, in addition to the latencies of its links; text
        may have a unit, such as "800 ns". So may all further microseconds.
    gamma_s_per_gb : int, Fraction or str
        Seconds that a GPU takes to add one gigabyte to what it has.
    lockstep : bool
        Whether there is a barrier after each step, as step schedules assume. The steps of different
        pipeline chunks run side by side. Without it, transfers wait only for their dependencies.
    keep_clock : bool
        Whether a schedule with a clock keeps its times; only for its size and one pipeline chunk.
    window : int or "unlimited"
        Pipeline chunks of a transfer that may have started and not yet arrived.
    chunk_cost_us, message_cost_us : int, Fraction or str
        Microseconds that every pipeline chunk of a transfer occupies its sender before it flows,
        and that the first one does in addition; for each sending GPU.
    efficiency : int, Fraction or str
        Share of each bandwidth that data gets, above 0 up to 1: the rest is protocol.
    priority : Priority
        Fair sharing only.

    Raises
    ------
    InvalidParameterError
        If a number is negative, not exact, or more than a thousand seconds; a window is not a
        number from 1; or an efficiency is not above 0 and at most 1.
    """

    alpha_us: Exact = DEFAULT_ALPHA_US
    gamma_s_per_gb: Exact = 0
    sharing: Sharing | Literal["fair", "fifo"] = Sharing.FAIR
    lockstep: bool = False
    keep_clock: bool = False
    window: int | Literal["unlimited"] = 1
    chunk_cost_us: Exact = 0
    message_cost_us: Exact = 0
    efficiency: Exact = 1
    priority: Priority | Literal["equal", "critical-path"] = Priority.EQUAL

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

    @property
    def has_priorities(self) -> bool:
        """Whether some transfers go before others."""
        return self.priority is Priority.CRITICAL_PATH

    def window_of(self, pipeline_chunks: int) -> int:
        """Return the window for a number of pipeline chunks, which never need a larger one."""
        return pipeline_chunks if self.window == UNLIMITED else min(self.window, pipeline_chunks)

    def options(self) -> list[str]:
        """Return windows, costs, efficiency and priorities in words, unless they are defaults."""
        costs = [
            (self.window != 1, f"window {self.window}"),
            (self.chunk_cost_us, f"{decimal(Fraction(self.chunk_cost_us))} us a pipeline chunk"),
            (self.message_cost_us, f"{decimal(Fraction(self.message_cost_us))} us a transfer"),
            (self.efficiency != 1, f"{decimal(Fraction(self.efficiency))} of each bandwidth"),
            (self.has_priorities, "critical paths first"),
        ]
        return [words for is_set, words in costs if is_set]

    def __post_init__(self) -> None:
        for name, what, unit in (
            ("alpha_us", "alpha", "us"),
            ("gamma_s_per_gb", "gamma", "s/GB"),
            ("chunk_cost_us", "chunk cost", "us"),
            ("message_cost_us", "message cost", "us"),
        ):
            object.__setattr__(self, name, _amount(getattr(self, name), what, unit))
        object.__setattr__(self, "efficiency", _share(self.efficiency))
        object.__setattr__(self, "sharing", _member(Sharing, self.sharing, "sharing"))
        object.__setattr__(self, "priority", _member(Priority, self.priority, "priority"))
        _check_window(self.window)
        if self.lockstep and self.keep_clock:
            raise InvalidParameterError("a schedule keeps to steps or to its clock; choose one")
        if self.has_priorities and not self.is_fair:
            raise InvalidParameterError(
                "priorities are for fair sharing; leave out fifo, or the priority"
            )


def _member(names: type[_Names], given: str, what: str) -> _Names:
    try:
        return names(given)
    except ValueError:
        known = ", ".join(names)
        raise InvalidParameterError(f"{what} is {given!r}; it must be one of {known}") from None


def _check_window(window: object) -> None:
    is_number = isinstance(window, int) and not isinstance(window, bool)
    if window != UNLIMITED and not (is_number and 1 <= window <= MOST_WINDOW):  # type: ignore[operator]
        raise InvalidParameterError(
            f"window is {window!r}; it must be a whole number from 1 to {MOST_WINDOW}, or "
            f"{UNLIMITED}"
        )


def _share(given: object) -> Fraction:
    number = _exactly(given, "efficiency")
    if not 0 < number <= 1:
        raise InvalidParameterError(f"efficiency is {given}; it must be a share above 0, at most 1")
    return number


def _exactly(given: object, what: str) -> Fraction:
    try:
        return exact(given, what)
    except InvalidTopologyError as error:
        raise InvalidParameterError(str(error)) from None


def _microseconds(given: object, what: str) -> Fraction:
    try:
        return latency_us(given)
    except InvalidTopologyError as error:
        raise InvalidParameterError(f"{what} {str(error).strip()}") from None


def _amount(given: object, what: str, unit: str) -> Fraction:
    number = _microseconds(given, what) if unit == "us" else _exactly(given, what)
    if not 0 <= number <= _MOST_US:
        shown = given if str(given)[-1].isalpha() else f"{given} {unit}"
        raise InvalidParameterError(f"{what} is {shown}; it must be from 0 to {_MOST_US} {unit}")
    return number
