"""Condition (C) by max-flow: every node that wants data can get all of it.

Problem: d(X) >= Q - q(X) for every node set X that meets the targets.
Input:   links with the trees each may carry, the trees rooted at each node, the targets.
Output:  the targets that get less than Q, and how much they get.
Cost:    one max-flow of OR-Tools per target: for networks too large to enumerate, and so that no
         code is shared with the core.
Source:  ForestColl Theorems 1 and 5: maxflow(s, t) = Q for every target t, s having a link of
         capacity q(v) to every v.
"""

from collections.abc import Collection, Mapping

from ortools.graph.python import max_flow


def starved(
    capacity: Mapping[tuple[int, int], int],
    trees: Mapping[int, int],
    targets: Collection[int] | None = None,
) -> dict[int, int]:
    """Return the flow into each target that cannot get all trees; empty if (C) holds.

    Parameters
    ----------
    capacity : mapping of (int, int) to int
        Trees that each link may carry.
    trees : mapping of int to int
        Trees rooted at each node (q).
    targets : collection of int, optional
        Nodes every tree must span; the keys of ``trees`` if not given.
    """
    nodes = {end for link in capacity for end in link} | set(trees)
    source, network = max(nodes) + 1, max_flow.SimpleMaxFlow()
    for (tail, head), room in capacity.items():
        network.add_arc_with_capacity(tail, head, room)
    for node, count in trees.items():
        network.add_arc_with_capacity(source, node, count)
    short = {}
    for target in trees if targets is None else targets:
        status = network.solve(source, target)
        assert status == network.OPTIMAL, status
        if network.optimal_flow() < sum(trees.values()):
            short[target] = network.optimal_flow()
    return short
