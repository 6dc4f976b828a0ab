"""Trees, transfers and paths that two schedules share, against sets of edges and by hand."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from baselines.registry import METHODS
from forestcoll import generate
from forestcoll.comparison.shared_pieces import rerouted, shared_pieces
from forestcoll.schedule import Forest
from forestcoll.schedule.flows import FlowSchedule
from forestcoll.schedule.forest import Path, Routes
from forestcoll.topology import load_topology
from tests.random_topologies import KINDS, random_topology
from tests.schedule.mutations_of.multicast import box

Edges = frozenset[tuple[str, str]]


def trees(forest: Forest) -> dict[tuple[str, Edges], Fraction]:
    """Shares of the data, by root and edges."""
    names = [forest.topology.nodes[v].name for v in forest.topology.compute]
    found: Counter[tuple[str, Edges]] = Counter()
    for tree in forest.trees():
        edges = frozenset((names[a], names[b]) for a, b in tree.edges)
        share = Fraction(tree.multiplicity, sum(forest.weights) * forest.k)
        found[names[tree.root], edges] += share  # type: ignore[assignment]
    return dict(found)


@pytest.mark.parametrize("seed", range(12))
def test_shared_trees_are_those_of_the_edges(seed: int) -> None:
    """Of other numbers of trees, other ranks, and a GPU less."""
    topology = random_topology(seed, KINDS[seed % len(KINDS)])
    order = np.random.default_rng(seed).permutation(len(topology.nodes)).tolist()
    first = generate(topology).schedule
    others = [
        first,
        generate(topology, k=first.k + 1).schedule,
        generate(topology.relabelled(order)).schedule,
    ]
    whole = load_topology("hypercube:dimension=3")
    for one, other in [*((first, second) for second in others), (generate(whole).schedule, first)]:
        mine, theirs = trees(one), trees(other)
        found = shared_pieces(one, other)
        both = mine.keys() & theirs.keys()
        assert found.what == "trees"
        assert found.same == sum(mine[tree] == theirs[tree] for tree in both)
        assert found.other_share == len(both) - found.same
        assert found.only_first == len(mine.keys() - both)
        assert found.only_second == len(theirs.keys() - both)
        for gpu in found.by_gpu:
            assert gpu.only_first == sum(root == gpu.gpu for root, _ in mine.keys() - both)
            assert gpu.only_second == sum(root == gpu.gpu for root, _ in theirs.keys() - both)


def test_a_tree_that_changes_is_reported_with_its_root() -> None:
    """One parent of one batch of gpu2 changes: a tree less of the first, another of the second."""
    ring = generate(load_topology("ring:nodes=4")).schedule
    batch = int(np.flatnonzero(ring.root == 2)[0])
    parent = ring.parent.copy()
    child = next(gpu for gpu in range(4) if parent[batch, gpu] not in (-1, 2))
    parent[batch, child] = 2
    found = shared_pieces(ring, replace(ring, parent=parent))
    assert found.by_gpu[0].gpu == "gpu2"
    assert (found.only_first, found.only_second) == (1, 1)
    assert sum(one.differing for one in found.by_gpu[1:]) == 0


def test_trees_of_another_multiplicity_are_in_both_with_another_share() -> None:
    ring = generate(load_topology("ring:nodes=4")).schedule
    multiplicity = ring.multiplicity.copy()
    multiplicity[0] += 1
    found = shared_pieces(ring, replace(ring, multiplicity=multiplicity))
    assert (found.other_share, found.only_first, found.only_second) == (1, 0, 0)
    assert found.same == ring.num_batches - 1


@pytest.mark.parametrize("change", ["step", "head", "reduce", "chunk"])
def test_a_transfer_that_changes_is_reported(change: str) -> None:
    """Whatever of it does; in Bruck on 4 GPUs the last step has the transfers of gpu3."""
    bruck = METHODS["bruck"].run(load_topology("ring:nodes=4"), "allgather")
    assert shared_pieces(bruck, bruck).differing == 0
    column = getattr(bruck.sends, change).copy()
    column[-1] = not column[-1] if change == "reduce" else (column[-1] + 2) % 4
    other = replace(bruck, sends=replace(bruck.sends, **{change: column}))
    found = shared_pieces(bruck, other)
    assert (found.what, found.only_first, found.only_second) == ("transfers", 1, 1)
    assert found.same == len(bruck.sends) - 1


def _all_to_all(middle: int) -> FlowSchedule:
    """On a ring of 4, with one pair of opposite GPUs going halfway over either neighbour."""
    ring = load_topology("ring:nodes=4")
    ways = {
        (a, b): [Path((a, b) if (a - b) % 2 else (a, (a + 1) % 4, b), 2)]
        for a in range(4)
        for b in range(4)
        if a != b
    }
    ways[0, 2] = [Path((0, 1, 2), middle), Path((0, 3, 2), 2 - middle)][: 3 - middle]
    return FlowSchedule(ring, "hand", 2, Routes.from_paths(ways))


def test_paths_of_an_all_to_all_are_reported_with_their_shares() -> None:
    """gpu0 sends all over gpu1, or half over gpu3: a share that differs, and one path more."""
    found = shared_pieces(_all_to_all(2), _all_to_all(1))
    assert found.what == "paths"
    assert (found.same, found.other_share, found.only_first, found.only_second) == (11, 1, 0, 1)
    assert found.by_gpu[0].gpu == "gpu0"


def test_walks_of_multicast_trees_are_compared() -> None:
    """Where switches multicast a tree is what it does there, not who is whose parent."""
    forest = box()
    found = shared_pieces(forest, forest)
    assert (found.what, found.differing) == ("trees", 0)
    assert found.same > 0
    assert shared_pieces(forest, generate(forest.topology).schedule) is None


def test_other_paths_between_the_same_nodes_are_counted() -> None:
    """Two paths in the same proportions are the same, whatever their multiplicities."""
    ring = generate(load_topology("ring:nodes=4")).schedule
    doubled = replace(ring, routes=replace(ring.routes, multiplicity=2 * ring.routes.multiplicity))
    assert rerouted(ring, doubled) == 0
    paths = ring.routes.paths()
    paths[0, 1] = (Path((0, 3, 2, 1), 1),)
    assert rerouted(ring, replace(ring, routes=Routes.from_paths(paths))) == 1
