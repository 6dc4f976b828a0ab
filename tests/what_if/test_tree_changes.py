"""What differs between two forests, against sets of edges."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from forestcoll import generate
from forestcoll.schedule import Forest
from forestcoll.topology import load_topology
from forestcoll.what_if.tree_changes import tree_changes
from tests.hand_networks import network_of
from tests.random_topologies import KINDS, random_topology

Edge = tuple[str, str, str]


def trees(forest: Forest) -> Counter[frozenset[Edge]]:
    """Shares of the data, by tree."""
    names = [forest.topology.nodes[v].name for v in forest.topology.compute]
    found: Counter[frozenset[Edge]] = Counter()
    for tree in forest.trees():
        edges = frozenset((names[tree.root], names[a], names[b]) for a, b in tree.edges)
        found[edges] += Fraction(tree.multiplicity, sum(forest.weights) * forest.k)  # type: ignore[assignment]
    return found


def edges_of(gpu: str, forest: Forest) -> Counter[Edge]:
    found: Counter[Edge] = Counter()
    for tree, share in trees(forest).items():
        for edge in tree:
            if gpu in edge[1:]:
                found[edge] += share
    return found


def check(old: Forest, new: Forest) -> None:
    before, after = trees(old), trees(new)
    found = tree_changes(old, new)
    assert found.kept == sum(min(before[tree], share) for tree, share in after.items())
    gpus = {n.name for one in (old, new) for n in one.topology.nodes if not n.is_switch}
    assert set(found.touched) == {g for g in gpus if edges_of(g, old) != edges_of(g, new)}
    assert found.trees == new.num_trees


@pytest.mark.parametrize("seed", range(16))
def test_changes_are_those_of_the_edges(seed: int) -> None:
    """Other bandwidths, other ranks, a GPU less, a GPU more, other numbers of trees."""
    topology = random_topology(seed, KINDS[seed % len(KINDS)])
    old = generate(topology, collective="allgather").schedule
    check(old, old)
    check(old, generate(topology, k=old.k + 1).schedule)
    order = np.random.default_rng(seed).permutation(len(topology.nodes)).tolist()
    check(old, generate(topology.relabelled(order)).schedule)
    whole = load_topology("hypercube:dimension=3")
    less = whole.without("gpu3" if "gpu3" in whole.position_of else whole.nodes[3].name)
    check(generate(whole).schedule, generate(less).schedule)
    check(generate(less).schedule, generate(whole).schedule)


def test_a_tree_is_the_same_in_any_batches() -> None:
    old = generate(load_topology("ring:nodes=4")).schedule
    batches = np.repeat(np.arange(old.num_batches), 2)
    split = Forest(
        topology=old.topology,
        method="forestcoll",
        k=2 * old.k,
        congestion=2 * old.congestion,
        root=old.root[batches],
        multiplicity=old.multiplicity[batches],
        parent=old.parent[batches],
        routes=old.routes,
    )
    found = tree_changes(old, split)
    assert (found.kept, found.touched, found.changed_trees) == (1, (), 0)


def test_changed_trees_are_counted_up() -> None:
    old = generate(load_topology("dgx_a100:boxes=2")).schedule
    new = generate(load_topology("dgx_a100:boxes=2").without("b0.gpu0 - ib"), k=old.k).schedule
    found = tree_changes(old, new)
    assert found.changed_trees == -(-(1 - found.kept) * found.trees // 1)
    assert 0 < found.changed_trees <= found.trees
    assert "b0.gpu0" in found.touched


def test_an_empty_forest_keeps_all_trees() -> None:
    """A single GPU has all data from the first."""
    alone = generate(network_of("a", "", "alone")).schedule
    found = tree_changes(alone, alone)
    assert (found.trees, found.kept, found.touched, found.changed_trees) == (0, 1, (), 0)
