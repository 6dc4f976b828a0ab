"""Findings of an interpretation, each with its place in the file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice

__all__ = ["MOST_FINDINGS", "Collected", "Finding", "Findings", "Kind", "Place", "first_of"]

MOST_FINDINGS = 50
"""Of each kind."""


class Kind(StrEnum):
    """Kind of a finding; all kinds except notes make an algorithm wrong."""

    LIMIT = "limit"
    """More than the executor takes, or what it refuses."""
    REFERENCE = "reference"
    """A channel, buffer or semaphore that is not there; operands that an operation cannot have."""
    BOUNDS = "bounds"
    """Chunks that are not in a buffer."""
    PAIRING = "pairing"
    """A send without its receive, the other way round, or of another count."""
    DEPENDENCY = "dependency"
    """A wait for a step or signal that never comes."""
    BALANCE = "balance"
    """Signals and waits, or releases and acquires, whose numbers differ."""
    DEADLOCK = "deadlock"
    LAUNCH = "launch"
    """A buffer of another GPU that is touched before its launch begins, or after it ends."""
    RACE = "race"
    """Two threadblocks at one chunk, in no order, of which one writes."""
    DATA = "data"
    """A result that is wrong or missing."""
    INPUT = "input"
    """The caller's input is changed by a call that is not in place."""
    NOTE = "note"
    """What does not make it wrong."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a file: a step of a threadblock of a GPU; -1 and line 0 if not applicable."""

    gpu: int = -1
    threadblock: int = -1
    step: int = -1
    line: int = 0

    def __str__(self) -> str:
        names = (("GPU", self.gpu), ("threadblock", self.threadblock), ("step", self.step))
        words = ", ".join(f"{name} {number}" for name, number in names if number >= 0)
        where = f"line {self.line}" if self.line else ""
        return f"{words} ({where})" if words and where else words or where or "algo"


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding.

    Parameters
    ----------
    message : str
        One line, which includes the places.
    gpu, threadblock, step, line : int
        The place; -1, and line 0, if not applicable.
    others : tuple of Place
        Other places that take part: the rest of a cycle of waits, the other end of a race or a
        pair, or the path of wrong data, from its end back.
    """

    kind: Kind
    message: str
    gpu: int = -1
    threadblock: int = -1
    step: int = -1
    line: int = 0
    others: tuple[Place, ...] = ()

    @property
    def is_wrong(self) -> bool:
        """Whether this finding makes the algorithm wrong."""
        return self.kind is not Kind.NOTE

    @property
    def lines(self) -> tuple[int, ...]:
        """The lines of the file that are involved."""
        places = (self.line, *(place.line for place in self.others))
        return tuple(dict.fromkeys(line for line in places if line))

    @classmethod
    def at(cls, kind: Kind, message: str, *places: Place) -> Finding:
        """Make a finding from places, of which the first is its own."""
        own, *others = places or (Place(),)
        return cls(kind, message, own.gpu, own.threadblock, own.step, own.line, tuple(others))


@dataclass(frozen=True, slots=True)
class Findings:
    """All findings of an algorithm.

    Parameters
    ----------
    findings : tuple of Finding
        Errors first; a limited number of each kind.
    more : tuple of Kind
        Kinds with more findings than are reported.
    runs : tuple of str
        The calls that were executed, in words.
    transfers : int
        Transfers between GPUs in a slice of the largest call.
    """

    findings: tuple[Finding, ...]
    more: tuple[Kind, ...] = ()
    runs: tuple[str, ...] = ()
    transfers: int = 0

    @property
    def is_right(self) -> bool:
        """Whether nothing makes it wrong."""
        return not any(one.is_wrong for one in self.findings)


class Collected:
    """Collector of distinct findings, with a limit for each kind."""

    def __init__(self) -> None:
        self._found: dict[tuple[Kind, str], Finding] = {}
        self._count: Counter[Kind] = Counter()

    def take(self, findings: Iterable[Finding]) -> None:
        """Add findings."""
        for one in findings:
            if (one.kind, one.message) not in self._found:
                self._count[one.kind] += 1
                if self._count[one.kind] <= MOST_FINDINGS:
                    self._found[one.kind, one.message] = one

    @property
    def kinds(self) -> frozenset[Kind]:
        """The kinds found so far."""
        return frozenset(self._count)

    def findings(self, runs: tuple[str, ...], transfers: int) -> Findings:
        """Return all findings, errors first."""
        order = {kind: place for place, kind in enumerate(Kind)}
        found = sorted(self._found.values(), key=lambda one: order[one.kind])
        more = tuple(kind for kind in Kind if self._count[kind] > MOST_FINDINGS)
        return Findings(tuple(found), more, runs, transfers)


def first_of(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Take as many as are reported, and one more as a sign that there are others."""
    return islice(findings, MOST_FINDINGS + 1)
