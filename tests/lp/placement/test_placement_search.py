"""The placement with the least time: known answers, complete against local search."""

import random
from dataclasses import replace
from fractions import Fraction

import pytest

from forestcoll.errors import InvalidParameterError, UnsupportedError
from forestcoll.topology import Topology, TopologyBuilder, load_topology
from forestcoll.topology.shared_capacity import SharedCapacity
from lp.placement.cut_times import CutTimes
from lp.placement.parallel_kinds import Kind, grid_groups
from lp.placement.placement_search import (
    Placement,
    _axes_in_any_order,
    _useful_pairs,
    best_placement,
    distinct_placements,
    improved,
    starts,
)


def two_boxes(gpus: int = 4, *, shuffled: bool = False) -> Topology:
    """Two boxes of 10 GB/s a GPU, with 1 GB/s a GPU between them; names may alternate."""
    builder = TopologyBuilder()
    hub = builder.switch("hub")
    inside = [builder.switch(f"switch{box}") for box in (0, 1)]
    order = [(box, i) for box in (0, 1) for i in range(gpus)]
    for box, i in sorted(order, key=lambda pair: pair[1]) if shuffled else order:
        gpu = builder.gpu(f"b{box}.g{i}", box, i)
        builder.link(gpu, inside[box], 10)
        builder.link(gpu, hub, 1)
    return builder.build("two-boxes")


def sets_of(found: Placement, kind: int = 0) -> set[frozenset[str]]:
    return {frozenset(group) for group in found.groups[kind]}


BOXES = {frozenset(f"b{box}.g{i}" for i in range(4)) for box in (0, 1)}


@pytest.mark.first_rows(3)
@pytest.mark.parametrize("exhaustive", [True, False])
@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "allreduce", "all-to-all"])
def test_groups_move_into_boxes(collective: str, exhaustive: bool) -> None:
    network = two_boxes(shuffled=True)
    kind = Kind("tensor", 4, collective, 4_000_000)
    found = best_placement(network, [kind], exhaustive=exhaustive)
    assert sets_of(found) == BOXES
    assert found.gain > 1
    assert found.least_us == pytest.approx(float(found.best.time_us("sum")), rel=1e-6)
    assert found.is_best or not exhaustive


@pytest.mark.slow
def test_the_kind_with_more_data_is_inside_the_boxes() -> None:
    """Its groups leave the other kind across the boxes, whichever is named first."""
    heavy, light = Kind("h", 4, "allreduce", 64_000_000), Kind("l", 2, "allreduce", 1_000_000)
    for kinds in ([heavy, light], [light, heavy]):
        found = best_placement(two_boxes(), kinds)
        assert sets_of(found, kinds.index(heavy)) == BOXES


def test_expert_groups_run_along_rails() -> None:
    """Rails are apart: groups of GPUs with one index need no link of the boxes."""
    rails = load_topology("rail_optimized:boxes=4,gpus_per_box=4")
    tensor, expert = Kind("t", 4, "allreduce", 64_000_000), Kind("e", 4, "all-to-all", 16_000_000)
    found = best_placement(rails, [expert, tensor])
    place = {rails.nodes[i].name: rails.nodes[i] for i in rails.compute}
    assert all(len({place[name].index for name in group}) == 1 for group in found.groups[0])
    assert all(len({place[name].box for name in group}) == 1 for group in found.groups[1])
    assert found.gain > 1


def random_network(seed: int) -> Topology:
    rng = random.Random(seed)
    builder = TopologyBuilder()
    gpus = [builder.gpu(f"g{i}") for i in range(6)]
    ring = rng.sample(gpus, 6)
    pairs = {frozenset(pair) for pair in zip(ring, ring[1:] + ring[:1], strict=True)}
    pairs |= {frozenset(rng.sample(gpus, 2)) for _ in range(4)}
    for pair in sorted(pairs, key=sorted):
        builder.link(*sorted(pair), rng.randint(1, 9))
    return builder.build(f"random{seed}")


@pytest.mark.first_rows(2)
@pytest.mark.parametrize("seed", range(8))
def test_local_search_is_as_good_as_the_complete_one_on_random_networks(seed: int) -> None:
    """Within a tenth: the local search knows only the bound by cuts."""
    network = random_network(seed)
    collective = ("allgather", "all-to-all")[seed % 2]
    kinds = [Kind("k", 2, collective, 1_000_000)]
    complete = best_placement(network, kinds)
    local = best_placement(network, kinds, exhaustive=False)
    best, other = complete.best.time_us("sum"), local.best.time_us("sum")
    assert best <= other <= best * Fraction(11, 10)
    assert complete.least_us == pytest.approx(float(best), rel=1e-6)
    assert other <= local.default.time_us("sum")


