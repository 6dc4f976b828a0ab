"""Trees: each spans, from its root, as often as it is to."""

import importlib
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from forestcoll.errors import VerificationError
from forestcoll.schedule.cost_model.measures import cost
from forestcoll.schedule.forest import Forest, Path, Routes
from forestcoll.schedule.transform.reversal import transposed
from forestcoll.schedule.verification.dispatch import verify
from forestcoll.schedule.verification.trees import spanning
from forestcoll.schedule.verification.trees.spanning import (
    check_roots,
    check_spanning,
    check_trees,
    tree_loads,
)
from forestcoll.schedule.verification.trees.sums import Rings
from tests.hand_networks import network_of
from tests.schedule.made.hand import FORESTS, MUTABLE, forest, leaves4, ring3, star3, topology
from tests.schedule.mutations_of.forests import MUTATIONS
from tests.schedule.verification.rejecting import rejected


def test_dropped_edge_names_tree_root_and_gpu() -> None:
    """Tree 1 of the star is b -> c -> a; without its last edge the shard of b misses a."""
    correct = star3()
    parent = correct.parent.copy()
    parent[1, 0] = -1
    message = rejected(replace(correct, parent=parent))
    assert message == "tree 1, rooted at b: a has no parent, so the shard does not reach it"


def test_cycle_is_spelt_out_in_the_direction_of_the_data() -> None:
    """In tree 0 of the leaves, b -> d -> c -> b hangs in the air."""
    correct = leaves4()
    parent = correct.parent.copy()
    parent[0] = [-1, 2, 3, 1]
    message = rejected(replace(correct, parent=parent))
    assert message.startswith("tree 0, rooted at a: ")
    cycles = ("b -> d -> c -> b", "d -> c -> b -> d", "c -> b -> d -> c")
    assert any(f" {cycle} is a cycle" in message for cycle in cycles)


def test_shards_sum_without_wrapping_round() -> None:
    """Four batches of 2^62, 2^62, 2^62 and 2^62 + 1 trees make 2^64 + 1, not the k = 1 claimed."""
    correct = ring3()
    stars = [0, 0, 0, 0, 1, 2]
    forged = replace(
        correct,
        root=np.array(stars, dtype=np.int32),
        multiplicity=np.array([2**62, 2**62, 2**62, 2**62 + 1, 1, 1], dtype=np.int64),
        parent=correct.parent[stars],
    )
    assert f"add up to {2**64 + 1}; they must add up to k = 1" in rejected(forged)


