"""Limits of exports: the amount that exceeds one, and checks of the options of both runtimes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from forestcoll.errors import InvalidParameterError

__all__ = ["Excess", "check_options", "first_broken"]


@dataclass(frozen=True, slots=True)
class Excess:
    """One limit: its name, the amount needed and the amount available."""

    what: str
    needed: int
    most: int

    @property
    def share(self) -> float:
        """The amount needed, divided by the limit."""
        return self.needed / self.most

    def __str__(self) -> str:
        return f"{self.needed} {self.what}, and {self.most} are the most"


def first_broken(limits: Iterable[Excess]) -> Excess | None:
    """Return the first limit that is exceeded."""
    return next((one for one in limits if one.needed > one.most), None)


class _Sizes(Protocol):
    @property
    def min_bytes(self) -> int: ...
    @property
    def max_bytes(self) -> int: ...


def check_options(options: _Sizes, *counts: str) -> None:
    """Check that counts are 1 or more, and that the sizes are a range; 0 is no limit.

    Raises InvalidParameterError if they are not. A count of None is not checked.
    """
    for name in (*counts, "min_bytes", "max_bytes"):
        value, least = getattr(options, name), int(name in counts)
        if value is not None and value < least:
            raise InvalidParameterError(f"{name} is {value}; it must be {least} or more")
    if 0 < options.max_bytes < options.min_bytes:
        raise InvalidParameterError(
            f"max_bytes is {options.max_bytes}, less than min_bytes, {options.min_bytes}"
        )
