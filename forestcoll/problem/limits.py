"""Limits of a search: time and threads."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from numbers import Integral, Real

from forestcoll.errors import InvalidParameterError
from forestcoll.topology.numbers import in_short

__all__ = ["MOST_SECONDS", "MOST_THREADS", "Limits", "check_seconds", "check_threads"]

MOST_SECONDS = 10_000_000
"""Largest time limit in seconds: four months."""

MOST_THREADS = 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """Time and threads that a search may use.

    Parameters
    ----------
    seconds : float, optional
        Wall-clock time. Then the search returns its best result, or raises TimeLimitError if it
        has none. Zero: no time at all. None: no limit.
    threads : int
        At least one.

    Raises
    ------
    InvalidParameterError
        If the time is negative or infinite, or there are no threads.
    """

    seconds: float | None = None
    threads: int = 1

    def __post_init__(self) -> None:
        if self.seconds is not None:
            check_seconds(self.seconds)
        check_threads(self.threads)

    def shared(self, searches: int) -> Limits:
        """Return the limits of each of several successive searches: an equal share of the time.

        Examples
        --------
        >>> Limits(seconds=10).shared(4).seconds
        2.5
        """
        return self if self.seconds is None else replace(self, seconds=self.seconds / searches)

    @property
    def deadline(self) -> float:
        """When the time is up if it starts now, by ``time.monotonic``; infinite without a limit."""
        return math.inf if self.seconds is None else time.monotonic() + self.seconds

    def until(self, deadline: float) -> Limits:
        """Return the limits with the time from now to a deadline of :attr:`deadline`."""
        left = None if deadline == math.inf else max(0.0, deadline - time.monotonic())
        return replace(self, seconds=left)


def check_seconds(seconds: float, what: str = "seconds") -> None:
    """Raise InvalidParameterError unless a time is a number from 0 up, and finite."""
    if isinstance(seconds, bool) or not isinstance(seconds, Real):
        raise InvalidParameterError(f"{what} is {seconds!r}; it must be a number")
    if not 0 <= seconds <= MOST_SECONDS:
        raise InvalidParameterError(
            f"{what} is {in_short(seconds)}; it must be from 0 to {MOST_SECONDS}"
        )


def check_threads(threads: int) -> None:
    """Raise InvalidParameterError unless the threads are a whole number from 1 up."""
    if isinstance(threads, bool) or not isinstance(threads, Integral):
        raise InvalidParameterError(f"threads is {threads!r}; it must be a whole number")
    if not 1 <= threads <= MOST_THREADS:
        raise InvalidParameterError(
            f"threads is {in_short(threads)}; it must be from 1 to {MOST_THREADS}"
        )
