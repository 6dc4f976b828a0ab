"""verify accepts what is right, for the right reasons, and names the fault of what is not."""

import importlib
import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from forestcoll.errors import VerificationError
from forestcoll.schedule.cost.measures import cost
from forestcoll.schedule.forest import Forest, Path, Routes
from forestcoll.schedule.verify.dispatch import verify
from tests.schedule.hand import FORESTS, MUTABLE, forest, leaves4, rails2, ring3, star3, topology
from tests.schedule.mutations_of.forests import MUTATIONS, OPTIMUM_MUTATIONS


def rejected(spoiled: Forest) -> str:
    """Verify, which must fail in one line."""
    with pytest.raises(VerificationError) as caught:
        verify(spoiled)
    assert caught.value.exit_code == 1
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("make", FORESTS.values(), ids=FORESTS)
def test_correct_forest_is_proved_optimal(make: Callable[[], Forest]) -> None:
    """Each forest attains the bound of its cut, worked out in its docstring."""
    correct = make()
    verdict = verify(correct)
    assert verdict.optimal
    assert correct.optimum is not None
    assert verdict.time_s_per_gb == correct.optimum.time_s_per_gb
    assert verdict.congestion == correct.congestion


def test_verdict_states_what_was_checked() -> None:
    """Two leaves: 4 trees of 3 edges and height 2 over 8 logical links; 1/(N k) U = 1/4 s/GB."""
    verdict = verify(leaves4())
    assert verdict.collective == "allgather"
    assert (verdict.gpus, verdict.roots, verdict.k) == (4, 4, 1)
    assert (verdict.batches, verdict.trees, verdict.tree_edges) == (4, 4, 12)
    assert (verdict.logical_links, verdict.paths, verdict.height) == (8, 8, 2)
    assert verdict.deliveries == 12
    assert verdict.congestion == 1
    assert verdict.busiest_link == ("a", "x")
    assert verdict.time_s_per_gb == Fraction(1, 4)
    assert verdict.algbw_gb_s == 4


def test_trees_are_counted_with_multiplicity() -> None:
    """Two GPUs, k = 3: two batches stand for six trees, two paths each way for three trees."""
    verdict = verify(rails2())
    assert (verdict.batches, verdict.trees, verdict.paths) == (2, 6, 4)
    assert verdict.algbw_gb_s == 6


@pytest.mark.parametrize("make", FORESTS.values(), ids=FORESTS)
def test_nothing_claimed_is_not_optimal_but_correct(make: Callable[[], Forest]) -> None:
    """Without a cut there is a proof of delivery and of congestion, and none of optimality."""
    verdict = verify(replace(make(), optimum=None, congestion=Fraction(1000)))
    assert not verdict.optimal
    assert verdict.congestion == make().congestion


@pytest.mark.parametrize("make", MUTABLE.values(), ids=MUTABLE)
@pytest.mark.parametrize("name", MUTATIONS)
def test_every_mutation_is_rejected_by_name(name: str, make: Callable[[], Forest]) -> None:
    """One fault in a correct forest is found, and the message names it."""
    mutate, message = MUTATIONS[name]
    assert re.search(message, rejected(mutate(make())))


@pytest.mark.parametrize("name", OPTIMUM_MUTATIONS)
def test_every_false_claim_of_optimality_is_rejected(name: str) -> None:
    mutate, message = OPTIMUM_MUTATIONS[name]
    assert re.search(message, rejected(mutate(star3())))


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


def test_overload_shows_load_bandwidth_and_claim() -> None:
    """At half the bandwidth claimed for, leaf x to leaf y carries 2 trees over 1 GB/s."""
    correct = leaves4()
    links = [
        replace(e, bandwidth_gb_s=Fraction(1)) if (e.tail, e.head) == (4, 5) else e
        for e in correct.topology.links
    ]
    narrow = replace(correct, topology=replace(correct.topology, links=tuple(links)))
    assert rejected(narrow) == (
        "link x -> y is overloaded: 2 trees over 1 GB/s make 2 trees per GB/s; "
        "the congestion claimed is 1"
    )


def test_overload_by_the_smallest_step_is_found() -> None:
    """Loads are compared exactly: U below the truth by 1e-30 is too little."""
    correct = replace(star3(), optimum=None)
    assert verify(correct).congestion == 1
    assert "overloaded" in rejected(replace(correct, congestion=1 - Fraction(1, 10**30)))


