"""Decomposition at tight sets: the lemmas by brute force, the code by an independent max-flow.

q(v) trees are rooted at v, Q in all; d(X) is the capacity that enters X, h(X) = d(X) - (Q - q(X)).
(C) is h(X) >= 0 for all X that meet the targets; X is tight if h(X) = 0. The lemmas are in
docs/mathematics/tight-sets.md.
"""

import itertools
import random
from collections import Counter
from collections.abc import Collection, Mapping

import numpy as np
import numpy.typing as npt
import pytest

from benchmarks.topologies import dragonfly
from forestcoll.core.optimality import optimum
from forestcoll.core.problem import Problem, tree_capacities
from forestcoll.core.tight_sets import decompose
from forestcoll.topology import load_topology
from tests.core.decomposed import Capacity, Decomposed, links_of, members, some_trees
from tests.random_topologies import KINDS, random_topology, rounds
from tests.reference.cuts import AllSets, violated_set
from tests.reference.flow import integer_graph


def pairs_of_sets(count: int, chance: random.Random) -> tuple[npt.NDArray[np.int64], ...]:
    """Return the numbers of X and Y of all pairs, or of 100 000 where there are more."""
    if count <= 2**8:
        grid = np.indices((count, count), dtype=np.int64)
        return grid[0].ravel(), grid[1].ravel()
    draw = np.random.default_rng(chance.randrange(2**32))
    x, y = draw.integers(count, size=(2, 100_000))
    return x, y


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(20))
def test_uncrossing(kind: str, seed: int) -> None:
    """h(X) + h(Y) >= h(X & Y) + h(X | Y) if X & Y meets the targets.

    Every link that enters X & Y or X | Y enters X or Y, and one that enters both of the former
    enters both of the latter; q counts alike on both sides. Equality and inequality both occur.
    """
    chance = random.Random(seed)
    topology = random_topology(seed, kind)
    capacity, _ = integer_graph(topology)
    sets = AllSets.of(capacity, some_trees(topology, chance), topology.compute)
    x, y = pairs_of_sets(len(sets.meets), chance)
    x, y = x[sets.meets[x & y]], y[sets.meets[x & y]]
    gain = sets.surplus[x] + sets.surplus[y] - sets.surplus[x & y] - sets.surplus[x | y]
    assert gain.min() == 0
    assert sets.surplus[-1] == 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(20))
def test_uncrossing_at_switches(kind: str, seed: int) -> None:
    """h(X) + h(Y) >= h(X - Y) + h(Y - X) if X & Y holds switches only, with in >= out at each.

    The difference is in(C) - out(C) for C = X & Y, and what runs between C and the outside of
    X | Y, both ways.
    """
    chance = random.Random(seed)
    topology = random_topology(seed, kind)
    capacity, _ = integer_graph(topology)
    sets = AllSets.of(capacity, some_trees(topology, chance), topology.compute)
    x, y = pairs_of_sets(len(sets.meets), chance)
    x, y = x[~sets.meets[x & y]], y[~sets.meets[x & y]]
    gain = sets.surplus[x] + sets.surplus[y] - sets.surplus[x & ~y] - sets.surplus[y & ~x]
    assert gain.min() == 0


def test_uncrossing_at_switches_needs_their_balance() -> None:
    """A switch that sends 2 and receives 1 breaks it, which is why such networks are refused.

    a -> w 1, w -> b 1, w -> c 1; X = {b, w} and Y = {c, w}. d(X) = d(Y) = 1, the link from a;
    d({b}) = d({c}) = 1 as well: equality. With in = 0 at w, d(X) = d(Y) = 0 and the lemma fails.
    """
    trees = {0: 1, 1: 1, 2: 1}
    for received, gain in ((1, 0), (0, -2)):
        capacity = {(0, 3): received, (3, 1): 1, (3, 2): 1}
        sets = AllSets.of(capacity, trees, None)
        h = {name: int(sets.surplus[sets.number(name)]) for name in ((1, 3), (2, 3), (1,), (2,))}
        assert h[1, 3] + h[2, 3] - h[1,] - h[2,] == gain


