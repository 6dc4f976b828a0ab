"""Heights and numbers of trees, the bounds beside them, and the budgets of the families."""

from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from forestcoll import Allreduce, Forest, Topology, generate, load_topology, verify
from forestcoll.in_network.pruning import multicast
from forestcoll.k_scan import BestK, Choice
from forestcoll.schedule import MulticastForest
from forestcoll.topology.model import Link, Node, NodeKind
from forestcoll.tree_latency import Latency, _levels, latency, least_latency
from tests.command_line import assert_refused, document, invoke
from tests.fuzz.families import build
from tests.in_network.multicast_switches import marked
from tests.strategies import topologies

GPU, SWITCH = NodeKind.COMPUTE, NodeKind.SWITCH


def network(nodes: str, *links: tuple[int, int, int], both_ways: bool = True) -> Topology:
    """Nodes by letter, G for a GPU; links (one end, other end, GB/s)."""
    made = [Node(f"n{i}", GPU if kind == "G" else SWITCH) for i, kind in enumerate(nodes)]
    ends = [Link(a, b, Fraction(width)) for a, b, width in links]
    if both_ways:
        ends += [Link(link.head, link.tail, link.bandwidth_gb_s) for link in ends]
    return Topology("by hand", tuple(made), tuple(ends))


def nothing_is_below_its_bound(found: Latency) -> None:
    least = found.at_least
    assert found.depth >= least.depth
    assert found.average_depth >= least.average_depth
    assert found.physical_hops is not None
    assert found.physical_hops >= least.physical_hops
    assert found.trees >= found.distinct_trees >= least.distinct_trees
    assert found.depth >= found.average_depth


def by_walking(forest: Forest) -> tuple[int, Fraction, int]:
    """Heights and links once more, tree by tree and edge by edge."""
    paths = forest.routes.paths()
    highest, farthest, of_all = 0, 0, 0
    for tree in forest.trees():
        hops, links = {tree.root: 0}, {tree.root: 0}
        for parent, child in tree.edges:
            ends = (child, parent) if forest.reduction else (parent, child)
            hops[child] = hops[parent] + 1
            links[child] = links[parent] + max(len(path.nodes) - 1 for path in paths[ends])
        of_all += tree.multiplicity * max(hops.values())
        highest, farthest = max(highest, *hops.values()), max(farthest, *links.values())
    return highest, Fraction(of_all, forest.num_trees), farthest


def distances_by_paths(topology: Topology) -> tuple[list[int], list[int]]:
    """GPU hops and links to the farthest GPU, of each rank, by relaxing all pairs."""
    size, gpus = len(topology.nodes), topology.compute
    found = []
    for price in (lambda v: int(v in gpus), lambda _: 1):
        away = [[0 if u == v else 10**6 for v in range(size)] for u in range(size)]
        for link in topology.links:
            away[link.tail][link.head] = price(link.head)
        for over, u, v in product(range(size), repeat=3):
            away[u][v] = min(away[u][v], away[u][over] + away[over][v])
        found.append([max(away[u][v] for v in gpus) for u in gpus])
    return found[0], found[1]


@given(topology=topologies())
def test_figures_are_true_and_bounded_on_random_networks(topology: Topology) -> None:
    """Explicit and factored; the distances in the bounds are those of all pairs."""
    forest = generate(topology).schedule
    found = latency(forest)
    assert (found.depth, found.average_depth, found.physical_hops) == by_walking(forest)
    nothing_is_below_its_bound(found)
    assert latency(generate(topology, factored=True).schedule) == found
    hops, links = distances_by_paths(topology)
    assert found.at_least.average_depth == Fraction(sum(hops), len(hops))
    assert found.at_least.depth >= max(hops)
    assert found.at_least.physical_hops >= max(links)


@settings(deadline=None, max_examples=20)  # programs may run
@given(topology=topologies(("bidirectional",)))
def test_bounds_hold_of_every_collective(topology: Topology) -> None:
    """A reduction is bounded on the network reversed; an allreduce adds up."""
    both = generate(topology, collective="allreduce").schedule
    nothing_is_below_its_bound(latency(both))
    assert latency(both).depth == sum(latency(part).depth for part in both.phases)
    assert latency(both.reduce).physical_hops == by_walking(both.reduce)[2]
    for collective in ("broadcast", "reduce"):
        single = generate(topology, collective=collective, root=0).schedule
        nothing_is_below_its_bound(latency(single))
        assert single.optimum is not None
        for k in (2, 3):
            more = generate(topology, collective=collective, root=0, k=k * single.k).schedule
            assert more.time_s_per_gb == single.time_s_per_gb
            nothing_is_below_its_bound(latency(more))


