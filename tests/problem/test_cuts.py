"""Cuts bound every allgather, exactly, and can be put in words."""

from fractions import Fraction
from itertools import combinations

import pytest

from forestcoll.core.optimality import optimum
from forestcoll.errors import DisconnectedError, InvalidTopologyError
from forestcoll.problem.cuts import Cut
from forestcoll.topology import Topology, load_topology
from tests.hand_networks import network_of


def all_but(topology: Topology, *names: str) -> Cut:
    outside = {topology.position_of[name] for name in names}
    return Cut(topology, set(range(len(topology.nodes))) - outside)


def test_the_box_of_the_running_example() -> None:
    """ForestColl figure 5 with b = 1: four shards leave box 1 over four links of 1 GB/s."""
    topology = load_topology("paper_example")
    cut = Cut(topology, [topology.position_of[n] for n in ("c1.1", "c1.2", "c1.3", "c1.4", "w1")])
    assert (len(cut.compute), cut.exit_gb_s, cut.inverse_rate, cut.algbw_gb_s) == (4, 4, 1, 8)
    assert cut.in_words() == (
        "box 0 (4 GPUs): 4 shards must leave over 4 links, 4 GB/s in all (1 per GPU)"
    )
    assert [str(each) for each in cut.exit_classes()] == [
        "4 x 1 GB/s from GPUs 0-3 of box 0 to switch w0"
    ]


def test_the_single_gpu_of_the_running_example_does_not_bind() -> None:
    """Seven shards enter the last GPU over 10 + 1 GB/s: 7/11 < 1."""
    topology = load_topology("paper_example")
    cut = all_but(topology, "c2.4")
    assert cut.inverse_rate == Fraction(7, 11)
    assert cut.in_words() == (
        "everything but GPU 3 of box 1: 7 shards must enter it over 2 links, 11 GB/s in all"
    )


def test_a_gpu_of_two_a100_boxes_takes_15_shards_over_325_gb_s() -> None:
    """300 from the NVSwitch and 25 from InfiniBand: 15/325 = 3/65."""
    cut = all_but(load_topology("dgx_a100:boxes=2"), "b1.gpu3")
    assert cut.inverse_rate == Fraction(3, 65)
    assert [str(each) for each in cut.exit_classes()] == [
        "1 x 300 GB/s from switch b1.nvswitch to GPU 3 of box 1",
        "1 x 25 GB/s from switch ib to GPU 3 of box 1",
    ]


def test_an_oam_of_two_mi250_boxes_takes_30_shards_over_332_gb_s() -> None:
    """Two xGMI to GPU 4, four single ones, twice 16 GB/s: 100 + 200 + 32."""
    cut = all_but(load_topology("mi250:boxes=2"), "b0.gpu0", "b0.gpu1")
    assert cut.inverse_rate == Fraction(30, 332)
    assert cut.in_words() == (
        "everything but GPUs 0-1 of box 0: 30 shards must enter it over 7 links, "
        "332 GB/s in all (166 per GPU)"
    )


@pytest.mark.parametrize(
    "spec",
    ["dgx_a100:boxes=2", "dgx_a100:boxes=4", "dgx_h100:boxes=8", "mi250:boxes=2", "torus:dims=3x3"],
)
def test_the_bottleneck_cut_has_the_ratio_of_the_optimum(spec: str) -> None:
    """Theorem 1: the optimum is the largest ratio, so its cut's ratio is the optimum."""
    best = optimum(load_topology(spec))
    cut = best.bottleneck
    assert cut.inverse_rate == best.inverse_rate == best.certificate()
    assert cut.algbw_gb_s == best.algbw_gb_s


def test_no_cut_of_a_small_network_beats_the_optimum() -> None:
    """All cuts of a directed ring of five with one slow link are bounds below 1/x*."""
    links = "gpu0 > gpu1: 3, gpu1 > gpu2: 3, gpu2 > gpu3, gpu3 > gpu4: 3, gpu4 > gpu0: 3"
    topology = network_of("gpu0..4", links, "slow link")
    cuts = (Cut(topology, nodes) for size in range(1, 5) for nodes in combinations(range(5), size))
    assert max(cut.inverse_rate for cut in cuts) == optimum(topology).inverse_rate == 4


