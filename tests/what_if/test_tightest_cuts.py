"""The tightest cuts, one after the other, against all cuts of small networks."""

import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from forestcoll import optimum
from forestcoll.core.violation import violated_cut_over
from forestcoll.errors import CapacityOverflowError, InvalidParameterError
from forestcoll.problem.cuts import Cut
from forestcoll.topology import Topology, load_topology
from forestcoll.topology.model import Link, Node, NodeKind
from forestcoll.what_if.symmetric_parts import symmetries
from forestcoll.what_if.tightest_cuts import TightCut, tightest_cuts
from tests.hand_networks import network_of
from tests.random_topologies import KINDS, random_topology, sized_topology


def all_cuts(topology: Topology, weights: tuple[int, ...], reduction: bool) -> Iterator[Cut]:
    for chosen in product((False, True), repeat=len(topology.nodes)):
        nodes = tuple(v for v, inside in enumerate(chosen) if inside)
        gpus = [v for v in nodes if v in topology.rank_of]
        if 0 < len(gpus) < topology.num_compute and any(weights[topology.rank_of[v]] for v in gpus):
            yield Cut(topology, nodes, weights, reduction)


def copies(topology: Topology, found: TightCut, weights: tuple[int, ...]) -> set[frozenset[int]]:
    moves = symmetries(topology, weights).generators
    known = {frozenset(found.cut.nodes)}
    waiting = list(known)
    while waiting:
        one = waiting.pop()
        for move in moves:
            image = frozenset(int(move[v]) for v in one)
            if image not in known:
                known.add(image)
                waiting.append(image)
    return known


@pytest.mark.parametrize("seed", range(24))
def test_each_cut_is_the_tightest_that_splits_the_remaining_sets(seed: int) -> None:
    topology = random_topology(seed, KINDS[seed % len(KINDS)])
    reduction = seed % 4 == 3 and KINDS[seed % len(KINDS)] != "unbalanced"
    collective = "reduce-scatter" if reduction else "allgather"
    weights = tuple(1 + (seed % 5 == 2) * (r % 2) for r in range(topology.num_compute))
    check_against_all_cuts(topology, collective, weights)


@pytest.mark.parametrize("seed", range(4))
def test_cuts_of_a_reduction_count_their_ingress(seed: int) -> None:
    """Every GPU receives another bandwidth than it sends, so both directions have other cuts."""
    topology = sized_topology("unbalanced", 5, 0, random.Random(seed).randint)
    weights = (1,) * topology.num_compute
    both = [check_against_all_cuts(topology, c, weights) for c in ("allgather", "reduce-scatter")]
    assert both[0] != both[1]


def check_against_all_cuts(
    topology: Topology, collective: str, weights: tuple[int, ...]
) -> list[Fraction]:
    """Check nine cuts against all of the network; return their inverse rates."""
    reduction = collective == "reduce-scatter"
    listed = tightest_cuts(topology, collective, count=9, weights=weights)
    assert listed[0].cut.inverse_rate == (
        optimum(topology, weights=weights, reduction=reduction).inverse_rate
    )
    groups = [set(topology.compute)]
    every = list(all_cuts(topology, weights, reduction))
    for found in listed:
        splitting = [
            cut.inverse_rate
            for cut in every
            if any(group & set(cut.nodes) and group - set(cut.nodes) for group in groups)
        ]
        assert found.cut.inverse_rate == max(splitting)
        images = copies(topology, found, weights)
        assert found.copies == len(images)
        for image in images:
            groups = [part for group in groups for part in (group & image, group - image) if part]
    assert len(listed) == 9 or all(len(group) == 1 for group in groups)
    return [found.cut.inverse_rate for found in listed]


def ring_of_pairs(pairs: int) -> Topology:
    """Two GPUs a box, ten times as fast as the links to both neighbours in a ring of boxes."""
    nodes = [Node(f"b{i}.gpu{j}", NodeKind.COMPUTE, i) for i in range(pairs) for j in range(2)]
    ends = [(2 * i, 2 * i + 1, 10) for i in range(pairs)]
    ends += [(2 * i + j, (2 * i + 2 + j) % len(nodes), 1) for i in range(pairs) for j in range(2)]
    links = [Link(*way, Fraction(speed)) for a, b, speed in ends for way in ((a, b), (b, a))]
    return Topology("ring of pairs", tuple(nodes), tuple(links))