def by_walks(forest: MulticastForest) -> tuple[int, Fraction, int]:
    """Heights and links of physical trees, walk by walk."""
    highest, farthest, of_all = 0, 0, 0
    for tree in forest.trees():
        root = forest.topology.compute[tree.root]
        hops, links = {root: 0}, {root: 0}
        for walk in tree.walks:
            near, far = (walk[-1], walk[0]) if forest.reduction else (walk[0], walk[-1])
            hops[far] = hops[near] + 1
            links[far] = links[near] + len(walk) - 1
        of_all += tree.multiplicity * max(hops.values())
        highest, farthest = max(highest, *hops.values()), max(farthest, *links.values())
    return highest, Fraction(of_all, forest.num_trees), farthest


@settings(deadline=None, max_examples=20)  # programs may run
@given(topology=topologies(("bidirectional",)))
def test_multicast_trees_are_measured_and_bounded(topology: Topology) -> None:
    """Every switch multicasts; hops lead from one node that copies to the next."""
    copying = marked(topology, {node.name for node in topology.nodes if node.is_switch})
    both = multicast(generate(copying, collective="allreduce").schedule)
    for forest in both.phases:
        found = latency(forest)
        assert (found.depth, found.average_depth, found.physical_hops) == by_walks(forest)
        assert (found.trees, found.distinct_trees) == (forest.num_trees, forest.num_batches)
        assert latency(forest, physical=False) == replace(found, physical_hops=None)
        nothing_is_below_its_bound(found)
    nothing_is_below_its_bound(latency(both))


def test_a_multicast_switch_makes_a_star_two_links_deep() -> None:
    """A broadcast at a switch is a chain of three hops; where it copies, one hop in and one out.

    A GPU could pass the switch by on its way to another: one hop is the bound.
    """
    star = network("GGGGS", *((v, 4, 1) for v in range(4)))
    chain = generate(marked(star, {"n4"}), collective="broadcast", root=0).schedule
    found = latency(multicast(chain))
    assert (found.depth, found.physical_hops, found.average_depth) == (2, 2, 2)
    assert (found.at_least.depth, found.at_least.physical_hops) == (1, 2)


def test_a_reduction_is_bounded_in_its_own_direction() -> None:
    """Links a -> b -> c -> a and a -> c: a reaches both in one hop, but b reaches a in two."""
    one_way = network("GGG", (0, 1, 1), (1, 2, 1), (2, 0, 2), (0, 2, 1), both_ways=False)
    out = generate(one_way, collective="broadcast", root=0).schedule
    back = generate(one_way, collective="reduce", root=0).schedule
    assert least_latency(out).average_depth == 1
    assert least_latency(back).average_depth == 2
    assert least_latency(back).physical_hops == 2


def test_a_root_that_can_send_once_makes_a_chain() -> None:
    """Four GPUs of 1 GB/s at a switch: a broadcast has k = 1 and no GPU sends twice.

    X(d) <= 1 + X(d - 1), and the tree has three GPUs to reach: 3 hops, 6 links. With k = 3 there
    are 9 pairs: X(1) <= 3, and each of these may send to the 2 others: X(2) <= 3 + 6.
    """
    star = network("GGGGS", *((v, 4, 1) for v in range(4)))
    chain = latency(generate(star, collective="broadcast", root=0).schedule)
    assert (chain.trees, chain.depth, chain.physical_hops) == (1, 3, 6)
    assert (chain.at_least.depth, chain.at_least.physical_hops) == (3, 6)
    three = generate(star, collective="broadcast", root=0, k=3).schedule
    assert three.optimum is not None
    assert (latency(three).depth, latency(three).at_least.depth) == (2, 2)


@pytest.mark.parametrize(("k", "depth"), [(1, 7), (2, 3), (3, 3), (7, 2), (14, 2)])
def test_the_capacity_bound_by_hand(k: int, depth: int) -> None:
    """Eight GPUs at a switch, broadcast: X(d) <= k + F(X(d - 1)) must reach 7 k.

    With k = 2 the pairs are at most 2, 6, 14 of 14; with k = 3 they are 3, 12, 21 of 21, as the
    third step is no longer limited. From k = 7 on every GPU is sent one seventh, and sends it on.
    """
    star = network("GGGGGGGGS", *((v, 8, 1) for v in range(8)))
    forest = generate(star, collective="broadcast", root=0, k=k).schedule
    assert latency(forest).at_least.depth == depth
    nothing_is_below_its_bound(latency(forest))


def test_no_pair_feeds_more_than_the_others_beyond_the_cut() -> None:
    """Two trees come in, three GPUs send 3, 1 and 1: one pair sends to 2, so X is 2, 5, 6 of 6."""
    assert _levels(2, [3, 1, 1], 2) == 3


