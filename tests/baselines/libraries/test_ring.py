"""Rings as NCCL lays them, by hand."""

from collections import Counter
from fractions import Fraction
from typing import Any

import pytest

import forestcoll
from baselines.libraries import ring
from baselines.libraries.ring import (
    Laid,
    _is_fastest,
    _width_inside,
    generate,
    lay_rings,
    time_s_per_gb,
)
from baselines.networks.boxes import gpus_by_box
from baselines.networks.ring_attachment import AttachmentLayout
from baselines.networks.ring_layout import hops
from forestcoll.errors import InvalidParameterError, UnsupportedError
from forestcoll.schedule import Forest, cost, lockstep, verify
from forestcoll.topology import load_topology
from tests.baselines.dead_nics import without
from tests.hand_networks import network_of
from tests.random_topologies import KINDS, random_topology, rounds


def trees_into(forest: Forest, box: int) -> Fraction:
    """The part of the data that enters a box, over all links from outside it."""
    nodes = forest.topology.nodes
    crossings = sum(
        path.multiplicity
        for paths in forest.routes.paths().values()
        for path in paths
        for tail, head in zip(path.nodes, path.nodes[1:], strict=False)
        if nodes[head].box == box and nodes[tail].box != box
    )
    return Fraction(crossings, forest.num_trees)


def test_two_a100_boxes_by_hand() -> None:
    """16 GPUs, 8 rings of M/8 each; a ring sends 15 of its 16 shards over each of its hops.

    A NIC carries (15/16)(M/8) over 25 GB/s: algbw = 25 x 8 x 16/15 = 213.33 GB/s. A GPU sends on
    its NVSwitch in 7 rings: 7 (15/16)(M/8) over 300 GB/s, which is less. 15/16 of the data enter
    each box, where 8/16, the other box's shards, would do: 15/8, nearly twice (ForestColl
    figure 2).
    """
    forest = generate(load_topology("dgx_a100:boxes=2"))
    assert forest.algbw_gb_s == Fraction(640, 3)
    assert forest.k == 8
    assert trees_into(forest, box=0) == trees_into(forest, box=1) == Fraction(15, 16)


@pytest.mark.parametrize(
    ("spec", "algbw_gb_s"),
    [
        # B boxes with 200 GB/s of NICs: each carries (N-1)/N of the data into the box.
        ("dgx_a100:boxes=4", Fraction(200 * 32, 31)),
        ("dgx_a100:boxes=2,nics=nodes", Fraction(200 * 16, 15)),
        ("dgx_a100:boxes=3,nics=nodes,ib_switches=2", Fraction(200 * 24, 23)),
        ("dgx_h100:boxes=2", Fraction(400 * 16, 15)),
        # 256 GB/s of NICs, and no xGMI link is worse off.
        ("mi250:boxes=2", Fraction(256 * 32, 31)),
        ("mi250:boxes=2,gpus_per_box=8", Fraction(128 * 16, 15)),
        # One box on its NVSwitch: 7/8 of the data into each GPU.
        ("dgx_a100:boxes=1", Fraction(300 * 8, 7)),
        # The figure's example: boxes with 4b of exit.
        ("paper_example", Fraction(4 * 8, 7)),
        # One box of MI250 on links of 50 GB/s (in lanes): six rings fill a lane each.
        ("mi250:boxes=1", Fraction(6 * 50 * 16, 15)),
        # Each cycle both ways round, on links of its own: N-1 shards over each link into a GPU.
        ("ring:nodes=7", Fraction(2 * 7, 6)),
        ("ring:nodes=7,bidirectional=false", Fraction(7, 6)),
        ("torus:dims=3x3", Fraction(4 * 9, 8)),
        ("torus:dims=8x8", Fraction(4 * 64, 63)),
        ("torus:dims=3x4x5", Fraction(6 * 60, 59)),
        ("torus:dims=4x4,wrap=false", Fraction(2 * 16, 15)),  # corners have two links
        ("hypercube:dimension=4", Fraction(4 * 16, 15)),
        ("complete:nodes=7", Fraction(6 * 7, 6)),
        # An odd number of links: one is idle.
        ("complete:nodes=6", Fraction(4 * 6, 5)),
        ("complete:nodes=16", Fraction(14 * 16, 15)),
        ("hypercube:dimension=3", Fraction(2 * 8, 7)),
        ("fat_tree:leaves=4,hosts=4,spines=2", Fraction(16, 15)),
    ],
)
def test_rates_by_hand(spec: str, algbw_gb_s: Fraction) -> None:
    """Where the NICs (or a GPU's only links) are the limit: bandwidth x N / (N - 1)."""
    assert generate(load_topology(spec)).algbw_gb_s == algbw_gb_s


