"""Spanning out-trees of a switch-free graph, in batches of equal ones.

Problem: trees[v] out-trees rooted at every v, each spanning all nodes, no link in more trees than
         its capacity.
Input:   whole capacities with c(S, rest) >= trees rooted in S for every S but the whole.
Output:  batches of equal trees.
Cost:    one max-flow per link and batch.
Source:  ForestColl section 5.4 and appendix E.3, Algorithm 4, Theorem 10; edges are tried breadth
         first, which keeps trees low.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tests.reference.flow import Capacity, max_flow


@dataclass
class Batch:
    """``multiplicity`` equal trees: (R, E(R), m(R)) of the paper.

    ``reached`` is R in the order of joining, root first; ``edges`` follow it.
    """

    root: int
    multiplicity: int
    reached: list[int]
    edges: list[tuple[int, int]] = field(default_factory=list)


def pack_trees(capacity: Mapping[tuple[int, int], int], trees: Mapping[int, int]) -> list[Batch]:
    """Return trees[v] spanning out-trees for every root v (Algorithm 4)."""
    left = dict(capacity)
    batches = [Batch(root, count, [root]) for root, count in trees.items() if count]
    for batch in batches:  # which grows while we walk along it
        _grow(batch, batches, left)
        assert set(batch.reached) == set(trees), f"Theorem 9: the tree at {batch.root} can grow on"
    return batches


def _grow(batch: Batch, batches: list[Batch], left: Capacity) -> None:
    """Let a batch span all nodes, leaving copies behind where it must split.

    Each link is tried once: what blocks it is a set S with x in S, y and part of R outside, and no
    capacity to spare; R only grows, so S keeps blocking it until R spans.
    """
    for x in batch.reached:  # which grows, too
        for y in sorted(head for tail, head in left if tail == x):
            if y in batch.reached:
                continue
            amount = addable(left, batches, batch, x, y)
            if amount == 0:
                continue
            if amount < batch.multiplicity:
                batches.append(
                    replace(
                        batch,
                        multiplicity=batch.multiplicity - amount,
                        reached=list(batch.reached),
                        edges=list(batch.edges),
                    )
                )
                batch.multiplicity = amount
            batch.edges.append((x, y))
            batch.reached.append(y)
            left[x, y] -= amount


def addable(left: Capacity, batches: list[Batch], batch: Batch, x: int, y: int) -> int:
    """Return how many trees of the batch may take (x, y): Theorem 10's mu.

    Batches that hold y already add as much to the flow as to what is taken from it: left out.
    Batches with the same R share one auxiliary node.
    """
    others: Counter[frozenset[int]] = Counter()
    for other in batches:
        if other is not batch and y not in other.reached:
            others[frozenset(other.reached)] += other.multiplicity
    rooted = sum(others.values())
    unbounded = sum(left.values()) + rooted + 1
    network = dict(left)
    for i, (nodes, count) in enumerate(others.items(), start=1):
        network[x, -i] = count
        network |= {(-i, node): unbounded for node in nodes}
    most = min(left[x, y], batch.multiplicity)
    return max_flow(network, x, y, limit=rooted + most).value - rooted if most else 0
