"""Plan of one process in an execution: rounds of sends and receives.

Plain data, made by :mod:`forestcoll.runtimes.execution.planning` and read by each process.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["OWN", "Message", "Part", "RankPlan", "Round"]

OWN = -1
"""The source of what a rank has at first; every other source is the number of a message."""


@dataclass(frozen=True, slots=True)
class Part:
    """An interval of elements that is copied or added while a message or result is assembled.

    Parameters
    ----------
    source : int
        The message that brought it, or ``OWN``.
    begin : int
        Its offset in the source.
    at : int
        Its offset in the target.
    add : bool
        Whether it is added to the target's elements rather than replacing them.
    """

    source: int
    begin: int
    at: int
    length: int
    add: bool = False


@dataclass(frozen=True, slots=True)
class Message:
    """One message between ranks: one transfer of a program.

    Parameters
    ----------
    number : int
        Number of the transfer.
    peer : int
        The rank at the other end; the rank itself if it also plays the switch at that end.
    length : int
        In elements.
    parts : tuple of Part
        The parts that the sender assembles, in this order; empty for a receive.
    """

    number: int
    peer: int
    length: int
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True)
class Round:
    """Messages that are posted at once. They send only own data and data of earlier rounds.

    The messages between two ranks are in the same order at both.
    """

    receives: tuple[Message, ...]
    sends: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class RankPlan:
    """The whole plan of one rank.

    Parameters
    ----------
    root : int
        Of a broadcast or reduce, else -1.
    given, due : tuple of int
        Elements that each rank has first, and last.
    sent, received : tuple of int
        In an all-to-all, elements to each rank and from each rank; else empty.
    result : tuple of Part
        The parts from which the rank assembles its result.
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