@pytest.mark.parametrize(("rings", "algbw_gb_s"), [(2, Fraction(9, 4)), (4, Fraction(9, 2))])
def test_the_default_is_the_best_number_of_rings(rings: int, algbw_gb_s: Fraction) -> None:
    """Two rings use half of the links of a torus of 3 x 3, four use all of them."""
    topology = load_topology("torus:dims=3x3")
    assert generate(topology, rings=rings).algbw_gb_s == algbw_gb_s
    assert generate(topology).algbw_gb_s == Fraction(9, 2)


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "allreduce"])
def test_disjoint_rings_of_a_hypercube_use_every_link_once(collective: str) -> None:
    """16 GPUs, 64 directed links: four rings of 16, each on links of its own."""
    topology = load_topology("hypercube:dimension=4")
    rings = lay_rings(topology, None).rings
    hops = {hop for ring in rings for hop in zip(ring, ring[1:] + ring[:1], strict=True)}
    assert hops == topology.link_between.keys()
    assert len(rings) * 16 == len(hops) == 64
    phases = 2 if collective == "allreduce" else 1
    assert verify(generate(topology, collective)).time_s_per_gb == phases * Fraction(15, 64)


@pytest.mark.parametrize("rings", [1, 2, 4, 8, 16])
def test_fewer_rings_use_fewer_nics(rings: int) -> None:
    """R rings over 8 NICs of 25 GB/s: R x 25 x 16/15 GB/s up to R = 8, and no more at 16."""
    topology = load_topology("dgx_a100:boxes=2")
    forest = generate(topology, rings=rings)
    assert forest.algbw_gb_s == min(rings, 8) * 25 * Fraction(16, 15)
    assert forest.k == rings
    verify(forest)


def test_equal_rings_are_one_of_higher_multiplicity() -> None:
    """16 rings on two boxes of 8 are the 8 rings twice."""
    forest = generate(load_topology("dgx_a100:boxes=2"), rings=16)
    assert forest.num_batches == 8 * 16
    assert set(forest.multiplicity.tolist()) == {2}


@pytest.mark.parametrize(
    ("spec", "algbw_gb_s"),
    [("mi250:boxes=2", Fraction(256 * 32, 31)), ("dgx_a100:boxes=2", Fraction(640, 3))],
)
def test_both_ways_loads_the_same_as_one(spec: str, algbw_gb_s: Fraction) -> None:
    """Half of the data each way round: every NIC is entered twice and left twice, for M/(2R) each.

    On MI250 these are RCCL's 32 rings in all but the order of the GPUs in a chain.
    """
    topology = load_topology(spec)
    forest = generate(topology, both_ways=True)
    verify(forest)
    assert forest.algbw_gb_s == algbw_gb_s == generate(topology).algbw_gb_s
    rings = lay_rings(topology, None).rings
    assert forest.k == 2 * len(rings)
    first = forest.parent[forest.root == 0]
    successors = [{int(p): v for v, p in enumerate(row) if p >= 0} for row in first]
    tours = []
    for after in successors:
        tour = [0]
        while tour[-1] in after:
            tour.append(after[tour[-1]])
        tours.append(tuple(tour))
    assert Counter((0, *tour[:0:-1]) for tour in tours) == Counter(tours)


def test_both_ways_needs_links_both_ways() -> None:
    with pytest.raises(UnsupportedError, match=r"^unsupported: rings both ways, where the link"):
        generate(load_topology("ring:nodes=5,bidirectional=false"), both_ways=True)


def inter_box_load(schedule: Forest, box: int) -> Fraction:
    """The part of the data that runs from the GPUs of a box to the InfiniBand switch."""
    found, nodes = cost(schedule), schedule.topology.nodes
    out = sum(
        load
        for load, link in zip(found.loads, schedule.topology.links, strict=True)
        if nodes[link.tail].box == box and nodes[link.head].box is None
    )
    return Fraction(out, found.whole)


