"""A runtime limit that an export exceeds: the amount needed and the amount allowed."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Excess"]


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