@pytest.mark.parametrize("make", MUTABLE.values(), ids=MUTABLE)
@pytest.mark.parametrize("name", ["cycle", "dropped edge", "missing route"])
def test_trees_keep_their_numbers_when_looked_at_in_blocks(
    name: str, make: Callable[[], Forest], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A message does not depend on how many trees are looked at together."""
    mutate, _ = MUTATIONS[name]
    together = rejected(mutate(make()))
    module = importlib.import_module("forestcoll.schedule.verification.trees.spanning")
    monkeypatch.setattr(module, "_BLOCK_ENTRIES", 1)
    assert verify(make()).optimal
    assert rejected(mutate(make())) == together


@pytest.mark.parametrize("make", FORESTS.values(), ids=FORESTS)
def test_height_agrees_with_the_forest_s_own(make: Callable[[], Forest]) -> None:
    assert verify(make()).depth == make().tree_depths().max()


def test_long_chain_is_no_cycle() -> None:
    """Chains of 64 hops round a ring of 65 GPUs: deep, but every GPU is reached.

    Each link carries every tree but the one that ends at its tail: U = 64.
    """
    size = 65
    letters = [chr(0x4E00 + i) for i in range(size)]
    duplex = [(letters[i], letters[(i + 1) % size], 1) for i in range(size)]
    net = topology("long ring", "".join(letters), "", duplex)
    trees = [
        (r, 1, [((r + i) % size, (r + i + 1) % size) for i in range(size - 1)]) for r in range(size)
    ]
    paths = {one + other: size - 1 for one, other, _ in duplex}
    chain = forest(net, trees, paths, k=1, congestion=size - 1)
    verdict = verify(chain)
    assert verdict.depth == verdict.congestion == 64
    assert cost(chain).time_s_per_gb == verdict.time_s_per_gb


CHAIN, STAR = [-1, 0, 1, 2], [-1, 0, 0, 0]


@pytest.mark.parametrize("entries", [1, 8, 2**20])
def test_names_wrong_tree(entries: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three trees of four nodes; depth 3 of the chain, wherever it is; faults in each of them."""
    module = importlib.import_module("forestcoll.schedule.verification.trees.spanning")
    monkeypatch.setattr(module, "_BLOCK_ENTRIES", entries)

    def depth(*rows: list[int]) -> int:
        root = np.zeros(len(rows), dtype=np.int32)
        return check_spanning(np.array(rows), root, tree="tree {}".format, node="v{}".format)

    for at in range(3):
        rows = [STAR] * 3
        rows[at] = CHAIN
        assert depth(*rows) == 3
        for fault, message in (
            ([-1, 0, -1, 2], f"tree {at}: v2 has no parent"),
            ([3, 0, 1, 2], f"tree {at}: the root has the parent v3"),
            ([-1, 2, 1, 0], f"tree {at}: v. -> v. -> v. is a cycle"),
        ):
            rows[at] = fault
            with pytest.raises(VerificationError, match=message):
                depth(*rows)


@pytest.mark.parametrize("entries", [1, 2**20])
@pytest.mark.parametrize("root", range(3))
def test_edges_need_paths(root: int, entries: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the ring of three each tree has the two links out of its root for itself."""
    module = importlib.import_module("forestcoll.schedule.verification.trees.spanning")
    monkeypatch.setattr(module, "_BLOCK_ENTRIES", entries)
    correct = ring3()
    for head in {0, 1, 2} - {root}:
        paths = correct.routes.paths()
        del paths[root, head]
        message = rejected(replace(correct, routes=Routes.from_paths(paths)))
        name, other = "abc"[root], "abc"[head]
        edge = f"the edge {name} -> {other} has no physical path"
        assert message == f"tree {root}, rooted at {name}: {edge}"


def test_edges_of_a_reduction_need_paths_from_child_to_parent() -> None:
    """In the ring of three the tree to a has the link b -> a for itself."""
    correct = transposed(ring3(), ring3().topology)
    paths = correct.routes.paths()
    del paths[1, 0]
    message = rejected(replace(correct, routes=Routes.from_paths(paths)))
    assert message == "tree 0, rooted at a: the edge b -> a has no physical path"


def test_rings_load_each_link_with_all_trees_but_those_that_end_before_it() -> None:
    """Around a -> b -> c -> a run 1, 2 and 4 trees from a, b and c; none returns to its root.

    Into a go those of b and c, 6; into b those of a and c, 5; into c those of a and b, 3. The tree
    of a alone loads the two links of its path.
    """
    ring = replace(
        ring3(),
        root=np.array([0, 1, 2], dtype=np.int32),
        multiplicity=np.array([1, 2, 4], dtype=np.int64),
        parent=np.array([[-1, 0, 1], [2, -1, 1], [2, 0, -1]], dtype=np.int32),
    )
    ways = list(zip(ring.routes.tail.tolist(), ring.routes.head.tolist(), strict=True))
    loads = {(2, 0): 6, (0, 1): 5, (1, 2): 3}
    assert len(ways) == 6
    assert tree_loads(ring).tolist() == [loads.get(way, 0) for way in ways]
    single = replace(
        ring, root=ring.root[:1], multiplicity=ring.multiplicity[:1], parent=ring.parent[:1]
    )
    assert tree_loads(single).tolist() == [int(way in {(0, 1), (1, 2)}) for way in ways]


def rings_of_four(*, reduction: bool) -> Forest:
    """Return trees around a -> b -> c -> d -> a and back, and their transposes for a reduction."""
    net = network_of("a b c d", "a - b, b - c, c - d, d - a", "ring")
    parent = np.array([[3, 0, 1, 2]] * 4 + [[1, 2, 3, 0]] * 4, dtype=np.int32)
    root = np.tile(np.arange(4, dtype=np.int32), 2)
    parent[np.arange(8), root] = -1
    ways = [(v, (v + step) % 4) for v in range(4) for step in (1, 3)]
    return Forest(
        topology=net,
        method="by hand",
        k=9,
        congestion=Fraction(1),
        root=root,
        multiplicity=np.array([1, 2, 3, 4, 8, 7, 6, 5], dtype=np.int64),
        parent=parent,
        routes=Routes.from_paths({way: [Path(way, 1)] for way in ways}),
        reduction=reduction,
    )


@pytest.mark.parametrize("entries", [1, 8, 16, 2**20])
@pytest.mark.parametrize("reduction", [False, True])
def test_rings_are_counted_by_their_cycles(
    reduction: bool, entries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As by all their trees, whatever rows are processed together; the trees are not looked at."""
    for name in ("spanning", "sums"):
        module = importlib.import_module(f"forestcoll.schedule.verification.trees.{name}")
        monkeypatch.setattr(module, "_BLOCK_ENTRIES", entries)
    forest = rings_of_four(reduction=reduction)
    counted = tree_loads(forest).tolist()
    assert sorted(counted) == sorted(
        [10 - m for m in (1, 2, 3, 4)] + [26 - m for m in (8, 7, 6, 5)]
    )
    rings: list[Rings] = []
    assert check_trees(forest, rings) == 3
    monkeypatch.setattr(spanning, "_count", None)
    assert tree_loads(forest, rings).tolist() == counted


@pytest.mark.parametrize("reduction", [False, True])
@pytest.mark.parametrize("way", [(v, (v + step) % 4) for v in range(4) for step in (1, 3)])
def test_edges_of_rings_need_paths(way: tuple[int, int], reduction: bool) -> None:
    forest = rings_of_four(reduction=reduction)
    paths = forest.routes.paths()
    del paths[way]
    forest = replace(forest, routes=Routes.from_paths(paths))
    rings: list[Rings] = []
    check_trees(forest, rings)
    tail, head = ("abcd"[rank] for rank in way)
    with pytest.raises(VerificationError, match=f"the edge {tail} -> {head} has no physical path"):
        tree_loads(forest, rings)


def test_some_rings_among_other_trees_are_counted_tree_by_tree() -> None:
    """The first tree is a chain of two branches."""
    forest = rings_of_four(reduction=False)
    parent = forest.parent.copy()
    parent[0] = [-1, 0, 1, 0]
    forest = replace(forest, parent=parent)
    rings: list[Rings] = []
    check_trees(forest, rings)
    assert not rings
    assert tree_loads(forest, rings).sum() == 3 * forest.multiplicity.sum()
    rings.append(Rings(4, 4, np.array([[1, 2, 3, 0]])))
    assert tree_loads(forest, rings).sum() == 3 * forest.multiplicity.sum()


def test_no_trees_load_no_link() -> None:
    ring = ring3()
    none = replace(
        ring, root=ring.root[:0], multiplicity=ring.multiplicity[:0], parent=ring.parent[:0]
    )
    assert tree_loads(none).tolist() == [0] * 6


@pytest.mark.parametrize(
    ("reduction", "lost"),
    [(False, "its shard is never sent"), (True, "the sum for it is never made")],
)
def test_a_root_without_trees_is_named_with_what_is_missing(reduction: bool, lost: str) -> None:
    forest = rings_of_four(reduction=reduction)
    rows = forest.root != 1
    less = replace(
        forest,
        root=forest.root[rows],
        multiplicity=forest.multiplicity[rows],
        parent=forest.parent[rows],
    )
    with pytest.raises(VerificationError, match=f"b is the root of no tree, so {lost}"):
        check_roots(less)


def test_a_weight_is_named_with_the_trees_that_are_due() -> None:
    forest = replace(rings_of_four(reduction=False), weights=(1, 2, 1, 1))
    with pytest.raises(
        VerificationError, match="add up to 9; they must add up to 18, k = 9 by weight 2"
    ):
        check_roots(forest)
