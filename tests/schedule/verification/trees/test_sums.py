"""The checker on every collective: whatever is spoilt is found, and named as the data runs."""

import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from forestcoll import Allreduce, FactoredForest, Forest, generate, group, load_topology, verify
from forestcoll.errors import VerificationError
from forestcoll.schedule.exact_sums import Ints
from forestcoll.schedule.transform.factoring import as_factored
from forestcoll.schedule.transform.reversal import reversed_routes
from forestcoll.schedule.verification.trees import spanning, sums
from forestcoll.schedule.verification.trees.sums import check_summing, cycles_of, rows_together
from forestcoll.topology import Topology
from tests.random_topologies import random_topology

DEMANDS: dict[str, tuple[str, dict[str, Any]]] = {
    "allgather": ("allgather", {}),
    "weighted allgather": ("allgather", {"weights": [2, 0, 1, 3, 0]}),
    "broadcast": ("broadcast", {"root": 1}),
    "reduce-scatter": ("reduce-scatter", {}),
    "weighted reduce-scatter": ("reduce-scatter", {"weights": [2, 0, 1, 3, 0]}),
    "reduce": ("reduce", {"root": 1}),
}

REDUCTIONS = [name for name, (collective, _) in DEMANDS.items() if "reduce" in collective]


@cache
def network() -> Topology:
    """Five GPUs and three switches, directed, balanced, with unequal ways there and back."""
    return next(
        topology
        for topology in (random_topology(seed, "directed") for seed in range(1000))
        if (topology.num_compute, len(topology.switches)) == (5, 3)
    )


@cache
def made(name: str) -> Forest:
    collective, demand = DEMANDS[name]
    forest = generate(network(), collective=collective, **demand).schedule
    assert isinstance(forest, Forest)
    assert verify(forest).optimal
    return forest


def _with_parent(forest: Forest, rank: int, parent: int) -> Forest:
    parents = forest.parent.copy()
    parents[0, rank] = parent
    return replace(forest, parent=parents)


def _others(forest: Forest) -> list[int]:
    return [rank for rank in range(5) if rank != forest.root[0]]


def more_trees_at_a_root(forest: Forest) -> Forest:
    """The first batch stands for a tree more."""
    return replace(forest, multiplicity=forest.multiplicity + (np.arange(forest.num_batches) == 0))


def other_weights(forest: Forest) -> Forest:
    """One part more is claimed for the last GPU."""
    return replace(forest, weights=(*forest.weights[:-1], forest.weights[-1] + 1))


def too_few_weights(forest: Forest) -> Forest:
    return replace(forest, weights=forest.weights[:-1])


def negative_weight(forest: Forest) -> Forest:
    return replace(forest, weights=(*forest.weights[:-1], -1))


def scaled_weights(forest: Forest) -> Forest:
    return replace(forest, weights=tuple(3 * weight for weight in forest.weights))


def no_weight_at_all(forest: Forest) -> Forest:
    return replace(forest, weights=(0,) * 5)


def lost(forest: Forest) -> Forest:
    """A GPU of the first tree loses its parent."""
    return _with_parent(forest, _others(forest)[-1], -1)


def cycle(forest: Forest) -> Forest:
    """Two GPUs of the first tree become each other's parents."""
    one, other = _others(forest)[:2]
    return _with_parent(_with_parent(forest, one, other), other, one)


def root_goes_on(forest: Forest) -> Forest:
    return _with_parent(forest, int(forest.root[0]), _others(forest)[0])


def other_direction(forest: Forest) -> Forest:
    """The same trees and paths, said to run the other way."""
    return replace(forest, reduction=not forest.reduction, optimum=None)


def reversed_paths(forest: Forest) -> Forest:
    """Every logical link and path is turned round."""
    return replace(forest, routes=reversed_routes(forest.routes), optimum=None)


