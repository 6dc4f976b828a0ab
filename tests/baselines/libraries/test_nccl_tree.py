"""NCCL's trees, by hand."""

from fractions import Fraction
from itertools import pairwise

import pytest

from baselines.building.binary_trees import double_binary_tree
from baselines.libraries.nccl_tree import _chain, _is_free, generate, generate_flat
from baselines.networks.boxes import gpus_by_box
from baselines.networks.ports import Ports
from baselines.registry import METHODS
from forestcoll.errors import InvalidParameterError, UnsupportedError
from forestcoll.schedule import Allreduce, Forest, cost, lockstep, verify
from forestcoll.topology import Topology, TopologyBuilder, load_topology
from tests.baselines.claims import load
from tests.baselines.dead_nics import without
from tests.hand_networks import network_of


def trees(spec: str, **parameters: object) -> Allreduce[Forest]:
    made = METHODS["nccl-tree"].run(load_topology(spec), "allreduce", parameters)
    assert isinstance(made, Allreduce)
    verify(made)
    return made


def test_trees_of_two_a100_boxes_are_those_that_nccl_prints() -> None:
    """NCCL on two machines of 8 GPUs and 8 NICs, 16 channels, at rank 0: "Trees [0] 1/8/-1->0->-1
    [1] -1/-1/-1->0->7 [2] 1/-1/-1->0->7 ... [8] 1/-1/-1->0->8 [9] -1/-1/-1->0->7": children, rank,
    parent. Channels 8 to 15 are the second trees of the rails.
    """
    gather = trees("dgx_a100:boxes=2").gather
    at_zero = [
        (sorted(rank for rank, parent in enumerate(row) if parent == 0), row[0])
        for row in gather.parent.tolist()
    ]
    assert at_zero[0:6:2] == [([1, 8], -1), ([], 7), ([1], 7)]
    assert at_zero[1:6:2] == [([1], 8), ([], 7), ([1], 7)]
    assert gather.num_batches == 16


def test_two_a100_boxes_by_hand() -> None:
    """16 trees of M/16. A GPU is the last of its box's chain in 2 of them, the first in 2.

    So it sends 14/16 of M down and 14/16 up over 300 GB/s: 171.43 GB/s. A NIC sends M/16 down, for
    the tree rooted in its box, and M/16 up over 25 GB/s: 200 GB/s.
    """
    made = trees("dgx_a100:boxes=2")
    found, nodes = cost(made), made.topology.nodes
    assert found.algbw_gb_s == Fraction(300 * 16, 28)
    for amount, link in zip(found.loads, made.topology.links, strict=True):
        if nodes[link.tail].is_gpu:
            to_box = nodes[link.head].box is not None
            assert Fraction(amount, found.whole) == Fraction(28 if to_box else 2, 16)


@pytest.mark.parametrize(
    ("machine", "nics_gb_s", "boxes"),
    [("dgx_a100", 200, 4), ("dgx_a100", 200, 8), ("dgx_a100", 200, 16), ("mi250", 256, 4)],
)
def test_nics_carry_twice_the_data(machine: str, nics_gb_s: int, boxes: int) -> None:
    """From 4 boxes on, an inner box sends to two below and one above, and to one above as a leaf.

    That is 4 halves of the data over all NICs of a box, however many boxes there are.
    """
    assert cost(trees(f"{machine}:boxes={boxes}")).algbw_gb_s == Fraction(nics_gb_s, 2)


def test_a_single_tree_loads_one_box_with_all_of_it() -> None:
    """Four boxes: box 2 sends M/8 to two below and one above over each NIC: 25 x 8/3 GB/s."""
    made = trees("dgx_a100:boxes=4", double=False)
    assert cost(made).algbw_gb_s == Fraction(200, 3)
    assert set(made.gather.root.tolist()) == set(range(8))


@pytest.mark.parametrize(
    ("pattern", "parents"),
    [
        # Box 2 of four is above box 1, its first child, and box 3, its second.
        ("balanced", (17, 16)),
        ("split", (17, 17)),
        ("tree", (16, 16)),
    ],
)
def test_patterns_decide_the_gpus_that_children_enter(
    pattern: str, parents: tuple[int, int]
) -> None:
    """At rail 0 the chain of box 2 is 16, 17, ..., 23; the boxes below begin at 8 and 24."""
    first = trees("dgx_a100:boxes=4", pattern=pattern).gather.parent[0].tolist()
    assert (first[8], first[24]) == parents


