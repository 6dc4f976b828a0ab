"""How long a search may go on."""

from __future__ import annotations

from dataclasses import dataclass

from baselines.interface.parameters import complaint
from forestcoll.errors import InvalidParameterError

__all__ = ["Limits"]


@dataclass(frozen=True, slots=True)
class Limits:
    """What a method that searches may use; one that only computes has no need of it.

    Parameters
    ----------
    seconds : float, optional
        Wall-clock time, after which the method returns the best it has, or raises TimeLimitError
        if it has nothing; zero leaves none. None: no limit.
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
        for name in ("seconds", "threads"):
            if problem := complaint(Limits, name, getattr(self, name)):
                raise InvalidParameterError(f"{name} {problem}")
        if self.seconds is not None and self.seconds < 0:
            raise InvalidParameterError(f"seconds is {self.seconds}; it must not be negative")
        if self.threads < 1:
            raise InvalidParameterError(f"threads is {self.threads}; it takes at least one")
