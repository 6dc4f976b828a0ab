"""What one of the processes that carry a schedule out has to do: rounds of sends and receives.

Plain data, made by :mod:`forestcoll.execute.planning` and read by each process.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["OWN", "Message", "Part", "RankPlan", "Round"]

OWN = -1
"""The source of what a rank has at first; every other source is the number of a message."""


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of elements that is copied, or added, to where something is put together.

    Parameters
    ----------
    source : int
        The message that it came with, or ``OWN``.
    begin : int
        Where it begins in its source.
    at : int
        Where it goes.
    length : int
    add : bool
        Whether it is added to what is there, not put in its place.
    """

    source: int
    begin: int
    at: int
    length: int
    add: bool = False


@dataclass(frozen=True, slots=True)
class Message:
    """What goes from rank to rank at once: one transfer of a program.

    Parameters
    ----------
    number : int
        Of the transfer.
    peer : int
        The rank at the other end; the own one where a switch is this rank's to play.
    length : int
        In elements.
    parts : tuple of Part
        What the sender puts together, in this order; of a receive none.
    """

    number: int
    peer: int
    length: int
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True)
class Round:
    """Messages that go at once. What is sent has come in in an earlier round, or is the rank's own.

    All between two ranks are in the same order at both.
    """

    receives: tuple[Message, ...]
    sends: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class RankPlan:
    """All that one rank does.

    Parameters
    ----------
    rank : int
    collective : str
    root : int
        Of a broadcast or reduce; else -1.
    given, due : tuple of int
        Elements that each rank has at first, and at last.
    sent, received : tuple of int
        In an all-to-all, elements to each rank and from each rank; else none.
    rounds : tuple of Round
    result : tuple of Part
        How the rank puts together what it has at last.
    """

    rank: int
    collective: str
    root: int
    given: tuple[int, ...]
    due: tuple[int, ...]
    sent: tuple[int, ...]
    received: tuple[int, ...]
    rounds: tuple[Round, ...]
    result: tuple[Part, ...]