def claim_of_another_direction(forest: Forest) -> Forest:
    assert forest.optimum is not None
    claim = replace(forest.optimum, reduction=not forest.reduction)
    return replace(forest, optimum=claim)


def claim_of_other_weights(forest: Forest) -> Forest:
    assert forest.optimum is not None
    weights = (*forest.weights[:-1], forest.weights[-1] + 1)
    return replace(forest, optimum=replace(forest.optimum, weights=weights))


def cut_the_wrong_way_round(forest: Forest) -> Forest:
    """What is outside the cut is claimed to be inside."""
    assert forest.optimum is not None
    nodes = range(len(forest.topology.nodes))
    rest = tuple(v for v in nodes if v not in forest.optimum.cut)
    return replace(forest, optimum=replace(forest.optimum, cut=rest))


MUTATIONS: dict[Callable[[Forest], Forest], tuple[str, str]] = {
    # the arguments of a gathering, and of a reduction
    more_trees_at_a_root: (r"rooted at \S+ add up to \d+; they must add up to",) * 2,
    other_weights: (r"add up to|is the root of no tree",) * 2,
    too_few_weights: (r"^the weights are 4; they must be a tuple of 5 ints",) * 2,
    negative_weight: (r"^the weight of \S+ is -1; it must be an int from 0 up",) * 2,
    scaled_weights: (r"^the weights have the common divisor 3; divide them by it",) * 2,
    no_weight_at_all: (r"^all weights are 0, so there is no data",) * 2,
    lost: (
        r"^tree 0, rooted at \S+: \S+ has no parent, so the shard does not reach it",
        r"^tree 0, rooted at \S+: \S+ sends its sum to no GPU, so its contribution is lost",
    ),
    cycle: (
        r"^tree 0, rooted at \S+: (\S+) -> \S+ -> \1 is a cycle, which the root does not reach",
        r"^tree 0, .*: (\S+) -> \S+ -> \1 is a cycle, whose contributions never reach the root",
    ),
    root_goes_on: (
        r"^tree 0, rooted at \S+: the root has the parent \S+",
        r"^tree 0, rooted at \S+: the root sends its sum on to \S+, so the sum does not end there",
    ),
    other_direction: (r"has no physical path|its paths carry|no tree uses it",) * 2,
    reversed_paths: (r"hops from \S+ to \S+, but \S+ has no such link",) * 2,
    claim_of_another_direction: (r"^the optimum claimed is that of another collective",) * 2,
    claim_of_other_weights: (r"^the optimum claimed is that of another collective: .*weights",) * 2,
    cut_the_wrong_way_round: (r"its cut proves|it proves nothing|cut contains every GPU",) * 2,
}


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.__name__)
@pytest.mark.parametrize("name", DEMANDS)
def test_a_spoilt_forest_is_rejected(name: str, mutation: Callable[[Forest], Forest]) -> None:
    """Every fault in every collective, in the direction of its data."""
    with pytest.raises(VerificationError, match=MUTATIONS[mutation]["reduce" in name]):
        verify(mutation(made(name)))


@pytest.mark.parametrize("name", DEMANDS)
@pytest.mark.parametrize("mutation", [more_trees_at_a_root, other_weights, lost, cycle])
def test_mutants_in_factored_form_fail(name: str, mutation: Callable[[Forest], Forest]) -> None:
    """The same faults, as one set of all GPUs."""
    message = MUTATIONS[mutation]["reduce" in name]
    whole = r"trees are packed (from|into) \S+, but \d+ (start|end) there"
    spoilt = as_factored(mutation(made(name)))
    with pytest.raises(VerificationError) as caught:
        verify(spoilt)
    words = message.replace("^tree 0, rooted at \\S+", "^batch 0 of set 0 .*")
    words = words.replace("^tree 0, .*:", "^batch 0 of set 0 .*:")
    assert _found(words, str(caught.value)) or _found(whole, str(caught.value))


def _found(pattern: str, text: str) -> bool:
    return re.search(pattern, text) is not None