def test_trees_stay_on_separate_rails() -> None:
    """Between boxes data runs from GPU r to GPU r only; "balanced" cannot."""
    made = trees("rail_optimized:boxes=5")
    nodes = made.topology.nodes
    gpus = [nodes[gpu] for gpu in made.topology.compute]
    routes = made.gather.routes
    for tail, head in zip(routes.tail.tolist(), routes.head.tolist(), strict=True):
        assert gpus[tail].box == gpus[head].box or gpus[tail].index == gpus[head].index
    with pytest.raises(UnsupportedError, match=r"^unsupported: no path"):
        generate(made.topology, pattern="balanced")


def test_chains_run_over_direct_links() -> None:
    """Inside an MI250 box no edge goes through the InfiniBand switch."""
    made = trees("mi250:boxes=2")
    nodes = made.topology.nodes
    for paths in made.gather.routes.paths().values():
        for path in paths:
            ends = nodes[path.nodes[0]], nodes[path.nodes[-1]]
            assert ends[0].box != ends[1].box or len(path.nodes) == 2


def test_sums_and_data_run_along_one_way_links() -> None:
    """In a one-way ring 0 -> 1 -> 2 -> 0 data goes down a chain 0, 1, 2 and sums up one 0, 2, 1.

    All in direct links: three rails with two trees of M/6 each load two of the ring's three links
    a phase, so each link with 4/6 a phase over 3 GB/s.
    """
    topology = load("one-way boxes")
    made = generate(topology)
    assert isinstance(made, Allreduce)
    verify(made)
    assert made.gather.parent[0].tolist()[:3] == [-1, 0, 1]
    assert made.reduce.parent[0].tolist()[:3] == [-1, 2, 0]
    found, nodes = cost(made), topology.nodes
    for amount, link in zip(found.loads, topology.links, strict=True):
        if nodes[link.tail].is_gpu and nodes[link.head].is_gpu:
            assert Fraction(amount, found.whole) == Fraction(8, 6)


def test_equal_cost_paths_get_equal_shares() -> None:
    """Of a hop over leaf, three spines and leaf, a third each."""
    made = generate_flat(load_topology("fat_tree:leaves=4,hosts=1,spines=3"))
    assert isinstance(made, Allreduce)
    for paths in made.gather.routes.paths().values():
        assert len(paths) == 3
        assert len({path.multiplicity for path in paths}) == 1


@pytest.mark.parametrize(("gpus", "steps"), [(4, 4), (5, 6), (8, 6), (16, 8)])
def test_a_double_binary_tree_takes_2_log2_steps(gpus: int, steps: int) -> None:
    """Up and down trees of depth ceil(log2 N), hop by hop."""
    made = generate_flat(load_topology(f"complete:nodes={gpus}"))
    assert not isinstance(made, Forest)
    hops = lockstep(made)
    verify(hops)
    assert hops.num_steps == steps


def tree_network(gpus: int) -> Topology:
    """Only the links of the two trees, as BFB (NSDI 2025) wires them."""
    builder = TopologyBuilder()
    names = [builder.gpu(f"gpu{i}") for i in range(gpus)]
    edges = {
        tuple(sorted((rank, above)))
        for tree in double_binary_tree(gpus)
        for rank, above in enumerate(tree.above)
        if above >= 0
    }
    for one, other in sorted(edges):
        builder.link(names[one], names[other], 1)
    return builder.build("trees")


@pytest.mark.parametrize("gpus", [5, 8, 12])
def test_its_own_edges_are_all_that_a_double_binary_tree_needs(gpus: int) -> None:
    """Half of the data in each tree. Two neighbours in both carry half up and half down: 1 GB/s."""
    made = generate_flat(tree_network(gpus))
    verify(made)
    found = cost(made)
    assert found.algbw_gb_s == 1
    assert {Fraction(load, found.whole) for load in found.loads} == {Fraction(1, 2), Fraction(1)}


def test_networks_that_need_relaying_gpus_are_unsupported() -> None:
    """A hypercube has no link between 2 and 1."""
    topology = load_topology("hypercube:dimension=3")
    with pytest.raises(UnsupportedError, match=r"^unsupported: no path from gpu1 to gpu2 through"):
        generate_flat(topology)


