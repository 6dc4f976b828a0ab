"""The best network of each size, and how it is made: figure 15 of the BFB paper.

Problem: the least time of an allreduce over all constructions, for every number of nodes.
Input:   a degree; sizes of data; the fabric of the paper (10 us a hop, 100 Gb/s a node).
Output:  a CSV file with the best network of each size, and a picture.
Cost:    the search over all sizes, some ten seconds to 2000 nodes. Base networks that the stored
         table or table 9 of the paper lacks are left out.
Source:  Zhao et al. (NSDI 2025), appendix A.3.

``python -m experiments.advice.finding.best_by_size`` writes results/bfb/figure15.csv and .png.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from baselines.topology_finder.base_table import BaseTable
from baselines.topology_finder.bottom_up_search import Found, search
from baselines.topology_finder.candidate import Candidate
from baselines.topology_finder.finder import Question, bounds_of
from baselines.topology_finder.workload import Fabric, Workload, read_workload
from experiments.figures.figure import INK, Axis, Figure, Panel, Point, Series, Style

__all__ = ["Best", "best_by_size", "best_figure", "kind_of", "write_best"]

DEGREE, LEAST, MOST = 4, 5, 2000
SIZES = ("1MB", "100MB")
FABRIC = Fabric(Fraction(1, 10**5), Fraction(25 * 10**9, 2))

_KINDS = {
    "Pi": "generalized Kautz",
    "DBJ": "generalized Kautz",  # de Bruijn graphs take the same times
    "C": "circulant",
    "DistReg": "distance-regular",
    "K": "complete",
}
_EXPANDED = {"L": "line graph", "X": "product", "P": "power", "D": "degree expansion"}
_LOOKS = {
    "generalized Kautz": ("#0072B2", "o"),
    "circulant": ("#D55E00", "^"),
    "line graph": ("#009E73", "s"),
    "product": ("#CC79A7", "D"),
    "other": ("#E69F00", "v"),
}


@dataclass(frozen=True, slots=True)
class Best:
    """The best network of one number of nodes for one size of data."""

    size: str
    one: Candidate
    seconds: Fraction
    bidirectional_seconds: Fraction  # of the best network with links both ways
    least_seconds: Fraction  # no network of this size and degree is faster


def best_by_size(nodes: Iterable[int], degree: int, sizes: Iterable[str]) -> list[Best]:
    """Return the best network for each size of data and number of nodes."""
    asked = list(nodes)
    table = BaseTable()
    found = search(
        range(2, max(asked) + 1), degree, lambda base: table.stored(base) if base.printed else None
    )
    return [
        _best(found, number, degree, size, read_workload([size]))
        for size in sizes
        for number in asked
    ]


def _best(found: Found, nodes: int, degree: int, size: str, workload: Workload) -> Best:
    bounds = bounds_of(Question(nodes, degree))
    (num_bytes, _), *_ = workload.sizes
    least = 2 * (bounds.hops * FABRIC.alpha_s + num_bytes * bounds.time / FABRIC.bytes_s)

    def cost(one: Candidate) -> tuple[Fraction, int, str]:
        return workload.seconds(one, "allreduce", FABRIC), len(one.name), one.name

    here = found[nodes, degree]
    one = min(here, key=cost)
    both_ways = min((each for each in here if each.bidirectional), key=cost)
    return Best(size, one, cost(one)[0], cost(both_ways)[0], least)


def kind_of(one: Candidate) -> str:
    """Return how a network is made; of several expansions the outermost one that counts."""
    for letter, kind in _EXPANDED.items():
        if letter in one.techniques:
            return kind
    return _KINDS.get(one.name.partition("(")[0].partition("_")[0], "other")


def best_figure(best: list[Best]) -> Figure:
    """Describe a panel for each size of data: times by kind, the best both ways, and the bound."""
    panels = []
    for size in dict.fromkeys(each.size for each in best):
        here = [each for each in best if each.size == size]
        marks = {
            kind: tuple(
                Point(each.one.nodes, float(each.seconds * 10**6), text=each.one.name)
                for each in here
                if _shown(each) == kind
            )
            for kind in _LOOKS
        }
        series = [
            Series(kind, Style(_LOOKS[kind][0], "method", marker=_LOOKS[kind][1], size=2.5), points)
            for kind, points in marks.items()
            if points
        ]
        lines = (
            ("best with links both ways", Style("#999999", "method", line=":"), "both"),
            ("bound", Style(INK, "bound", line="--"), "least"),
        )
        for name, style, which in lines:
            points = tuple(
                Point(
                    each.one.nodes,
                    float(
                        (each.bidirectional_seconds if which == "both" else each.least_seconds)
                        * 10**6
                    ),
                )
                for each in here
            )
            series.append(Series(name, style, points, width=0.9))
        panels.append(
            Panel(f"allreduce of {size}", Axis("GPUs"), Axis("least time, us"), tuple(series))
        )
    return Figure(tuple(panels), size=(4.2, 3.0))


def _shown(each: Best) -> str:
    kind = kind_of(each.one)
    return kind if kind in _LOOKS else "other"


def write_best(best: list[Best], stem: Path) -> dict[str, Counter[str]]:
    """Write the rows and the picture; return how often each kind is best, by size of data."""
    from experiments.figures.matplotlib_renderer import save

    columns = ("size", "nodes", "network", "made", "time_us", "both_ways_us", "bound_us")
    with stem.with_suffix(".csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(columns)
        for each in best:
            times = (each.seconds, each.bidirectional_seconds, each.least_seconds)
            printed = (f"{float(time * 10**6):.1f}" for time in times)
            rows.writerow((each.size, each.one.nodes, each.one.name, kind_of(each.one), *printed))
    save(best_figure(best), stem.with_suffix(".png"))
    counts: dict[str, Counter[str]] = {}
    for each in best:
        counts.setdefault(each.size, Counter())[kind_of(each.one)] += 1
    return counts


if __name__ == "__main__":
    made = best_by_size(range(LEAST, MOST + 1), DEGREE, SIZES)
    for asked_size, counted in write_best(made, Path("results/bfb/figure15")).items():
        print(asked_size, ", ".join(f"{kind} {count}" for kind, count in counted.most_common()))