@pytest.mark.parametrize("spec", ["complete:nodes=6", "fat_tree:leaves=1,hosts=6,spines=1"])
def test_symmetric_networks_give_no_gain(spec: str) -> None:
    """All placements are one orbit."""
    network = load_topology(spec)
    kinds = [Kind("a", 2, "allreduce", 6000), Kind("b", 3, "all-to-all", 6000)]
    found = best_placement(network, kinds)
    assert (found.gain, found.looked_at) == (1, 1)
    assert len(list(distinct_placements(network, grid_groups(kinds, 6)))) == 1


def test_halves_of_a_ring_of_eight_up_to_symmetry() -> None:
    """Necklaces of 4 black and 4 white beads that may be turned over and exchanged: 7 of 35."""
    ring = load_topology("ring:nodes=8")
    kinds = [Kind("a", 4, "allgather", 8)]
    assert len(list(distinct_placements(ring, grid_groups(kinds, 8)))) == 7


def test_the_slowest_kind_may_be_the_objective() -> None:
    kinds = [Kind("a", 2, "allreduce", 6_000_000), Kind("b", 4, "all-to-all", 6_000_000)]
    found = best_placement(two_boxes(shuffled=True), kinds, objective="slowest")
    times = [one.time_us for one in found.best.kinds]
    assert found.best.time_us("slowest") == max(times)
    assert found.best.time_us("sum") == sum(times)


def test_swaps_are_limited_and_deterministic() -> None:
    network = two_boxes(8, shuffled=True)
    bounds = CutTimes(network, [Kind("t", 8, "allgather", 8000)])
    far = float("inf")
    assert improved(bounds, range(16), "sum", 5, far)[1] == 5
    end, tried = improved(bounds, range(16), "sum", 10**6, far)
    assert (end, tried) == improved(bounds, range(16), "sum", 10**6, far)
    assert tried < 10**6
    assert len({gpu % 2 for gpu in end[:8]}) == 1
    assert improved(bounds, range(16), "sum", 10**6, 0.0) == (tuple(range(16)), 0)


def test_starts_are_permutations_and_differ() -> None:
    network = load_topology("dgx_a100:boxes=2")
    found = list(starts(network, [Kind("t", 8, "allgather", 8)]))
    assert found[0] == tuple(range(16))
    assert len(set(found)) == len(found) > 1
    assert all(sorted(start) == list(range(16)) for start in found)


def test_invalid_objectives_limits_and_networks_are_refused() -> None:
    kinds = [Kind("t", 2, "allgather", 8)]
    network = two_boxes()
    with pytest.raises(InvalidParameterError, match="sum or slowest"):
        best_placement(network, kinds, objective="mean")
    with pytest.raises(InvalidParameterError, match="seconds must be positive"):
        best_placement(network, kinds, seconds=0)
    with pytest.raises(InvalidParameterError, match="up to 8 GPUs"):
        best_placement(load_topology("dgx_a100:boxes=2"), kinds, exhaustive=True)
    with pytest.raises(InvalidParameterError, match="all kinds is 6; it must divide 16 GPUs"):
        best_placement("dgx_a100:boxes=2", [*kinds, Kind("d", 3, "allgather", 8)])
    with pytest.raises(UnsupportedError, match="shared capacity"):
        best_placement(replace(network, shared=(SharedCapacity("bus", ((0, 3),), 1),)), kinds)


def test_pairs_that_some_kind_separates_are_useful() -> None:
    """In a grid of 2 x 2, ranks 0 and 1 share a group of the first kind, but not of the second."""
    kinds = [Kind("a", 2, "allgather", 8), Kind("b", 2, "allgather", 8)]
    bounds = CutTimes(load_topology("ring:nodes=4"), kinds)
    assert _useful_pairs(bounds, 4) == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    alone = CutTimes(load_topology("ring:nodes=4"), kinds[:1])
    assert _useful_pairs(alone, 4) == [(0, 2), (0, 3), (1, 2), (1, 3)]


def test_every_kind_is_innermost_in_some_walk_of_the_grid() -> None:
    """Groups of 2 and of 3: in some order, consecutive ranks are the groups of each kind."""
    kinds = [Kind("a", 2, "allgather", 8), Kind("b", 3, "allgather", 8)]
    walks = list(_axes_in_any_order(kinds, 12))
    for kind, groups in zip(kinds, grid_groups(kinds, 12), strict=True):
        wanted = {frozenset(row) for row in groups.tolist()}
        made = [{frozenset(row) for row in walk.reshape(-1, kind.size).tolist()} for walk in walks]
        assert wanted in made