@pytest.mark.parametrize("name", DEMANDS)
def test_loads_of_a_factored_forest_are_compared_as_the_data_runs(name: str) -> None:
    """Links turned round, without their trees, are found out by name."""
    factored = generate(
        network(), collective=DEMANDS[name][0], **DEMANDS[name][1], factored=True
    ).schedule
    assert isinstance(factored, FactoredForest)
    assert verify(factored).optimal
    with pytest.raises(VerificationError, match=r"but|no physical path|trees go from"):
        verify(replace(factored, reduction=not factored.reduction, optimum=None))
    load = factored.links.load.copy()
    load[0] += 1
    with pytest.raises(VerificationError, match=r"the links there carry|trees are packed"):
        verify(replace(factored, links=replace(factored.links, load=load)))


def test_every_contribution_is_followed_to_the_root() -> None:
    """Of a reduction into a GPU, each of the others contributes once to each of its parts."""
    verdict = verify(made("reduce"))
    assert (verdict.collective, verdict.roots, verdict.deliveries) == ("reduce", 1, 4)
    verdict = verify(made("weighted reduce-scatter"))
    assert (verdict.collective, verdict.roots, verdict.deliveries) == ("reduce-scatter", 3, 12)
    assert verdict.trees == 6 * verdict.k


def test_time_is_per_gigabyte_of_all_parts() -> None:
    """Weights 2, 0, 1, 3, 0: a GPU of weight 2 roots a third of the data."""
    forest = made("weighted allgather")
    verdict = verify(forest)
    assert verdict.time_s_per_gb == forest.congestion / (6 * forest.k) == forest.time_s_per_gb


# --- groups ---------------------------------------------------------------------------------------


def test_relays_are_passed_through_but_never_part_of_a_tree() -> None:
    """A path may run through a relay; it can neither start nor end there."""
    cluster = load_topology("dgx_a100:boxes=2")
    net = group(cluster, ["b0.gpu0", "b0.gpu1", "b1.gpu0"])
    forest = generate(net).schedule
    assert verify(forest).optimal
    relays = {v for v in net.switches if net.nodes[v].is_gpu}
    assert relays & set(forest.routes.hop.tolist())
    routes = forest.routes
    last = int(routes.first_hop[1]) - 1
    hop = routes.hop.copy()
    hop[last] = net.position_of["b1.gpu7"]
    with pytest.raises(VerificationError, match=r"ends at b1\.gpu7; it must end at"):
        verify(replace(forest, routes=replace(routes, hop=hop)))
    everybody = replace(forest, topology=cluster, weights=(1,) * 16, optimum=None)
    with pytest.raises(VerificationError, match=r"array parent has shape \(\d+, 3\)"):
        verify(everybody)
    members = group(cluster, ["b0.gpu0", "b0.gpu2", "b1.gpu0"])
    with pytest.raises(VerificationError, match=r"(starts|ends) at b0\.gpu1|through b0\.gpu2"):
        verify(replace(forest, topology=members, optimum=None))


# --- allreduces -----------------------------------------------------------------------------------


@cache
def allreduce() -> Allreduce[Forest]:
    return generate(network(), collective="allreduce", weights=[1, 2, 0, 1, 1]).schedule


def swapped(both: Allreduce[Forest]) -> Allreduce[Forest]:
    return Allreduce(both.gather, both.reduce)


def gathered_twice(both: Allreduce[Forest]) -> Allreduce[Forest]:
    return Allreduce(both.gather, both.gather)


def of_other_parts(both: Allreduce[Forest]) -> Allreduce[Forest]:
    """The sums of equal parts, sent out as unequal ones."""
    return Allreduce(made("reduce-scatter"), both.gather)


