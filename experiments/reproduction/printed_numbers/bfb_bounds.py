"""Printed bounds and times of the BFB paper, recomputed by its formulas.

Zhao et al. (NSDI 2025), tables 4 and 7: degree 4, 10 us a hop, 1 MiB at 100 Gb/s. The links of the
baselines in a caption are not printed; strides of 1 and 3, and NCCL's pair of trees, have the
printed times of all-to-alls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction

from baselines.building.binary_trees import double_binary_tree
from baselines.direct_connect.bfb.theory import least_steps, least_steps_both_ways, least_time
from experiments.published import printed
from experiments.reproduction.difference import Difference
from forestcoll.all_to_all.closed_forms import degree_bound

__all__ = [
    "BASELINES", "FEWEST", "all_to_all_us", "allreduce_us", "differences", "halves_rate",
    "trees_allreduce_us",
]  # fmt: skip

Pairs = Sequence[tuple[int, int]]

_DEGREE = 4

_HOP_US = 10
"""Alpha."""

_MIB_US = 2**20 * 8 / 100e3
"""What 1 MiB takes at the 100 Gb/s of a node; of its links each has a quarter."""

FEWEST: Mapping[str, Callable[[int], int]] = {
    "least_steps": lambda nodes: least_steps(nodes, _DEGREE),
    "least_steps_both_ways": lambda nodes: least_steps_both_ways(nodes, _DEGREE),
}
"""Moore's bounds of table 8 by the names of their columns: of any links, and of links both ways."""


def allreduce_us(steps: float, bandwidth_runtime: float) -> float:
    """Return the time of a reduce-scatter and an allgather with these T_L and T_B."""
    return 2 * (steps * _HOP_US + bandwidth_runtime * _MIB_US)


def all_to_all_us(nodes: int, rate: float) -> float:
    """Return the time in which every node sends 1 MiB in all, at a rate of each pair in links."""
    return _DEGREE / (nodes * rate) * _MIB_US


def differences() -> Iterator[Difference]:
    """Yield every printed bound beside ours."""
    for line in printed("bfb_bounds.csv"):
        nodes = int(line["nodes"])
        if line["bound"] == "moore":
            yield from _moore(line, nodes)
        else:
            rate = halves_rate(nodes, BASELINES[line["bound"]](nodes))
            what = f"all-to-all, {line['bound']}, {nodes} nodes"
            time_us = all_to_all_us(nodes, float(rate))
            yield Difference(line["item"], what, line["printed_all_to_all_us"], time_us, "us")
            if shown := line["printed_allreduce_us"]:
                what = f"allreduce, {line['bound']}, {nodes} nodes"
                yield Difference(line["item"], what, shown, trees_allreduce_us(nodes), "us")


def trees_allreduce_us(nodes: int) -> float:
    """Return the time of an allreduce of 1 MiB over NCCL's two trees, in the best number of pieces.

    Each tree sums up half of the data and sends the sum back, up and down at once. With h levels
    and k pieces in each tree this takes 2 h - 1 + k steps. In a step a link, which has a quarter of
    the bandwidth, carries a k-th of half of the data. The k tried are the powers of two.
    """
    levels = max(_levels(tree.above) for tree in double_binary_tree(nodes))
    pieces = (1 << power for power in range(20))
    return min((2 * levels - 1 + k) * (_HOP_US + _MIB_US * _DEGREE / 2 / k) for k in pieces)


def _levels(above: Sequence[int]) -> int:
    """Return the most hops from a node to the root of its tree."""
    hops: dict[int, int] = {-1: -1}

    def of(node: int) -> int:
        if node not in hops:
            hops[node] = of(above[node]) + 1
        return hops[node]

    return max(map(of, range(len(above))))


def _moore(line: Mapping[str, str], nodes: int) -> Iterator[Difference]:
    steps, time = least_steps(nodes, _DEGREE), float(least_time(nodes))
    rate = float(degree_bound(nodes, _DEGREE))
    ours = {
        ("steps", "hops"): float(steps),
        ("bandwidth_runtime", "M/B"): time,
        ("rate", "links"): rate,
        ("allreduce_us", "us"): allreduce_us(steps, time),
        ("all_to_all_us", "us"): all_to_all_us(nodes, rate),
    }
    for (column, unit), value in ours.items():
        if shown := line[f"printed_{column}"]:
            what = f"bound of table {line['table']}, {column.removesuffix('_us')}, {nodes} nodes"
            yield Difference(line["item"], what, shown, value, unit)


def _shifted_ring(nodes: int) -> Pairs:
    """Link nodes by strides of 1 and 3, of which two rings share no link."""
    return [(node, (node + stride) % nodes) for node in range(nodes) for stride in (1, 3)]


def _double_binary_tree(nodes: int) -> Pairs:
    trees = double_binary_tree(nodes)
    return [(at, up) for tree in trees for at, up in enumerate(tree.above) if up >= 0]


BASELINES: Mapping[str, Callable[[int], Pairs]] = {
    "shifted ring": _shifted_ring,
    "double binary tree": _double_binary_tree,
}
"""Pairs of nodes that are linked both ways in the networks of the caption."""


def halves_rate(nodes: int, pairs: Pairs) -> Fraction:
    """Return the all-to-all rate of a pair that the links between both halves allow, in links.

    Examples
    --------
    >>> halves_rate(4, [(0, 1), (1, 2), (2, 3), (3, 0)])
    Fraction(1, 2)
    """
    half = nodes // 2
    crossing = sum((one < half) != (other < half) for one, other in pairs)
    return Fraction(crossing, half * (nodes - half))