def test_route_without_use_is_an_error() -> None:
    """No tree of the star runs from a to c, so no path may."""
    correct = star3()
    paths = correct.routes.paths()
    paths[0, 2] = (Path((0, 3, 2), 1),)
    message = rejected(replace(correct, routes=Routes.from_paths(paths)))
    assert message == "logical link a -> c has physical paths, but no tree uses it; leave it out"


def test_path_from_a_gpu_to_itself_is_an_error() -> None:
    """A walk a -> w -> a serves no tree edge."""
    correct = star3()
    paths = correct.routes.paths()
    paths[0, 0] = (Path((0, 3, 0), 1),)
    message = rejected(replace(correct, routes=Routes.from_paths(paths)))
    assert "logical link a -> a" in message


def test_weaker_bound_than_attained_time_is_not_optimality() -> None:
    """The cut {a} of the ring proves 1/2 s/GB; the forest takes 1: true, but not optimal."""
    correct = ring3()
    assert correct.optimum is not None
    bound = Fraction(1, 2)
    claim = replace(correct.optimum, cut=(0,), inverse_rate=bound, k=2, congestion=2 * bound)
    message = rejected(replace(correct, optimum=claim))
    assert "claimed to be optimal, but its measured congestion is 1" in message


def test_optimum_of_another_network_is_no_claim_about_this_one() -> None:
    correct = ring3()
    message = rejected(replace(correct, optimum=star3().optimum))
    assert message == "the optimum claimed is that of another topology, star3"


def test_k_and_congestion_of_the_optimum_must_agree() -> None:
    correct = ring3()
    assert correct.optimum is not None
    message = rejected(replace(correct, optimum=replace(correct.optimum, congestion=Fraction(2))))
    assert "k = 1 and congestion 2, but k / x* is 1" in message


def test_more_trees_than_needed_are_no_optimal_k() -> None:
    """At 1/x* = 1 a link of 1 GB/s carries a whole number of trees for k = 1 already."""
    correct = ring3()
    assert correct.optimum is not None
    claim = replace(correct.optimum, k=5, congestion=Fraction(5))
    message = rejected(replace(correct, optimum=claim))
    assert message == (
        "the optimum claims k = 5 trees per root; the least that fills every link with whole trees "
        "is 1"
    )


@pytest.mark.parametrize(
    ("cut", "fault"),
    [((0, 99), "names nodes outside 0 to 3"), ((-1,), "outside"), ((), "no link that leaves it")],
)
def test_cut_that_is_no_cut_is_rejected(cut: tuple[int, ...], fault: str) -> None:
    correct = star3()
    assert correct.optimum is not None
    claim = replace(correct.optimum, cut=cut)
    assert fault in rejected(replace(correct, optimum=claim))


def test_the_schedule_of_one_gpu_is_empty() -> None:
    """Nothing moves and nothing is claimed; a tree without edges is refused."""
    net = topology("alone", "a", "w", [("a", "w", 1)])
    empty = forest(net, [], {}, k=1, congestion=0)
    verdict = verify(empty)
    assert (verdict.trees, verdict.time_s_per_gb, verdict.algbw_gb_s) == (0, 0, None)
    assert "must be empty: no trees" in rejected(forest(net, [(0, 1, [])], {}, k=1, congestion=0))
    assert "congestion must be 0" in rejected(forest(net, [], {}, k=1, congestion=1))
    nobody = topology("nobody", "", "wv", [("w", "v", 1)])
    assert "has no GPU" in rejected(forest(nobody, [], {}, k=1, congestion=1))


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


def test_loads_beyond_64_bits_are_exact() -> None:
    """Chains of 2^62 trees on the star load every link with 2^63, and the answer is right."""
    correct = star3()
    many = 2**62
    verdict = verify(
        replace(
            correct,
            k=many,
            congestion=Fraction(many),
            multiplicity=many * correct.multiplicity,
            routes=Routes.from_paths(
                {
                    link: tuple(Path(path.nodes, many) for path in paths for _ in range(2))
                    for link, paths in correct.routes.paths().items()
                }
            ),
        )
    )
    assert verdict.congestion == many
    assert verdict.trees == 3 * many
    assert verdict.optimal