@pytest.mark.parametrize(
    ("nic", "rings_gb_s", "best_gb_s", "crossing"),
    [
        (20, Fraction(20 * 8 * 16, 15), Fraction(20 * 16), Fraction(8, 16)),
        (25, Fraction(640, 3), Fraction(325 * 16, 15), Fraction(15, 26)),
    ],
)
def test_rings_cross_nearly_twice_as_often_as_forestcoll(
    nic: int, rings_gb_s: Fraction, best_gb_s: Fraction, crossing: Fraction
) -> None:
    """ForestColl figure 2: 15/16 of the data leave each box by rings where 8/16 would do.

    With NICs of 20 GB/s these are the bottleneck (8/16 over 160 GB/s), and ForestColl's trees
    cross once. With 25 GB/s it is a GPU's ingress, 15/16 over 300 + 25 GB/s; to fill it the trees
    use the NICs for what need not cross, 25/325 of all that comes in: 8 (15/16)/13 = 15/26.
    """
    topology = load_topology(f"dgx_a100:boxes=2,nic_bandwidth={nic}")
    rings, best = generate(topology), forestcoll.generate(topology).schedule
    assert isinstance(rings, Forest)
    assert isinstance(best, Forest)
    for box in (0, 1):
        assert inter_box_load(rings, box) == Fraction(15, 16)
        assert inter_box_load(best, box) == crossing
    assert rings.algbw_gb_s == rings_gb_s
    assert best.algbw_gb_s == best_gb_s


@pytest.mark.parametrize(
    ("collective", "steps"), [("allgather", 15), ("reduce-scatter", 15), ("allreduce", 30)]
)
def test_a_ring_takes_one_step_less_than_there_are_gpus(collective: str, steps: int) -> None:
    """T_L = N - 1 steps, twice for an allreduce (BFB, NSDI 2025, appendix F.1)."""
    made = lockstep(generate(load_topology("dgx_a100:boxes=2"), collective))
    verify(made)
    assert made.num_steps == steps


@pytest.mark.parametrize("collective", ["reduce-scatter", "allreduce"])
def test_directed_rings_reduce_the_other_way_round(collective: str) -> None:
    """On a one-way ring a sum can only run as the links do, like the data of the allgather."""
    topology = load_topology("ring:nodes=7,bidirectional=false")
    made = generate(topology, collective)
    assert verify(made).time_s_per_gb == (2 if collective == "allreduce" else 1) * Fraction(6, 7)


@pytest.mark.parametrize(
    ("spec", "algbw_gb_s"),
    [
        # All data leaves the root by its one port, over which all rings go.
        ("dgx_h100:boxes=1", Fraction(450)),
        # Each NIC carries the 1/8 of its ring.
        ("dgx_a100:boxes=2", Fraction(8 * 25)),
        ("dgx_a100:boxes=16", Fraction(8 * 25)),
        # A cycle each way round; each link carries half.
        ("ring:nodes=7", Fraction(2)),
    ],
)
@pytest.mark.parametrize("collective", ["broadcast", "reduce"])
def test_broadcasts_go_along_the_rings_from_the_root(
    spec: str, collective: str, algbw_gb_s: Fraction
) -> None:
    """And reductions come along them to it; whichever GPU that is."""
    topology = load_topology(spec)
    for root in (None, 1, topology.nodes[topology.compute[-1]].name):
        forest = generate(topology, collective, root=root)
        assert isinstance(forest, Forest)
        verify(forest)
        assert forest.algbw_gb_s == algbw_gb_s
        expected = {None: 0, 1: 1}.get(root, topology.num_compute - 1)
        assert set(forest.root.tolist()) == {expected}


def test_roots_are_for_broadcasts_and_reductions() -> None:
    topology = load_topology("ring:nodes=4")
    with pytest.raises(UnsupportedError, match="takes no root for allgather"):
        generate(topology, root=0)
    with pytest.raises(InvalidParameterError, match="ranks are 0 to 3"):
        generate(topology, "broadcast", root=4)


def test_each_tree_is_the_ring_from_its_root() -> None:
    """Every tree is a path of N - 1 hops."""
    forest = generate(load_topology("dgx_a100:boxes=2"))
    assert set(forest.tree_depths().tolist()) == {15}


def test_boxes_of_unequal_size_and_gpus_without_a_box() -> None:
    """Two GPUs, three GPUs and a GPU alone, on one switch: rings enter and leave each once.

    Three rings, as many as the largest box has GPUs. The GPU alone takes in 5/6 of the data, over
    its link of 3 GB/s: algbw = 3 x 6/5, and nothing is worse off.
    """
    nodes = "[w] b0.gpu0@0.0 b0.gpu1@0.1 b1.gpu0@1.0 b1.gpu1@1.1 b1.gpu2@1.2 alone"
    links = "b0.gpu0 b0.gpu1 b1.gpu0..2 alone - w: 3"
    forest = generate(network_of(nodes, links, "mixed"))
    verify(forest)
    assert forest.k == 3
    assert forest.algbw_gb_s == Fraction(18, 5)