@pytest.mark.parametrize(
    "topology",
    [load_topology("dgx_a100:boxes=6"), load_topology("mi250:boxes=4"), ring_of_pairs(12)],
    ids=["dgx_a100", "mi250", "ring of pairs"],
)
def test_only_one_of_symmetric_groups_is_searched(
    topology: Topology, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bottleneck separates the boxes, all alike: all searches are for GPUs of a single one.

    In a ring, one symmetry alone carries a box to few others; together they reach all.
    """
    targets: set[int] = set()

    def noted(*problem: Any, **options: Any) -> Any:
        targets.update(np.flatnonzero(problem[4]).tolist())
        return violated_cut_over(*problem, **options)

    monkeypatch.setattr("forestcoll.what_if.tightest_cuts.violated_cut_over", noted)
    tightest_cuts(topology, count=2)
    assert len({topology.nodes[gpu].box for gpu in targets}) == 1


def test_behind_the_cut_of_a_box_stands_that_of_a_gpu() -> None:
    """24 shards into a box over 8 NICs; 31 into a GPU at 325 GB/s; then all are separated."""
    box, gpu = tightest_cuts(load_topology("dgx_a100:boxes=4"), count=5)
    assert (box.copies, box.cut.inverse_rate) == (4, Fraction(24, 200))
    assert (gpu.copies, gpu.cut.inverse_rate) == (32, Fraction(31, 325))


def test_cuts_of_a_broadcast_hold_its_root() -> None:
    topology = load_topology("dgx_a100:boxes=2").scaled("b1.gpu3", "1/10")
    found = tightest_cuts(topology, "broadcast", root="b0.gpu0", count=9)
    root = topology.position_of["b0.gpu0"]
    assert all(root in one.cut.nodes for one in found)
    assert [one.cut.exit_gb_s for one in found] == sorted(one.cut.exit_gb_s for one in found)
    assert found[0].cut.exit_gb_s == Fraction(325, 10)


def test_too_many_copies_to_count_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cuts that follow are then right still, if found one GPU at a time."""
    boxes = load_topology("dgx_a100:boxes=4")
    assert [one.copies for one in tightest_cuts(boxes)] == [4, 32]
    monkeypatch.setattr("forestcoll.what_if.tightest_cuts._MOST_COPIES", 2)
    first, second, third = tightest_cuts(boxes)
    assert (first.copies, second.copies, third.copies) == (None, None, None)
    assert first.cut.inverse_rate == second.cut.inverse_rate == Fraction(24, 200)
    assert third.cut.inverse_rate == Fraction(31, 325)


def test_invalid_counts_and_overflows_are_refused() -> None:
    ring = load_topology("ring:nodes=4")
    assert len(tightest_cuts(ring, count=1)) == 1
    with pytest.raises(InvalidParameterError, match="count is 0"):
        tightest_cuts(ring, count=0)
    with pytest.raises(CapacityOverflowError, match="ask for fewer cuts"):
        tightest_cuts(ring.scaled("gpu0 - gpu1", Fraction(2**57 + 1, 2**56)), count=3)


def test_progress_is_reported_and_order_does_not_matter() -> None:
    reported: list[tuple[int, int]] = []
    topology = load_topology("mi250:boxes=2")
    cuts = tightest_cuts(topology, count=3, progress=lambda *at: reported.append(at))
    assert reported == [(1, 3), (2, 3), (3, 3)]
    order = np.random.default_rng(1).permutation(len(topology.nodes)).tolist()
    again = tightest_cuts(topology.relabelled(order), count=3, threads=2)
    assert [one.cut.inverse_rate for one in again] == [one.cut.inverse_rate for one in cuts]


def test_links_that_lead_one_way_only() -> None:
    """Nothing leaves b and c without a, which have no data; a and b bind, and then what a sends."""
    line = network_of("a b c", "a > b: 3, b > c: 2", "one way")
    found = tightest_cuts(line, collective="broadcast", root="a", count=5)
    assert [one.cut.algbw_gb_s for one in found] == [2, 3]
    assert found[0].cut.nodes == (0, 1)