def test_the_order_of_the_nodes_does_not_matter() -> None:
    """A cut is a set."""
    topology = load_topology("ring:nodes=4")
    assert Cut(topology, [2, 0, 2]) == Cut(topology, (0, 2))


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ((), "holds 0 of 4 GPUs"),
        (range(4), "holds 4 of 4 GPUs"),
        ((0, 4), "names node 4; nodes are 0 to 3"),
    ],
)
def test_a_set_that_bounds_nothing_is_refused(nodes: tuple[int, ...], message: str) -> None:
    """Some GPUs inside, some outside, all of them known."""
    with pytest.raises(InvalidTopologyError, match=message):
        Cut(load_topology("ring:nodes=4"), nodes)


def test_a_lone_gpu_is_counted_in_the_singular() -> None:
    """A network of one GPU has no cut that holds some but not all."""
    with pytest.raises(InvalidTopologyError, match="holds 1 of 1 GPU;"):
        Cut(network_of("a", "", "alone"), [0])


def test_a_set_without_exits_is_refused() -> None:
    """No link leaves b, so its shard goes nowhere."""
    with pytest.raises(DisconnectedError, match="no link leaves GPU b"):
        Cut(network_of("a b", "a > b", "one way"), [1])


# --- weights and reductions -----------------------------------------------------------------------


def test_the_weight_of_a_cut_is_that_of_its_gpus() -> None:
    """Parts 1, 2, 0, 3 in a ring: all but gpu3 hold 3 of 6 parts, over 2 links of 1 GB/s."""
    ring = load_topology("ring:nodes=4")
    cut = Cut(ring, (0, 1, 2), (1, 2, 0, 3))
    assert (cut.weight, cut.inverse_rate, cut.algbw_gb_s) == (3, Fraction(3, 2), 4)
    assert cut.in_words() == (
        "everything but GPU gpu3: 3 of 6 parts of the data must enter it over 2 links, "
        "2 GB/s in all"
    )
    with pytest.raises(InvalidTopologyError, match="only GPUs without data"):
        Cut(ring, (2,), (1, 2, 0, 3))


@pytest.mark.parametrize(
    ("nodes", "weights", "words"),
    [
        ((0,), (1, 1, 1), "GPU a: 1 sum must enter it over 1 link, 2 GB/s in all"),
        ((0, 1), (1, 1, 1), "everything but GPU c: 2 sums must leave it over 1 link"),
        ((0,), (1, 0, 0), "GPU a: the sum must enter it over 1 link, 2 GB/s in all"),
        ((0,), (1, 2, 3), "GPU a: 1 of 6 parts of the sums must enter it over 1 link, 2 GB/s in"),
    ],
)
def test_sums_enter_the_cut(nodes: tuple[int, ...], weights: tuple[int, ...], words: str) -> None:
    """A one-way ring a -> b -> c -> a; only c -> a, of 2 GB/s, leads into a and into a, b."""
    cut = Cut(network_of("a b c", "a > b, b > c, c > a: 2", "ring"), nodes, weights, True)
    assert cut.exit_gb_s == 2
    assert cut.in_words().startswith(words)


def test_a_set_that_nothing_enters_cannot_be_reduced_to() -> None:
    with pytest.raises(DisconnectedError, match="no link enters GPU a; its GPUs cannot get their"):
        Cut(network_of("a b", "a > b", "one way"), [0], (), True)


def test_a_cut_of_unequal_weights_counts_parts_for_any_sum() -> None:
    """Weights 0, 1 and 2 of three GPUs: their sum is 3, as that of three shards is."""
    ring = load_topology("ring:nodes=3")
    assert "2 of 3 parts of the data must" in Cut(ring, (2,), (0, 1, 2)).in_words()
    assert "1 shard must" in Cut(ring, (2,)).in_words()
    assert "1 of 2 parts of the data must" in Cut(ring, (2,), (0, 1, 1)).in_words()


def test_the_nodes_of_a_cut_are_sorted() -> None:
    """Whatever the order in which they are given; each is counted once."""
    ring = load_topology("ring:nodes=10")
    assert Cut(ring, (8, 1, 8)).nodes == (1, 8)
