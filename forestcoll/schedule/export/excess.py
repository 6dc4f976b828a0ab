"""A limit of a runtime that an export breaks."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Excess"]


@dataclass(frozen=True, slots=True)
class Excess:
    """How much is needed of what, and how much there is."""

    what: str
    needed: int
    most: int

    @property
    def share(self) -> float:
        """How many times the limit is needed."""
        return self.needed / self.most

    def __str__(self) -> str:
        return f"{self.needed} {self.what}, and {self.most} are the most"