def elsewhere(both: Allreduce[Forest]) -> Allreduce[Forest]:
    """The first phase runs on twice the bandwidth."""
    faster = network().scaled("*", 2)
    reduce = generate(faster, collective="reduce-scatter", weights=[1, 2, 0, 1, 1]).schedule
    assert isinstance(reduce, Forest)
    return Allreduce(reduce, both.gather)


def losing(both: Allreduce[Forest]) -> Allreduce[Forest]:
    return Allreduce(lost(both.reduce), both.gather)


def overloading(both: Allreduce[Forest]) -> Allreduce[Forest]:
    tighter = replace(both.gather, congestion=both.gather.congestion * Fraction(9, 10))
    return Allreduce(both.reduce, tighter)


ALLREDUCE_MUTATIONS: dict[Callable[[Allreduce[Forest]], Allreduce[Forest]], str] = {
    swapped: r"^phase reduce is a forest that does allgather; it must sum up",
    gathered_twice: r"^phase reduce is a forest that does allgather; it must sum up",
    of_other_parts: r"^\S+ gets the sums of 1 parts, but sends out 2; the weights of both",
    elsewhere: r"^the phases run on different topologies",
    losing: r"^phase reduce: tree 0, .* its contribution is lost",
    overloading: r"^phase gather: link \S+ -> \S+ is overloaded",
}


@pytest.mark.parametrize("mutation", ALLREDUCE_MUTATIONS, ids=lambda mutation: mutation.__name__)
def test_mutants_are_rejected(mutation: Callable[[Allreduce[Forest]], Allreduce[Forest]]) -> None:
    """Both phases are proved, and that the second sends out what the first has summed up."""
    assert verify(allreduce()).optimal
    with pytest.raises(VerificationError, match=ALLREDUCE_MUTATIONS[mutation]):
        verify(mutation(allreduce()))


def cut(*cycles: list[int]) -> Ints:
    """Return four rows of each cycle, each cut at a root of its own."""
    rows, roots = np.repeat(cycles, 4, axis=0), np.tile(np.arange(4), len(cycles))
    rows[np.arange(len(rows)), roots] = -1
    return rows


def are_cycles(rows: Ints) -> bool:
    return cycles_of(rows, rows.argmin(axis=1)) is not None


RING, BACK, PAIRS = [3, 0, 1, 2], [1, 2, 3, 0], [1, 0, 3, 2]
OF_THREE = [3, 0, 1, 1]  # 3 and 2 after 1, none after 2
WITHOUT_0 = [1, 2, 3, 1]  # from 0 into 1, 2 and 3, and never back


def test_rows_of_one_cycle_are_distinguished_from_near_cycles() -> None:
    """Around 0, 1, 2, 3, cut at the root of each row; two cycles of two; a row of another way."""
    rows = cut(RING)
    assert are_cycles(rows)
    assert are_cycles(rows[2:])
    assert not are_cycles(rows[:1])  # where the root would get it is not known
    assert not are_cycles(rows[[0, 0]])
    assert not are_cycles(rows[[3, 3]])
    for other in (PAIRS, OF_THREE, WITHOUT_0):
        assert not are_cycles(cut(other))
    for row in range(4):
        spoilt = rows.copy()
        rank = (row + 2) % 4
        spoilt[row, rank] = row if rows[row, rank] != row else (row + 1) % 4
        assert not are_cycles(spoilt)
        assert not are_cycles(np.concatenate([rows, spoilt]))


@pytest.mark.parametrize("check", [sums.check_summing, spanning.check_spanning])
def test_rings_cut_elsewhere_than_at_their_roots_are_refused(check: Callable[..., int]) -> None:
    """The second row is cut at 1, but is that of another root; or it is not cut at all."""
    rows, roots = cut(RING), np.array([0, 2, 2, 3])
    assert cycles_of(rows, np.arange(4)) is not None
    assert cycles_of(rows, roots) is None
    with pytest.raises(VerificationError, match="1: the root"):
        check(rows, roots, tree=str, node=str)
    rows[1, 1] = 0
    assert cycles_of(rows, np.arange(4)) is None
    with pytest.raises(VerificationError, match="1: the root"):
        check(rows, np.arange(4), tree=str, node=str)