def test_a_bottleneck_cut_rules_height_one_out() -> None:
    """Two pairs of GPUs, 9 GB/s inside and 1 GB/s from switch to switch.

    Two trees must leave the pair, U = 2, and its link carries just these 2 of the 2 x 2 sends that
    trees of depth 1 would take. No GPU alone is short: it may send 18 times.
    """
    pairs = network("GGGGSS", *((v, 4 + v // 2, 9) for v in range(4)), (4, 5, 1))
    found = latency(generate(pairs).schedule)
    assert (found.at_least.average_depth, found.at_least.depth) == (1, 2)
    assert found.depth == 2
    unclaimed = replace(generate(pairs).schedule, optimum=None)
    assert least_latency(unclaimed).depth == 1


def test_boxes_bound_the_depth_if_the_bottleneck_does_not() -> None:
    """H100 is limited by the ingress of single GPUs; that trees cross boxes once shows in boxes."""
    forest = generate(load_topology("dgx_h100:boxes=4")).schedule
    assert forest.optimum is not None
    assert least_latency(forest).depth == 2
    unboxed = replace(forest.topology, nodes=[replace(n, box=None) for n in forest.topology.nodes])
    assert least_latency(replace(forest, topology=unboxed)).depth == 1


@pytest.mark.parametrize("spec", ["dgx_a100:boxes=4", "dgx_a100:boxes=16", "torus:dims=4x4x4"])
def test_some_forests_attain_their_bounds(spec: str) -> None:
    found = latency(generate(load_topology(spec)).schedule)
    least = found.at_least
    assert (found.depth, found.physical_hops) == (least.depth, least.physical_hops)


def test_an_empty_schedule_has_no_height() -> None:
    empty = latency(generate(Topology("one", (Node("g", GPU),), ())).schedule)
    assert (empty.depth, empty.physical_hops, empty.trees, empty.average_depth) == (0, 0, 0, 0)
    assert empty.at_least.depth == empty.at_least.distinct_trees == 0


def test_an_edge_counts_with_its_longest_path_and_trees_with_multiplicity() -> None:
    """Three trees of depth 1 and one of depth 2 have 5/4 on average."""
    forest = generate(network("GGG", (0, 1, 1), (1, 2, 1), (2, 0, 1))).schedule
    parent = np.array([[-1, 0, 0], [-1, 0, 1]], dtype=np.int32)
    root, multiplicity = np.zeros(2, np.int32), np.array([3, 1])
    made = replace(forest, root=root, multiplicity=multiplicity, parent=parent, weights=(1, 0, 0))
    assert latency(made).average_depth == Fraction(5, 4)
    assert (latency(made).trees, latency(made).distinct_trees) == (4, 2)


def _side(dims: str) -> int:
    """Diameter of a torus and 2 more."""
    return sum(int(length) // 2 for length in dims.split("x")) + 2


BUDGETS = {
    **{f"dgx_{kind}:boxes={boxes}": 3 for kind in ("a100", "h100") for boxes in (4, 5, 8, 13, 16)},
    "mi250:boxes=8": 6,
    "mi250:boxes=16": 6,
    **{f"torus:dims={dims}": _side(dims) for dims in ("8x8", "5x7", "4x4x4", "3x4x5")},
}
"""Greatest depth in GPU hops with the optimum's k."""


@pytest.mark.parametrize("spec", BUDGETS)
@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter"])
def test_trees_are_within_the_budgets(spec: str, collective: str) -> None:
    """And an allreduce is these two: its phases are the same forests."""
    forest = generate(load_topology(spec), collective=collective).schedule
    assert forest.optimum is not None
    assert forest.k == forest.optimum.k
    assert latency(forest).depth <= BUDGETS[spec]


@pytest.mark.parametrize("spec", ["dgx_a100:boxes=8", "mi250:boxes=16", "torus:dims=8x8"])
def test_both_phases_of_an_allreduce_are_within_the_budgets(spec: str) -> None:
    both = generate(load_topology(spec), collective="allreduce").schedule
    assert isinstance(both, Allreduce)
    assert latency(both).depth <= 2 * BUDGETS[spec]
    assert all(latency(part).depth <= BUDGETS[spec] for part in both.phases)


@pytest.mark.first_rows(2)
@pytest.mark.parametrize(
    ("spec", "most"),
    [("dgx_a100:boxes=128", 40), ("dgx_h100:boxes=32", 16), ("mi250:boxes=64", 30)],
)
@pytest.mark.parametrize("collective", ["broadcast", "reduce"])
def test_no_broadcast_tree_gets_leftovers(spec: str, most: int, collective: str) -> None:
    """Packed greedily the last of eight trees is a chain of boxes: 243 hops at 1024 A100 GPUs."""
    forest = generate(load_topology(spec), collective=collective, root=0, factored=True).schedule
    assert forest.optimum is not None
    assert latency(forest, physical=False).depth <= most


@pytest.mark.parametrize(
    ("family", "seed", "most"), [("dragonfly", 1000007, 25), ("pods", 1000029, 25)]
)
def test_single_trees_use_narrow_links_last(family: str, seed: int, most: int) -> None:
    """Flat networks of the fuzzer, where trees as low as can be came to 40 and 34 hops at last."""
    found = latency(generate(build(family, seed)).schedule)
    nothing_is_below_its_bound(found)
    assert found.depth <= most


@pytest.mark.parametrize(
    ("seed", "most"), [(9, 3), (30, 3), pytest.param(109, 3, marks=pytest.mark.slow), (1000026, 4)]
)
def test_dragonflies_of_single_routers_are_as_low_as_complete_graphs(seed: int, most: int) -> None:
    """Each router joined to all others: chains of up to 89 hops before transit was spread."""
    forest = generate(build("dragonfly", seed)).schedule
    assert verify(forest).optimal
    assert latency(forest, physical=False).depth <= most


@pytest.mark.parametrize(
    ("spec", "most"),
    [("mi250:boxes=1", 8), ("mi250:boxes=2", 11), ("mi250:boxes=3", 11), ("mi250:boxes=4", 7)],
)
def test_few_mi250_boxes_have_low_trees(spec: str, most: int) -> None:
    """They were 17 and 22 hops tall at 2 and 3 boxes, before trees that are too tall grew anew."""
    forest = generate(load_topology(spec)).schedule
    assert verify(forest).optimal
    assert latency(forest, physical=False).depth <= most


def test_the_command_line_reports_figures_and_bounds(tmp_path: Path) -> None:
    """For people in a line, for machines in a mapping; links only where trees are written out."""
    spec, path = "dgx_a100:boxes=2", tmp_path / "schedule.npz"
    forest = generate(load_topology(spec)).schedule
    found = latency(forest)
    report = document("generate", spec, "-o", path)
    assert (report["depth"], report["physical_hops"]) == (found.depth, found.physical_hops)
    assert report["average_depth"]["exact"] == str(found.average_depth)
    assert report["at_least"]["depth"] == found.at_least.depth
    assert report["at_least"]["physical_hops"] == found.at_least.physical_hops
    assert report["at_least"]["distinct_trees"] == 16
    text = invoke("generate", spec, "-o", path).stdout
    assert (
        "\nat least        depth 2, average depth 1, physical hops 4, distinct trees 16\n" in text
    )
    factored = document("generate", spec, "-o", path, "--factored", "--exact-depth")
    assert factored["physical_hops"] is None
    assert factored["depth"] == found.depth
    both = invoke("generate", spec, "--collective", "allreduce", "-o", path).stdout
    assert both.count("at least (depth 2, average depth 1, physical hops 4") == 2
    copied = document("generate", "dgx_h100:boxes=2,nvls=true", "--multicast", "-o", path)
    assert (copied["depth"], copied["physical_hops"], copied["distinct_trees"]) == (3, 4, 32)
    assert copied["at_least"]["depth"] == 1


def test_the_lowest_of_equally_fast_forests_can_be_chosen(tmp_path: Path) -> None:
    """A broadcast at a switch: one tree is a chain of 7 hops, four are as fast and lower."""
    network = "fat_tree:leaves=2,hosts=4,spines=1"
    options = ["generate", network, "--collective", "broadcast", "--root", 0, "--best-k", 4]
    path = tmp_path / "low.npz"
    high, low = document(*options, "-o", path), document(*options, "--low", "-o", path)
    assert (high["k"], high["depth"]) == (1, 7)
    assert low["depth"] == min(choice["depth"] for choice in low["tried"]) < 7
    assert low["algbw_gb_s"] == high["algbw_gb_s"]
    assert not any(c["k"] < low["k"] and c["depth"] <= low["depth"] for c in low["tried"])
    assert_refused(
        "--low chooses among numbers of trees; give --best-k too",
        "generate",
        network,
        "--low",
        "-o",
        tmp_path / "never.npz",
    )


def test_the_lowest_choice_is_as_fast_as_the_fastest() -> None:
    """Lower trees at a lower rate are not taken; of equals the smallest k."""
    rows = [(9, 5), (10, 7), (10, 6), (10, 6)]
    choices = tuple(
        Choice(k, Fraction(rate), 1, depth, False) for k, (rate, depth) in enumerate(rows, 1)
    )
    assert BestK(choices).lowest.k == 3
