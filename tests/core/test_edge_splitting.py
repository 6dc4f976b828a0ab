"""Switch removal after decomposition: sets stay tight, every cut keeps its trees, loads fit."""

import itertools
import random

import numpy as np
import pytest
from hypothesis import given, settings

from forestcoll.core.edge_splitting import ranks, remove_switches
from forestcoll.core.optimality import optimum
from forestcoll.core.problem import Problem
from forestcoll.core.tight_sets import decompose
from forestcoll.topology import Topology, load_topology
from tests.core.decomposed import Decomposed, entering, members
from tests.fuzz.families import build
from tests.random_topologies import rounds, seeds
from tests.reference.condition import starved
from tests.reference.cuts import violated_set
from tests.strategies import topologies

NETWORKS = [
    "dgx_a100:boxes=4",
    "dgx_a100:boxes=3,nics=nodes,ib_switches=2",
    "mi250:boxes=3",
    "fat_tree:leaves=4,hosts=4,spines=2",
    "fat_tree:leaves=4,hosts=4,spines=3,oversubscription=3",
    "rail_optimized:boxes=4,gpus_per_box=4,spines=2",
    "torus:dims=4x5",
    "docs/examples/three-tier.yaml",
]


RANDOM = ["directed", "unbalanced", "bidirectional", "dgx", "mixed", "pods", "torus", "damaged"]
"""Families of tests.fuzz whose first seeds are decomposed below."""


def check_tight_sets(found: Decomposed) -> None:
    """Every set of the family is tight and holds a GPU; the family is a tree, inner sets first."""
    family = members(found.sets)
    assert family[-1] == set(range(len(found.topology.nodes)))
    assert found.sets.parent[-1] == -1
    assert all(child < parent for child, parent in enumerate(found.sets.parent[:-1].tolist()))
    for child, parent in enumerate(found.sets.parent[:-1].tolist()):
        assert family[child] < family[parent]
        assert family[child] & set(found.topology.compute)
    for one, other in itertools.combinations(family, 2):
        assert one <= other or not one & other
    for nodes in family:
        assert found.surplus(found.before, nodes) == 0


def check_switch_removal(found: Decomposed) -> None:
    """(C) holds before and after, by max-flows of OR-Tools, and tight sets are tight after it."""
    assert starved(found.before, found.trees) == {}
    assert starved(found.after, found.trees) == {}
    gpus = set(found.topology.compute)
    assert {end for link in found.after for end in link} <= gpus
    for nodes in members(found.sets):
        assert found.surplus(found.after, nodes & gpus) == 0


def check_sets_without_switches(found: Decomposed, seed: int) -> int:
    """For Z in a tight X that holds no switch, d(Z) does not change; return how many Z were tried.

    What is lifted outside X only moves the tails of links that enter X, and never into X, which
    would then receive too little. So in(Z) stays, and what runs inside X.
    """
    chance, tried = random.Random(seed), 0
    gpus = set(found.topology.compute)
    for nodes in members(found.sets)[:-1]:
        if not nodes <= gpus:
            continue
        pool = sorted(nodes)
        for _ in range(8):
            some = set(chance.sample(pool, chance.randint(1, len(pool))))
            assert entering(found.after, some) == entering(found.before, some)
            tried += 1
    return tried


def check_ingress(found: Decomposed) -> None:
    """No GPU comes to receive more than it did, and none less than the trees of all others."""
    everything = sum(found.trees.values())
    for gpu, count in found.trees.items():
        after = entering(found.after, {gpu})
        assert everything - count <= after <= entering(found.before, {gpu})


@pytest.mark.parametrize("spec", NETWORKS)
def test_tight_sets_and_switch_removal(spec: str) -> None:
    """On clusters and fabrics, through one to three tiers of switches."""
    found = Decomposed.of(load_topology(spec))
    check_tight_sets(found)
    check_switch_removal(found)
    check_ingress(found)
    check_sets_without_switches(found, seed=1)


