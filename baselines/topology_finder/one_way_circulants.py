"""Circulants with links one way, with the T_L and T_B of their breadth-first broadcasts.

Problem: which offsets give N GPUs of degree d the fewest hops and the least T_B.
Input:   N and d; a stored table of the best offsets.
Output:  for each N and d the Pareto front of T_L and T_B over all sets of d offsets.
Cost:    one balance of bit sets for each set of offsets. The stored sizes take three minutes; to
         read them takes milliseconds.
Source:  Zhao et al. (NSDI 2025), appendix A.1, program (1), for one orbit of nodes: a step takes
         its largest load. By Hall's theorem (1935) that is the largest n(S) / |S| over sets S of
         offsets, where n(S) nodes have their last links in S alone.

A circulant is its own reverse with the nodes numbered downwards, so the reduce-scatter takes as
long as the allgather. ``python -m baselines.topology_finder.one_way_circulants`` writes the table.
"""

from __future__ import annotations

import csv
import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path

__all__ = ["STORED", "OneWay", "best_one_way", "one_way_times", "stored_one_way", "write_one_way"]

STORED = {2: 512, 3: 128, 4: 64}
"""Most nodes of the stored table, by degree."""

_FILE = Path(__file__).parent / "one_way_circulants.csv"
_COLUMNS = ("nodes", "degree", "offsets", "hops", "time", "cycle")


@dataclass(frozen=True, slots=True)
class OneWay:
    """A circulant with links one way.

    Parameters
    ----------
    nodes : int
    offsets : tuple of int
        Node i has a link to i + a for each of them.
    hops : int
        T_L of an allgather.
    time : Fraction
        T_B of an allgather, in M / B.
    cycle : int
        Links of a shortest cycle through any link, if that is the same for all links; else 0.
    """

    nodes: int
    offsets: tuple[int, ...]
    hops: int
    time: Fraction
    cycle: int


def one_way_times(nodes: int, offsets: tuple[int, ...], most: int | None = None) -> OneWay | None:
    """Return T_L and T_B; None if some node cannot be reached, or only in more than ``most`` hops.

    Nodes at one distance are the bits of a number. Node 0 sends; all nodes are alike.
    """
    every, front, reached = (1 << nodes) - 1, 1, 1
    loads, levels = Fraction(0), [front]
    while reached != every:
        if most is not None and len(levels) > most:
            return None
        along = [_shifted(front, offset, nodes) & ~reached for offset in offsets]
        front = 0
        for each in along:
            front |= each
        if not front:
            return None
        reached |= front
        levels.append(front)
        loads += _largest_load(front, along)
    time = loads * len(offsets) / nodes
    return OneWay(nodes, offsets, len(levels) - 1, time, _cycle(nodes, offsets, levels))


def _shifted(nodes_set: int, offset: int, nodes: int) -> int:
    """Add an offset to every node of a set."""
    moved = nodes_set << offset
    return (moved | moved >> nodes) & ((1 << nodes) - 1)


def _largest_load(front: int, along: list[int]) -> Fraction:
    """Return the least possible load of the busiest offset, in shards.

    Parameters
    ----------
    front : int
        The new nodes.
    along : list of int
        For each offset the new nodes that it leads to.
    """
    count, degree = front.bit_count(), len(along)
    most = Fraction(count, degree)
    for size in range(1, degree):
        for outside in itertools.combinations(along, degree - size):
            others = 0
            for each in outside:
                others |= each
            bound = Fraction((front & ~others).bit_count(), size)
            most = max(most, bound)
    return most


def _cycle(nodes: int, offsets: tuple[int, ...], levels: list[int]) -> int:
    """Return the length of shortest cycles through all links; 0 if lengths differ."""
    back = {
        next(hops for hops, level in enumerate(levels) if level >> (nodes - offset) & 1)
        for offset in offsets
    }
    return back.pop() + 1 if len(back) == 1 else 0


def best_one_way(nodes: int, degree: int) -> list[OneWay]:
    """Return the Pareto front of T_L and T_B, by ascending T_L; of equal ones the first offsets."""
    least = Fraction(nodes - 1, nodes)
    best: dict[int, OneWay] = {}
    most = nodes  # hops of the best one with the least T_B
    for offsets in _offset_sets(nodes, degree):
        one = one_way_times(nodes, offsets, most)
        if one is not None and (one.hops not in best or one.time < best[one.hops].time):
            best[one.hops] = one
            if one.time == least:
                most = one.hops - 1
    front: list[OneWay] = []
    for hops in sorted(best):
        if not front or best[hops].time < front[-1].time:
            front.append(best[hops])
    return front


def _offset_sets(nodes: int, degree: int) -> Iterator[tuple[int, ...]]:
    """Yield sets of offsets, at least one of those that a multiplication makes equal.

    Multiplication by a number without a common divisor with N renumbers the nodes. It can make
    any offset its largest common divisor with N; here the offset for which that is least.
    """
    shared = {offset: math.gcd(offset, nodes) for offset in range(1, nodes)}
    for first in (offset for offset in shared if shared[offset] == offset):
        rest = [other for other in shared if shared[other] >= first and other != first]
        for others in itertools.combinations(rest, degree - 1):
            if math.gcd(first, *others) == 1:
                yield (first, *others)


@cache
def _stored() -> dict[tuple[int, int], tuple[OneWay, ...]]:
    found: dict[tuple[int, int], tuple[OneWay, ...]] = {}
    with _FILE.open(newline="", encoding="utf-8") as rows:
        for row in csv.DictReader(rows):
            offsets = tuple(map(int, row["offsets"].split("+")))
            nodes, degree = int(row["nodes"]), int(row["degree"])
            one = OneWay(nodes, offsets, int(row["hops"]), Fraction(row["time"]), int(row["cycle"]))
            found[nodes, degree] = (*found.get((nodes, degree), ()), one)
    return found


def stored_one_way(nodes: int, degree: int) -> tuple[OneWay, ...]:
    """Return the stored front of one size; empty beyond the sizes of STORED."""
    return _stored().get((nodes, degree), ())


def write_one_way(sizes: Iterable[tuple[int, int]], file: Path = _FILE) -> None:
    """Search the front of each number of nodes and degree, and write the table."""
    with file.open("w", newline="", encoding="utf-8") as rows:
        writer = csv.writer(rows, lineterminator="\n")
        writer.writerow(_COLUMNS)
        for nodes, degree in sizes:
            for one in best_one_way(nodes, degree):
                offsets = "+".join(map(str, one.offsets))
                writer.writerow((nodes, degree, offsets, one.hops, one.time, one.cycle))
            rows.flush()


if __name__ == "__main__":
    write_one_way(
        (nodes, degree) for degree, most in STORED.items() for nodes in range(degree + 1, most + 1)
    )