def test_runs_of_rows_may_be_different_cycles() -> None:
    """Around 0, 1, 2, 3 and back; the second run must be a cycle too, and complete."""
    both = cut(RING, BACK)
    assert are_cycles(both)
    assert not are_cycles(both[:6])
    assert not are_cycles(both[[0, 1, 2, 3, 4, 4, 4, 4]])
    for other in (PAIRS, OF_THREE, WITHOUT_0):
        assert not are_cycles(cut(RING, other))
        assert not are_cycles(cut(other, RING))


def test_cycles_are_what_no_root_fails_to_reach() -> None:
    """All functions on four nodes without a fixed point, by following each from each root."""
    others = [[v for v in range(4) if v != u] for u in range(4)]
    found = []
    for onward in map(list, product(*others)):
        at, seen = 0, set()
        while at not in seen:
            seen.add(at)
            at = onward[at]
        assert are_cycles(cut(onward)) == (at == 0 and len(seen) == 4)
        found += [onward] * are_cycles(cut(onward))
    assert len(found) == 6  # 3!


@pytest.mark.parametrize(
    ("module", "slow", "check"),
    [(sums, "_follow", sums.check_summing), (spanning, "_check_cycles", spanning.check_spanning)],
)
def test_rings_are_not_followed(
    module: ModuleType, slow: str, check: Callable[..., int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their paths are long, and each pass would double the hops that are known."""
    monkeypatch.setattr(module, slow, None)
    roots = np.tile(np.arange(4), 2)
    assert check(cut(RING, BACK), roots, tree=str, node=str) == 3


def test_all_roots_of_a_ring_are_looked_at_together() -> None:
    """Whole rings in a block, or one larger than it by little; never more than four blocks."""
    assert rows_together(8, 2**10) == 128
    assert rows_together(24, 2**10) == 24
    assert rows_together(60, 2**10) == 60
    assert rows_together(100, 2**10) == 10
    assert rows_together(5000, 2**10) == 1


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter"])
def test_a_ring_has_the_height_of_its_paths_and_its_faults_are_found(collective: str) -> None:
    """Five GPUs one way round: four hops; a row that is spoilt is named as ever."""
    forest = generate(
        load_topology("ring:nodes=5,bidirectional=false"), collective=collective
    ).schedule
    assert isinstance(forest, Forest)
    assert verify(forest).depth == 4
    parents = forest.parent.copy()
    rank = int(np.flatnonzero(np.arange(5) != forest.root[3])[0])
    parents[3, rank] = rank
    with pytest.raises(VerificationError, match="tree 3"):
        verify(replace(forest, parent=parents))


@pytest.mark.parametrize("entries", [1, 8, 2**18])
def test_the_wrong_sum_is_named_in_any_block(entries: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three reductions of four nodes; the way of the chain has 3 hops; faults in each of them."""
    monkeypatch.setattr(sums, "_BLOCK_ENTRIES", entries)

    def depth(*rows: list[int]) -> int:
        root = np.zeros(len(rows), dtype=np.int32)
        return check_summing(np.array(rows), root, tree="tree {}".format, node="v{}".format)

    for at in range(3):
        rows = [[-1, 0, 0, 0]] * 3
        assert depth(*rows) == 1
        rows[at] = [-1, 0, 1, 2]
        assert depth(*rows) == 3
        for fault, message in (
            ([-1, 0, -1, 2], f"tree {at}: v2 sends its sum to no GPU"),
            ([3, 0, 1, 2], f"tree {at}: the root sends its sum on to v3"),
            ([-1, 2, 1, 0], f"tree {at}: v. -> v. -> v. is a cycle"),
        ):
            rows[at] = fault
            with pytest.raises(VerificationError, match=message):
                depth(*rows)
