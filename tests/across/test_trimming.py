"""Trimming: surplus capacity of loose sets goes, so that they become tight; nothing else changes.

What is checked is a function that trims, ``trimmed`` being the pipeline's, so that the check itself
can be tested with others.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings

from benchmarks.topologies import dead_nics, jittered_nics
from forestcoll.core.optimality import optimum
from forestcoll.core.problem import Problem, tree_capacities
from forestcoll.core.tight_sets import TightSets, decompose
from forestcoll.core.violation import violated_cut
from forestcoll.topology import Topology, load_topology
from tests.core.decomposed import entering, links_of, members
from tests.fuzz.families import build
from tests.random_topologies import rounds, seeds
from tests.reference.condition import starved
from tests.reference.cuts import violated_set
from tests.strategies import topologies

Integers = npt.NDArray[np.int64]
Trim = Callable[[Topology, Integers, Integers], tuple[TightSets, Integers]]
"""Topology, trees each link may carry, trees at each rank -> the family and what is left."""

NETWORKS = [
    "dgx_a100:boxes=4",
    "mi250:boxes=2",
    "mi250:boxes=4",
    "fat_tree:leaves=4,hosts=4,spines=2",
    "fat_tree:leaves=4,hosts=4,spines=3,oversubscription=3",
    "rail_optimized:boxes=4,gpus_per_box=4,spines=2",
    "docs/examples/three-tier.yaml",
    "docs/examples/directed.yaml",
]
FAMILIES = ["directed", "bidirectional", "unbalanced", "regular", "dgx", "loose", "mixed", "pods"]
FAMILIES += ["fat-tree", "torus", "dragonfly", "damaged", "odd-speeds"]


def trimmed(topology: Topology, capacity: Integers, trees: Integers) -> tuple[TightSets, Integers]:
    """What the pipeline does."""
    parts = decompose(Problem(topology, capacity, trees))
    return parts.sets, parts.problem.capacity


def check(topology: Topology, trim: Trim, *, enumerate_cuts: bool = False) -> TightSets:
    """What must hold of trimming, whatever it trims; return the family."""
    best = optimum(topology)
    trees = np.full(topology.num_compute, best.k, dtype=np.int64)
    original = tree_capacities(topology, best.congestion)
    given_to_it = original.copy()
    sets, left = trim(topology, given_to_it, trees)
    assert np.array_equal(given_to_it, original), "the checker's capacities are untouched"
    assert ((left >= 0) & (left <= original)).all()

    before, after = links_of(topology, original), links_of(topology, left)
    for switch in topology.switches:
        assert balance(after, switch) >= 0, "in >= out, which switch removal needs"

    rooted = dict(zip(topology.compute, trees.tolist(), strict=True))
    assert starved(after, rooted) == {}, "(C) with the same trees"
    if enumerate_cuts:
        assert violated_set(after, rooted) is None
    for nodes in members(sets):
        outside = sum(count for gpu, count in rooted.items() if gpu not in nodes)
        assert entering(after, nodes) == outside, "a candidate is tight"
        assert entering(before, nodes) >= outside
    family = members(sets)
    assert all(a <= b or b <= a or not a & b for a in family for b in family)
    return sets


def balance(capacity: dict[tuple[int, int], int], node: int) -> int:
    """Return in - out."""
    into = sum(room for (_, head), room in capacity.items() if head == node)
    return into - sum(room for (tail, _), room in capacity.items() if tail == node)


@pytest.mark.parametrize("spec", NETWORKS)
def test_trimming_keeps_the_condition(spec: str) -> None:
    """On clusters and fabrics."""
    check(load_topology(spec), trimmed)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("seed", seeds(4, 1))
def test_trimming_keeps_the_condition_on_random_networks(family: str, seed: int) -> None:
    """On small networks and on some of 128 GPUs and more."""
    check(build(family, seed), trimmed)


@pytest.mark.slow
@settings(max_examples=rounds(300), deadline=None)
@given(topologies())
def test_trimming_keeps_every_cut(topology: Topology) -> None:
    """The same, shrinking; all cuts enumerated."""
    check(topology, trimmed, enumerate_cuts=True)


@pytest.mark.parametrize(
    "topology", [dead_nics(16, 5, seed=0), jittered_nics(16, 20, 25, seed=0)], ids=lambda t: t.name
)
def test_loose_boxes_become_tight(topology: Topology) -> None:
    """The slowest box is the bottleneck; the 15 others have more than they need, which goes."""
    tight = [nodes for nodes in members(check(topology, trimmed)) if len(nodes) > 1]
    gpus = set(topology.compute)
    boxes = {node.box for node in topology.nodes if node.box is not None}
    for box in boxes:
        of_box = {v for v in gpus if topology.nodes[v].box == box}
        assert any(nodes & gpus == of_box for nodes in tight), f"box {box} is not tight"


def test_the_check_refuses_excessive_trimming_and_growth() -> None:
    """One tree less over any link of a bottleneck box breaks (C); one more than given is seen."""
    topology = load_topology("dgx_a100:boxes=4")
    check(topology, trimmed)
    into_box = topology.position_of["b0.gpu0"]
    link = next(
        i
        for i, one in enumerate(topology.links)
        if one.head == into_box and topology.nodes[one.tail].name == "ib"
    )

    def changed_by(amount: int) -> Trim:
        def trim(
            topology: Topology, capacity: Integers, trees: Integers
        ) -> tuple[TightSets, Integers]:
            sets, left = trimmed(topology, capacity, trees)
            left = left.copy()
            left[link] += amount
            return sets, left

        return trim

    for amount in (-1, 1):
        with pytest.raises(AssertionError):
            check(topology, changed_by(amount))


def test_trimming_after_excessive_losses_raises_no_capacity() -> None:
    topology = build("bidirectional", 1000378)
    best = optimum(topology)
    capacity = tree_capacities(topology, best.congestion)
    trees = np.full(topology.num_compute, best.k, dtype=np.int64)
    parts = decompose(Problem(topology, capacity, trees))
    assert (parts.problem.capacity <= capacity).all()
    assert violated_cut(parts.problem) is None
