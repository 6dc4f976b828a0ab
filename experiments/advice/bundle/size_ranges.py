"""Division of the data sizes into ranges without gaps or overlaps.

A runtime loads the file whose range holds a size. Tuning leaves sizes between two of its ranges to
either; here a range extends until the next one begins, as in
:meth:`experiments.advice.tuning.tuning.Tuning.best`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

__all__ = ["Part", "adjacent", "faults_of"]


@dataclass(frozen=True, slots=True)
class Part:
    """Sizes with one schedule, or none."""

    first_bytes: int  # both included
    last_bytes: int  # both included
    use: str  # the name of the schedule, as tuning has it; of the best one if there is none to use
    schedule: Path | None  # its file; None if no schedule can be used
    method: str
    # by what share it takes longer than the best of these sizes in simulation, at most
    slower: float = 0.0
    instead_of: str = ""  # the best one, if this is another; empty if it is not
    why: str = ""  # why the best one is not used; empty if it is


def adjacent(parts: Sequence[Part]) -> list[Part]:
    """Extend each part to the next one's start, and join neighbours with one schedule.

    Examples
    --------
    >>> one = Part(1, 10, "a", Path("a.npz"), "a")
    >>> other = Part(12, 20, "b", Path("b.npz"), "b")
    >>> [(part.first_bytes, part.last_bytes) for part in adjacent([one, other])]
    [(1, 11), (12, 20)]
    """
    joined: list[Part] = []
    for part in parts:
        if joined and _alike(joined[-1], part):
            before = joined[-1]
            slower = max(before.slower, part.slower)
            joined[-1] = replace(before, last_bytes=part.last_bytes, slower=slower)
        else:
            joined.append(part)
    ends = [then.first_bytes - 1 for then in joined[1:]] + [joined[-1].last_bytes]
    return [replace(part, last_bytes=end) for part, end in zip(joined, ends, strict=True)]


def _alike(one: Part, other: Part) -> bool:
    same = one.use == other.use and (one.schedule is None) == (other.schedule is None)
    return same and (one.instead_of, one.why) == (other.instead_of, other.why)


def faults_of(ranges: Sequence[tuple[int, int]], first: int, last: int) -> Iterator[str]:
    """Yield gaps and overlaps of ordered ranges that should cover everything from first to last."""
    for begin, end in ranges:
        if begin > end:
            yield f"the range of {begin} to {end} bytes ends before it begins"
    for (_, end), (begin, _) in pairwise(ranges):
        if begin > end + 1:
            yield f"no range has {end + 1} to {begin - 1} bytes"
        elif begin <= end:
            yield f"two ranges have {begin} to {end} bytes"
    if not ranges or ranges[0][0] != first or ranges[-1][1] != last:
        yield f"the ranges do not begin at {first} and end at {last} bytes, which were tuned"
