"""How long a search may go on."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Limits"]


@dataclass(frozen=True, slots=True)
class Limits:
    """What a method that searches may use; one that only computes has no need of it.

    Parameters
    ----------
    seconds : float, optional
        Wall-clock time, after which the method returns the best it has, or raises TimeLimitError
        if it has nothing. None: no limit.
    threads : int
    """

    seconds: float | None = None
    threads: int = 1
