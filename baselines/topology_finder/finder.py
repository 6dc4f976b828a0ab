"""The networks for N GPUs of degree d: the Pareto front of T_L and T_B over known constructions.

Problem: which network, and how far is it from what no network of that size can beat.
Input:   N, d; links one way or both ways.
Output:  the front by ascending T_L, and the bounds.
Cost:    seconds, most of them for generalized Kautz graphs that the stored table lacks.
Source:  Zhao et al. (NSDI 2025), section 5.4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from baselines.direct_connect.bfb.theory import least_steps, least_steps_both_ways, least_time
from baselines.topology_finder.base_networks import Base, Times
from baselines.topology_finder.base_table import BaseTable
from baselines.topology_finder.bottom_up_search import search
from baselines.topology_finder.candidate import Candidate
from forestcoll.all_to_all.closed_forms import degree_bound
from forestcoll.errors import InvalidParameterError, UnsupportedError

__all__ = [
    "MOST_DEGREE", "MOST_NODES", "Bounds", "Question", "bounds_of", "divisors", "find", "front",
]  # fmt: skip

MOST_NODES = 4096
MOST_DEGREE = 64

_LONG = 500
"""Nodes from which on a breadth-first broadcast takes a noticeable time."""

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked for.

    Parameters
    ----------
    nodes, degree : int
    bidirectional : bool
        Whether there must be a link back for every link.
    printed : bool
        Whether only base networks of table 9 of the paper are to be used.
    """

    nodes: int
    degree: int
    bidirectional: bool = False
    printed: bool = False

    def __post_init__(self) -> None:
        """Refuse numbers that are out of bounds."""
        if not 2 <= self.nodes <= MOST_NODES:
            raise InvalidParameterError(f"nodes is {self.nodes}; it must be from 2 to {MOST_NODES}")
        if not 1 <= self.degree <= MOST_DEGREE:
            raise InvalidParameterError(
                f"degree is {self.degree}; it must be from 1 to {MOST_DEGREE}"
            )


@dataclass(frozen=True, slots=True)
class Bounds:
    """What no network of this size and degree can beat: T_L, T_B, all-to-all rate in links."""

    hops: int
    time: Fraction
    all_to_all: Fraction


def bounds_of(asked: Question) -> Bounds:
    """Return the Moore bound, the bandwidth bound and the all-to-all bound."""
    steps = least_steps_both_ways if asked.bidirectional and asked.degree > 1 else least_steps
    hops = 1 if asked.nodes == 2 else steps(asked.nodes, asked.degree)
    return Bounds(hops, least_time(asked.nodes), degree_bound(asked.nodes, asked.degree))


def divisors(nodes: int) -> list[int]:
    """Return the numbers above 1 that divide a number of nodes."""
    return [size for size in range(2, nodes + 1) if nodes % size == 0]


def find(
    asked: Question, table: BaseTable | None = None, progress: Progress | None = None
) -> list[Candidate]:
    """Search all constructions, and return the front by T_L and T_B of an allreduce.

    Raises
    ------
    UnsupportedError
        If no construction has this size and degree; the message names the nearest that one has.
    """
    table = table or BaseTable()

    def times_of(base: Base) -> Times | None:
        if asked.printed and not base.printed:
            return None
        if progress is not None and base.nodes >= _LONG and table.stored(base) is None:
            progress(base.name)
        return table.times_of(base)

    found = search(divisors(asked.nodes), asked.degree, times_of, table.distances_of)
    best = front(found.get((asked.nodes, asked.degree), []), bidirectional=asked.bidirectional)
    if not best:
        raise UnsupportedError(_nothing(asked, table))
    return best


def front(
    candidates: list[Candidate], *, bidirectional: bool = False, collective: str = "allreduce"
) -> list[Candidate]:
    """Keep those that no other one beats in T_L or T_B of a collective, by ascending T_L."""

    def measure(one: Candidate) -> tuple[int, Fraction]:
        if collective == "allgather":
            return one.hops, one.time
        if collective == "reduce-scatter":
            return one.reverse_hops, one.reverse_time
        return one.hops + one.reverse_hops, one.time + one.reverse_time

    kept: list[Candidate] = []
    usable = [one for one in candidates if one.bidirectional or not bidirectional]
    for one in sorted(usable, key=lambda one: (*measure(one), len(one.name), one.name)):
        if not kept or measure(one)[1] < measure(kept[-1])[1]:
            kept.append(one)
    return kept


def _nothing(asked: Question, table: BaseTable) -> str:
    way = "with links both ways" if asked.bidirectional else "with links one way"
    text = (
        f"unsupported: no known construction has {asked.nodes} nodes of degree {asked.degree} {way}"
    )
    near = next(_near(asked, table), None)
    return text if near is None else f"{text}; the nearest number of nodes is {near}"


def _near(asked: Question, table: BaseTable) -> Iterator[int]:
    """Yield other numbers of nodes that a construction has, the nearest ones first."""
    for away in range(1, asked.nodes + asked.degree):
        for nodes in (asked.nodes + away, asked.nodes - away):
            if 2 <= nodes <= MOST_NODES:
                found = search(divisors(nodes), asked.degree, table.stored)
                if front(found.get((nodes, asked.degree), []), bidirectional=asked.bidirectional):
                    yield nodes