def test_a_ring_may_mix_links_and_switches() -> None:
    """0 -> 1 over a link of 5, and a switch that takes in from 1 and 2 and gives out to 2 and 0.

    Of the two orders only 0, 1, 2 is one in which each can send to the next.
    """
    forest = generate(
        network_of("[w] gpu0..2", "gpu0 > gpu1: 5, gpu1 gpu2 > w: 5, w > gpu2 gpu0: 5", "mixed")
    )
    verify(forest)
    assert forest.algbw_gb_s == Fraction(15, 2)


@pytest.mark.parametrize("kind", KINDS)
def test_rings_on_random_networks_verify_and_beat_no_optimum(kind: str) -> None:
    """Where there are any; on others they are unsupported."""
    done = 0
    for seed in range(count := rounds(20)):
        topology = random_topology(seed, kind)
        try:
            made = generate(topology)
        except UnsupportedError:
            continue
        verify(made)
        assert made.algbw_gb_s <= forestcoll.optimum(topology).algbw_gb_s
        done += 1
    assert done >= count // 4


INTACT = Fraction(640, 3)
"""Of two DGX A100 boxes: 8 NICs of 25 GB/s carry 15/16 of the data."""


@pytest.mark.parametrize(
    ("spec", "dead", "algbw_gb_s"),
    [
        # One of 8 NICs is dead: seven rings, 7/8 of the rate.
        ("dgx_a100:boxes=2", ["b0.gpu2 - ib"], INTACT * Fraction(7, 8)),
        ("dgx_a100:boxes=2", ["b0.gpu2 - ib", "b1.gpu5 - ib"], INTACT * Fraction(7, 8)),
        ("dgx_a100:boxes=2", ["b0.gpu2 > ib", "ib > b0.gpu5"], INTACT * Fraction(7, 8)),
        ("dgx_a100:boxes=2,nics=nodes", ["b0.nic2 - ib"], INTACT * Fraction(7, 8)),
        ("dgx_a100:boxes=4", ["b0.gpu2 - ib"], Fraction(7 * 25 * 32, 31)),
        ("dgx_a100:boxes=3,ib_switches=2", ["b0.gpu2 - ib0"], Fraction(7 * 25 * 24, 23)),
        ("rail_optimized:boxes=4", ["b0.gpu2 - rail2"], Fraction(7 * 50 * 32, 31)),
        # Two of 8: six chains over xGMI.
        (
            "mi250:boxes=3,gpus_per_box=8",
            ["b0.gpu2 - ib", "b0.gpu3 - ib"],
            Fraction(6 * 16 * 24, 23),
        ),
        # Half of them, and half each way: GPUs 4 to 7 send and the others receive.
        ("dgx_a100:boxes=2", [f"b0.gpu{i} - ib" for i in range(4)], INTACT / 2),
        (
            "dgx_a100:boxes=2",
            [*(f"b0.gpu{i} > ib" for i in range(4)), *(f"ib > b0.gpu{i}" for i in range(4, 8))],
            INTACT / 2,
        ),
        # One is left: rings come in and go out at GPU 0.
        ("dgx_a100:boxes=2", [f"b0.gpu{i} - ib" for i in range(1, 8)], INTACT / 8),
    ],
)
def test_dead_nics_cost_their_part(spec: str, dead: list[str], algbw_gb_s: Fraction) -> None:
    """As many rings as the box with the fewest NICs has; the GPU without one is inside a chain."""
    topology = without(spec, *dead)
    made = generate(topology)
    assert verify(made).collective == "allgather"
    assert made.algbw_gb_s == algbw_gb_s
    assert made.algbw_gb_s <= forestcoll.optimum(topology).algbw_gb_s
    verify(generate(topology, "allreduce"))


def test_one_direction_dead_keeps_the_other_in_use() -> None:
    """GPU 2 of box 0 is still entered from outside; seven rings, as seven NICs send."""
    topology = without("dgx_a100:boxes=2", "b0.gpu2 > ib")
    made = generate(topology)
    verify(made)
    assert made.algbw_gb_s == INTACT * Fraction(7, 8)


def test_boxes_that_nothing_joins_are_unsupported() -> None:
    topology = without("dgx_a100:boxes=2", *(f"b0.gpu{i} - ib" for i in range(8)))
    with pytest.raises(UnsupportedError, match=r"^unsupported: no way for rings to enter and leav"):
        generate(topology)