def test_fewer_rails_use_fewer_nics() -> None:
    """Two rails begin at GPUs 0 and 4: 4 trees, and 2 NICs with M/4 + M/4 each: 50 GB/s."""
    made = trees("dgx_a100:boxes=2", rails=2)
    assert sorted(made.gather.root.tolist()) == [0, 4, 8, 12]
    assert cost(made).algbw_gb_s == 50


def test_bad_parameters_are_named() -> None:
    topology = load_topology("dgx_a100:boxes=2")
    with pytest.raises(InvalidParameterError, match=r"pattern is 'ring'; .* balanced, split, tree"):
        generate(topology, pattern="ring")
    with pytest.raises(InvalidParameterError, match=r"^rails is 0; it takes at least one"):
        generate(topology, rails=0)


def test_a_single_box_has_chains_alone() -> None:
    made = trees("dgx_a100:boxes=1")
    for row, root in zip(made.gather.parent.tolist(), made.gather.root.tolist(), strict=True):
        chain = [(root + step) % 8 for step in range(8)]
        assert all(row[below] == above for above, below in pairwise(chain))


@pytest.mark.parametrize(
    ("spec", "dead", "algbw_gb_s"),
    [
        # Seven rails, 14 trees of M/14. No chain begins at GPU 2, so GPU 1 is never last: it sends
        # 14 down and, as it is first in two, 12 up: 26/14 over 300 GB/s.
        ("dgx_a100:boxes=2", ["b0.gpu2 - ib"], Fraction(300 * 14, 26)),
        # The two without are paired: GPU 5 of box 0 with GPU 2 of box 1.
        ("dgx_a100:boxes=2", ["b0.gpu2 - ib", "b1.gpu5 - ib"], Fraction(300 * 14, 26)),
        ("dgx_a100:boxes=2", ["b0.gpu2 > ib"], Fraction(300 * 14, 26)),
        ("rail_optimized:boxes=2", ["b0.gpu2 - rail2"], Fraction(450 * 14, 26)),
        # Box 1 of four is inner: seven NICs carry four halves of the data.
        ("dgx_a100:boxes=4", ["b1.gpu5 - ib"], Fraction(7 * 25, 2)),
        # One NIC carries each half once out: as the root of the one tree, as the leaf of the other.
        ("dgx_a100:boxes=2", [f"b0.gpu{i} - ib" for i in range(1, 8)], Fraction(25)),
    ],
)
def test_rails_begin_at_gpus_with_nics(spec: str, dead: list[str], algbw_gb_s: Fraction) -> None:
    """And no tree enters or leaves a box elsewhere."""
    topology = without(spec, *dead)
    made = generate(topology)
    verify(made)
    assert cost(made).algbw_gb_s == algbw_gb_s
    assert isinstance(made, Allreduce)
    without_nic = {text.split()[0] for text in dead}
    gpus = [topology.nodes[gpu] for gpu in topology.compute]
    for phase in made.phases:
        routes = phase.routes
        for tail, head in zip(routes.tail.tolist(), routes.head.tolist(), strict=True):
            if gpus[tail].box != gpus[head].box:
                assert not without_nic & {gpus[tail].name, gpus[head].name}


def test_a_tree_needs_a_gpu_that_sends_and_receives() -> None:
    """Four GPUs that only send and four that only receive are not enough."""
    dead = [*(f"b0.gpu{i} > ib" for i in range(4)), *(f"ib > b0.gpu{i}" for i in range(4, 8))]
    with pytest.raises(UnsupportedError, match=r"^unsupported: a tree has to enter and leave each"):
        generate(without("dgx_a100:boxes=2", *dead))


def test_only_switches_leave_chains_no_choice() -> None:
    """The GPUs of a DGX box are joined each to the next; MI250 boxes have links, rails nothing."""
    free = {}
    for spec in ("dgx_a100:boxes=2", "mi250:boxes=2", "rail_optimized:boxes=2"):
        topology = load_topology(spec)
        ports, box = Ports(topology), gpus_by_box(topology)[0]
        free[spec] = _is_free(ports, box)
        if free[spec]:
            assert _chain(ports, box, 3) == (*box[3:], *box[:3])
    apart = network_of("a0..1@0 b0..1@1 [r0] [r1]", "a0 b0 - r0, a1 b1 - r1")
    assert not _is_free(Ports(apart), gpus_by_box(apart)[0])
    assert free == {
        "dgx_a100:boxes=2": True,
        "mi250:boxes=2": False,
        "rail_optimized:boxes=2": True,
    }