@pytest.mark.parametrize("family", RANDOM)
@pytest.mark.parametrize("seed", seeds(4, 2))
@pytest.mark.each_value_once
def test_tight_sets_and_switch_removal_on_random_networks(family: str, seed: int) -> None:
    """On networks of a hundred GPUs and more, and on small ones."""
    found = Decomposed.of(build(family, seed))
    check_tight_sets(found)
    check_switch_removal(found)
    check_ingress(found)
    check_sets_without_switches(found, seed)


@settings(max_examples=rounds(200), deadline=None)
@given(topologies())
def test_tight_sets_and_switch_removal_shrinking(topology: Topology) -> None:
    """On the networks of Hypothesis, (C) also by enumeration of all cuts."""
    found = Decomposed.of(topology)
    check_tight_sets(found)
    check_switch_removal(found)
    check_ingress(found)
    check_sets_without_switches(found, seed=0)
    assert violated_set(found.before, found.trees) is None
    assert violated_set(found.after, found.trees) is None


def test_lifting_leaves_the_inside_of_switchless_sets_alone() -> None:
    """In three MI250 boxes the two dies of an OAM are tight, and hold no switch.

    46 shards enter a pair over 2 x 3 xGMI links and 2 shares of a NIC: 46 / (6 x 50 + 2 x 16) =
    0.139 s per GB; a box has 32 / 256 = 0.125. All cuts of Z inside the 24 pairs stay as they were.
    """
    found = Decomposed.of(load_topology("mi250:boxes=3"))
    assert [len(nodes) for nodes in members(found.sets)].count(2) == 24
    assert check_sets_without_switches(found, seed=2) >= 24 * 8


def test_few_links_join_many_equal_boxes_two_steps_apart() -> None:
    """24 boxes of A100: with stride 5 a box sends to those 1 to 5, 10, 15 and 20 ahead.

    Links between boxes are 24 * 8 pairs of boxes instead of 24 * 23, each over all rails; every
    cut keeps its trees.
    """
    topology = load_topology("dgx_a100:boxes=24")
    pairs = {}
    for few in (False, True):
        found = Decomposed.of(topology, sparse_exchange=few)
        check_tight_sets(found)
        check_switch_removal(found)
        check_ingress(found)
        box = {node: topology.nodes[node].box for node in topology.compute}
        pairs[few] = {(box[u], box[v]) for u, v in found.after if box[u] != box[v]}
    assert (len(pairs[False]), len(pairs[True])) == (24 * 23, 24 * 8)


def test_the_oracle_sees_a_link_that_is_missing() -> None:
    """Of two GPUs that need one tree each way, the one whose link is taken away is starved."""
    assert starved({(0, 1): 1, (1, 0): 1}, {0: 1, 1: 1}) == {}
    assert starved({(0, 1): 1}, {0: 1, 1: 1}) == {0: 1}
    assert starved({(0, 1): 1, (1, 0): 2}, {0: 2, 1: 2}) == {1: 3}


@settings(max_examples=rounds(200), deadline=None)
@given(topologies())
def test_theorem_5_switch_removal_keeps_every_cut(topology):
    """Condition (C) on the logical links, by enumeration of all cuts."""
    best = optimum(topology)
    trees = np.full(topology.num_compute, best.k, dtype=np.int64)
    parts = decompose(Problem.at(topology, best.congestion, trees))
    logical = remove_switches(parts.problem, parts.sets)
    ends = zip(logical.tail.tolist(), logical.head.tolist(), strict=True)
    links = dict(zip(ends, logical.capacity.tolist(), strict=True))
    assert violated_set(links, dict(enumerate(trees.tolist()))) is None


def test_switches_have_the_rank_minus_one() -> None:
    """GPUs are counted in the order of the nodes: 8 a box, then its switch; InfiniBand last."""
    topology = load_topology("dgx_a100:boxes=1")
    assert ranks(topology).tolist() == [
        -1 if node.is_switch else topology.compute.index(v) for v, node in enumerate(topology.nodes)
    ]
    assert -1 in ranks(topology)