def _claiming(**fields: Any) -> Forest:
    return replace(star3(), **fields)


def _routes_with(**arrays: Any) -> Forest:
    correct = star3()
    return replace(correct, routes=replace(correct.routes, **arrays))


@pytest.mark.parametrize(
    ("broken", "fault"),
    [
        (replace(star3(), root=np.zeros(2, np.int32)), "multiplicity has shape"),
        (replace(star3(), root=np.array([0, 1, 3], np.int32)), "root holds 3"),
        (_claiming(root=[0, 1, 2]), "root holds list; it must be a numpy array"),
        (_claiming(multiplicity=np.ones(3)), "multiplicity holds float64"),
        (replace(star3(), parent=star3().parent.astype(np.uint32)), "parent holds uint32"),
        (replace(star3(), parent=star3().parent[:, :2]), r"parent has shape \(3, 2\)"),
        (replace(star3(), parent=np.full((3, 3), -2, np.int32)), "parent holds -2"),
        (replace(star3(), k=0), "k is 0"),
        (replace(star3(), k=True), "k is True"),
        (_claiming(k=1.0), "k is 1.0"),
        (replace(star3(), congestion=Fraction(0)), "congestion claimed is Fraction"),
        (_claiming(congestion=1.0), "congestion claimed is 1.0"),
        (_routes_with(tail=np.array([0, 1, 7], np.int32)), "routes.tail holds 7"),
        (_routes_with(hop=np.full(9, 4, np.int32)), "routes.hop holds 4"),
        (_routes_with(first_path=np.array([0, 1, 2])), r"first_path has shape \(3,\)"),
        (_routes_with(first_path=np.array([0, 2, 1, 3])), "row 1 the entries 2 to 1"),
        (_routes_with(first_path=np.array([0, 1, 1, 3])), "row 1 the entries 1 to 1"),
        (_routes_with(first_path=np.array([1, 1, 2, 3])), "runs from 1 to 3"),
        (_routes_with(first_hop=np.array([0, 3, 8, 9])), "row 2 the entries 8 to 9"),
        (_routes_with(first_hop=np.array([0, 3, 6, 8])), "runs from 0 to 8"),
        (_routes_with(tail=np.array([1, 0, 2], np.int32)), "a -> c is out of order"),
    ],
)
def test_malformed_arrays_are_rejected(broken: Forest, fault: str) -> None:
    """Wrong shapes, types, ranges and rows are told before anything is indexed with them."""
    assert re.search(fault, rejected(broken))


def test_link_listed_twice_is_rejected() -> None:
    """Two entries for a -> b, each half of what runs over it, are one too many."""
    correct = star3()
    doubled = Routes(
        tail=np.array([0, 0, 1, 2], np.int32),
        head=np.array([1, 1, 2, 0], np.int32),
        first_path=np.arange(5),
        multiplicity=np.array([1, 1, 2, 2]),
        first_hop=np.arange(0, 13, 3),
        hop=np.array([0, 3, 1, 0, 3, 1, 1, 3, 2, 2, 3, 0], np.int32),
    )
    message = rejected(replace(correct, routes=doubled))
    assert "logical link a -> b is listed twice" in message


@pytest.mark.parametrize("make", MUTABLE.values(), ids=MUTABLE)
@pytest.mark.parametrize("name", ["cycle", "dropped edge", "missing route"])
def test_trees_keep_their_numbers_when_looked_at_in_blocks(
    name: str, make: Callable[[], Forest], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A message does not depend on how many trees are looked at together."""
    mutate, _ = MUTATIONS[name]
    together = rejected(mutate(make()))
    module = importlib.import_module("forestcoll.schedule.verify.trees.spanning")
    monkeypatch.setattr(module, "_BLOCK_ENTRIES", 1)
    assert verify(make()).optimal
    assert rejected(mutate(make())) == together


@pytest.mark.parametrize("make", FORESTS.values(), ids=FORESTS)
def test_height_agrees_with_the_forest_s_own(make: Callable[[], Forest]) -> None:
    assert verify(make()).height == make().heights().max()


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
    assert verdict.height == verdict.congestion == 64
    assert cost(chain).time_s_per_gb == verdict.time_s_per_gb
