"""Expansions of candidates, with what they take as the theorems predict.

Problem: the T_L and T_B of a larger network that is made of smaller ones, without building it.
Input:   candidates.
Output:  the larger candidate, with its sums of distances unless it goes both ways.
Cost:    constant.
Source:  Zhao et al. (NSDI 2025), section 5: theorems 7 and 10 (line graph), 11 (degree expansion),
         12 (Cartesian power), 13 (Cartesian product); appendix A.6 (both ways).

One rule is ours. If every link of a network lies on a shortest cycle of the same length c, and the
network has a bandwidth-optimal breadth-first broadcast, then so has its degree expansion, in
max(T_L, c) steps. For the balanced broadcast may be copied to all copies of links. The copies of
one node are c apart, and all links into a node are on a shortest path from its copies, so their
shards are balanced as well. The paper uses this for BiRing(2,5)*2 (table 5, "BFB augmented").
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from baselines.topology_finder.candidate import Candidate

__all__ = ["both_ways", "degree_expansion", "line_graph", "power", "product"]


def line_graph(base: Candidate) -> Candidate:
    """L(G): d times the nodes, one hop more, T_B + 1 / N."""
    times, root = _levels(base)
    more = Fraction(1, base.nodes)
    return replace(
        base,
        name=f"L({root})" if times == 1 else f"L^{times}({root})",
        spec=_line_graph_spec(base, times),
        nodes=base.nodes * base.degree,
        hops=base.hops + 1,
        time=base.time + more,
        reverse_hops=base.reverse_hops + 1,
        reverse_time=base.reverse_time + more,
        techniques=_with(base.techniques, "L"),
        distances=base.distances
        and base.distances.line_graph(base.nodes, base.degree, min(base.hops, base.reverse_hops)),
        bidirectional=False,
        factor=False,
        cycle=0,
        parallel=False,
    )


def _levels(base: Candidate) -> tuple[int, str]:
    """Count the line graphs at the outside of a name, this one included; return what is inside."""
    if base.name.startswith("L(") and base.spec.startswith("line_graph:"):
        return 2, base.name[2:-1]
    if base.name.startswith("L^") and base.spec.startswith("line_graph:"):
        times, _, rest = base.name[2:].partition("(")
        return int(times) + 1, rest[:-1]
    return 1, base.name


def _line_graph_spec(base: Candidate, times: int) -> str:
    """Specify a line graph; wide links are given their unit, or all would count as single ones."""
    if times == 1:
        return f"line_graph:{'unit=1,' if base.parallel else ''}of=({base.spec})"
    once = base.spec.rpartition(",times=")[0] if times > 2 else base.spec
    return f"{once},times={times}"


def degree_expansion(base: Candidate, times: int) -> Candidate:
    """G * n: n times the nodes and the degree."""
    nodes = base.nodes * times
    made = replace(
        base,
        name=f"{_bracketed(base.name)}*{times}",
        spec=f"degree_expansion:of=({base.spec}),times={times}",
        nodes=nodes,
        degree=base.degree * times,
        techniques=_with(base.techniques, "D"),
        distances=base.distances
        and (
            base.distances.degree_expansion(base.nodes, base.degree, times, base.cycle)
            if base.cycle
            else None
        ),
    )
    if base.factor and base.cycle:
        least = Fraction(nodes - 1, nodes)
        hops = max(base.hops, base.cycle)
        return replace(made, hops=hops, reverse_hops=hops, time=least, reverse_time=least)
    more = Fraction(times - 1, nodes)
    return replace(
        made,
        hops=base.hops + 1,
        reverse_hops=base.reverse_hops + 1,
        time=base.time + more,
        reverse_time=base.reverse_time + more,
        breadth_first=False,
        factor=False,
    )


def power(base: Candidate, exponent: int) -> Candidate:
    """The n-th Cartesian power: as many dimensions, one after another for each part of a shard."""
    nodes = base.nodes**exponent
    longer = Fraction(base.nodes, base.nodes - 1) * Fraction(nodes - 1, nodes)
    return replace(
        base,
        name=f"{_bracketed(base.name)}^[]{exponent}",
        spec=f"cartesian_power:of=({base.spec}),exponent={exponent}",
        nodes=nodes,
        degree=base.degree * exponent,
        hops=base.hops * exponent,
        time=base.time * longer,
        reverse_hops=base.reverse_hops * exponent,
        reverse_time=base.reverse_time * longer,
        techniques=_with(base.techniques, "P"),
        distances=base.distances and base.distances.power(base.nodes, exponent),
        breadth_first=False,
        factor=False,
    )


def product(one: Candidate, other: Candidate) -> Candidate:
    """Multiply two networks with bandwidth-optimal breadth-first broadcasts (theorem 13)."""
    nodes = one.nodes * other.nodes
    least = Fraction(nodes - 1, nodes)
    hops = one.hops + other.hops
    return Candidate(
        name="[]".join(sorted(_factors(one) + _factors(other), key=lambda part: (len(part), part))),
        spec=f"cartesian_product:of={_parts(one)}{_parts(other)}",
        nodes=nodes,
        degree=one.degree + other.degree,
        hops=hops,
        time=least,
        reverse_hops=hops,
        reverse_time=least,
        techniques=_with(_with(one.techniques, other.techniques), "X"),
        distances=one.distances
        and other.distances
        and one.distances.product(one.nodes, other.distances, other.nodes),
        bidirectional=one.bidirectional and other.bidirectional,
        reverse_symmetric=one.reverse_symmetric and other.reverse_symmetric,
        breadth_first=True,
        factor=True,
        cycle=one.cycle if one.cycle == other.cycle else 0,
    )


_PRODUCT = "cartesian_product:of="


def _parts(one: Candidate) -> str:
    """Return the factors as specifications in parentheses; of a product its own."""
    return one.spec.removeprefix(_PRODUCT) if one.spec.startswith(_PRODUCT) else f"({one.spec})"


def _factors(one: Candidate) -> list[str]:
    return one.name.split("[]") if one.spec.startswith(_PRODUCT) else [_bracketed(one.name)]


def both_ways(base: Candidate) -> Candidate:
    """G and its reverse at once: half of every shard in each, so nothing takes longer (A.6)."""
    hops, time = max(base.hops, base.reverse_hops), max(base.time, base.reverse_time)
    return replace(
        base,
        name=f"Bi({base.name})",
        spec=f"both_ways:of=({base.spec})",
        degree=2 * base.degree,
        hops=hops,
        time=time,
        reverse_hops=hops,
        reverse_time=time,
        techniques=_with(base.techniques, "B"),
        distances=None,
        bidirectional=True,
        reverse_symmetric=True,
        breadth_first=False,
        factor=False,
        cycle=2,
    )


def _with(techniques: str, more: str) -> str:
    return "".join(sorted({*techniques, *more}))


def _bracketed(name: str) -> str:
    """Put parentheses around a name that is a product, a power or an expansion itself."""
    return f"({name})" if "[]" in name or "*" in name else name