def weakened(capacity: Capacity, inside: Collection[int], gpus: Collection[int], seed: int) -> None:
    """Lower links into GPUs, but none that enters the set: it stays tight, switches balanced."""
    chance = random.Random(seed)
    for (tail, head), room in capacity.items():
        enters = head in inside and tail not in inside
        if head in gpus and not enters and chance.random() < 0.4:
            capacity[tail, head] = room - chance.randint(1, max(1, room // 4))


def contracted(capacity: Mapping[tuple[int, int], int], inside: frozenset[int]) -> Capacity:
    """Make one node, -2, of a set."""
    merged: Counter[tuple[int, int]] = Counter()
    for (tail, head), room in capacity.items():
        tail, head = (-2 if end in inside else end for end in (tail, head))
        if tail != head:
            merged[tail, head] += room
    return dict(merged)


def test_decomposition_theorem() -> None:
    """For tight X: (C) on D if and only if (C) on D/X and h(Z) >= 0 for all Z in X with targets.

    On random networks at their optimum and on such with links taken from them. Both verdicts
    occur, and in the negative the fault lies now outside X, now inside.
    """
    seen: Counter[tuple[bool, bool]] = Counter()
    for kind, seed in itertools.product(KINDS, range(rounds(120, 60))):
        topology = random_topology(seed, kind)
        best = optimum(topology)
        trees = dict.fromkeys(topology.compute, best.k)
        capacity = links_of(topology, tree_capacities(topology, best.congestion))
        sets = AllSets.of(capacity, trees, None)
        tight = np.flatnonzero(sets.meets & (sets.surplus == 0)).tolist()
        chance = random.Random(seed)
        for inside in map(sets.members, chance.sample(tight, min(4, len(tight)))):
            weaker = dict(capacity)
            if chance.random() < 0.7:
                weakened(weaker, inside, topology.compute, seed)
            seen[_decomposes(weaker, trees, inside)] += 1
    assert set(seen) == {(True, True), (True, False), (False, True), (False, False)}
    assert min(seen.values()) >= 5


def _decomposes(
    capacity: Capacity, trees: dict[int, int], inside: frozenset[int]
) -> tuple[bool, bool]:
    """Check the theorem; return whether (C) holds on D/X, and whether it holds inside X."""
    sets = AllSets.of(capacity, trees, None)
    numbers = np.arange(len(sets.meets))
    x = sets.number(inside)
    assert sets.surplus[x] == 0
    of_x = sum(count for node, count in trees.items() if node in inside)
    outer = {node: count for node, count in trees.items() if node not in inside} | {-2: of_x}
    holds_outside = violated_set(contracted(capacity, inside), outer) is None
    holds_inside = bool((sets.surplus[sets.meets & (numbers & ~x == 0)] >= 0).all())
    holds = violated_set(capacity, trees) is None
    assert holds == (holds_outside and holds_inside)
    return holds_outside, holds_inside


def test_boxes_of_a100_are_tight() -> None:
    """24 shards enter a box of four over 200 GB/s in all, which is the bottleneck: 9 nodes each.

    h(box) = U 200 - k 24 = 0; the NVSwitch belongs to the box, the InfiniBand switch does not.
    """
    found = Decomposed.of(load_topology("dgx_a100:boxes=4"))
    family = [nodes for nodes in members(found.sets) if len(nodes) > 1]
    switch_of = [found.topology.nodes[max(nodes)].name for nodes in family[:-1]]
    assert sorted(map(len, family)) == [9, 9, 9, 9, 37]
    assert switch_of == [f"b{box}.nvswitch" for box in range(4)]


@pytest.mark.parametrize(("groups", "apart"), [(9, 0), (120, 235)])
def test_many_routers_with_one_host_each_become_separate_sets(groups: int, apart: int) -> None:
    """All but a few of the 240 routers of dragonfly 120 x 2 x 1 become a set with their host.

    A router has a link of 1 to its host and 60 or 61 to others, so nearly all of it is surplus.
    With 24 trees each, 240 x 240 x 24 > 2^19 trees enter the hosts. Of 18 routers, none is trimmed.
    """
    topology = dragonfly(groups, 2, 1)
    best = optimum(topology)
    trees = np.full(topology.num_compute, 24 * best.k, dtype=np.int64)
    parts = decompose(Problem.at(topology, 24 * best.congestion, trees))
    pairs = [nodes for nodes in members(parts.sets) if len(nodes) == 2]
    names = [sorted(topology.nodes[v].name for v in nodes) for nodes in pairs]
    assert all(f"{router}.gpu0" == host for router, host in names)
    assert len(pairs) >= apart
    assert pairs or len(parts.sets) == 1