@pytest.mark.parametrize(
    ("spec", "busbw"),
    [
        ("mi300x:boxes=2", 8 * 50),  # 8 NICs; a ring uses each link of a box once
        ("mi300x:boxes=3", 8 * 50),
        ("mi300x:boxes=2,fabric=rails", 8 * 50),
        ("mi300x:boxes=2,gpus_per_box=4", 4 * 50),
    ],
)
def test_boxes_of_fully_linked_gpus_use_all_nics(spec: str, busbw: int) -> None:
    """A greedy choice of chains left links idle and others doubly used: 273 of 400 GB/s."""
    topology = load_topology(spec)
    made = generate(topology, "allgather")
    verify(made)
    gpus = topology.num_compute
    assert made.algbw_gb_s * Fraction(gpus - 1, gpus) == busbw


def test_each_link_of_fully_linked_boxes_is_in_one_ring() -> None:
    """7 hops of each of 8 chains are the 56 links of 8 GPUs, in both boxes."""
    topology = load_topology("mi300x:boxes=2")
    box = [node.box for node in topology.nodes]
    laid = lay_rings(topology, None)
    inside = Counter(hop for ring in laid.rings for hop in hops(ring) if box[hop[0]] == box[hop[1]])
    assert len(inside) == 2 * 56
    assert set(inside.values()) == {1}


def test_an_odd_number_of_linked_gpus_has_no_zigzag() -> None:
    """Three GPUs a box: the greedy chains stay."""
    topology = load_topology("mi300x:boxes=2").without(
        *(f"b{box}.gpu{i}" for box in range(2) for i in range(3, 8))
    )
    laid = lay_rings(topology, None)
    assert len(laid.rings) == 3
    verify(generate(topology))


@pytest.mark.parametrize(
    ("spec", "dead"),
    [
        ("dgx_a100:boxes=2", ()),
        ("mi300x:boxes=2", ()),
        ("dgx_a100:boxes=2", tuple(f"b0.gpu{i} - ib" for i in range(1, 8))),
    ],
    ids=["switches", "direct links", "rings that visit a GPU twice"],
)
def test_candidates_are_timed_as_their_forests_are(spec: str, dead: tuple[str, ...]) -> None:
    """The time that chooses among candidates needs no trees."""
    topology = without(spec, *dead) if dead else load_topology(spec)
    laid = lay_rings(topology, None)
    assert time_s_per_gb(topology, laid) == cost(generate(topology)).time_s_per_gb


@pytest.mark.parametrize(
    ("spec", "dead", "fastest"),
    [
        ("nvl72:racks=2,gpus_per_rack=40,planes=1", ["b0.gpu2", "b0.gpu3"], True),
        ("dgx_h100:boxes=3", ["b1.gpu0"], False),
        ("dgx_a100:boxes=2", ["b0.gpu2 - ib"], False),
        ("mi250:boxes=2", ["b0.gpu3"], False),
        ("rail_optimized:boxes=3,gpus_per_box=4", ["b1.gpu2"], False),
    ],
)
def test_rings_that_fill_the_links_of_a_box_are_not_compared(
    spec: str, dead: list[str], fastest: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 40 GPUs each gets 39 / 40 of the data over NVLink, while two NICs have two rings each.

    On the smaller boxes NICs or links to choose from are the limit.
    """
    topology = load_topology(spec).without(*dead)
    asked = []

    class Asked(AttachmentLayout):
        def __init__(self, *network: Any) -> None:
            asked.append(network)
            super().__init__(*network)

    monkeypatch.setattr(ring, "AttachmentLayout", Asked)
    found = lay_rings(topology, None)
    assert bool(asked) != fastest
    monkeypatch.setattr(ring, "_is_fastest", lambda *_: False)
    assert lay_rings(topology, None) == found
    assert asked


def test_no_rings_are_faster_than_the_links_into_a_box() -> None:
    """Three GPUs of 3 GB/s and two of 1: a box of GPUs each entered once from outside.

    In the box of a0, a1 and a2 two of three hops come over 9 GB/s in all; and GPUs alone in their
    boxes bound nothing.
    """
    topology = network_of(
        "a0..2@0 b0@1 c0@2 [in]@0 [net]", "a0..2 - in: 3, a0..2 - net: 9, b0 c0 - net: 9"
    )
    boxes = gpus_by_box(topology)
    assert _width_inside(topology, boxes[0]) == 9
    a0, a1, a2, b0, c0 = topology.compute
    rings = [(a0, a1, a2, b0, c0), (a1, a2, a0, b0, c0), (a2, a0, a1, b0, c0)]
    assert time_s_per_gb(topology, Laid(topology, rings)) == Fraction(2 * 4, 5 * 9)
    assert _is_fastest(topology, boxes, rings)
    assert not _is_fastest(topology, boxes, rings[:2])
    assert not _is_fastest(topology, [[gpu] for gpu in topology.compute], rings)
