"""A network as SCCL sees it: whole units of bandwidth, and what no schedule is below."""

from fractions import Fraction

import numpy as np
import pytest

from baselines.synthesizers.sccl.network import Bounds, bounds, bounds_of_pairs, direct
from forestcoll.errors import UnsupportedError
from forestcoll.topology import Topology, load_topology
from tests.baselines.dgx1 import NVLINKS, dgx1
from tests.hand_networks import network_of


def test_dgx1_is_the_hybrid_cube_mesh() -> None:
    """Six NVLinks a GPU, so 7 shards enter over 6 links: 7/6; two hops lead everywhere."""
    assert all(sum(row) == 6 for row in NVLINKS)
    assert np.array_equal(np.array(NVLINKS), np.array(NVLINKS).T)
    assert bounds(dgx1(), (1,) * 8).rounds_per_chunk == Fraction(7, 6)
    assert bounds(dgx1(), (1,) * 8).steps == 2


def line() -> Topology:
    """A = b - c: 20 and 30 GB/s."""
    return network_of("a b c", "a - b: 20, b - c: 30", "line")


def test_the_unit_is_the_largest_common_divisor_of_bandwidths() -> None:
    network, unit = direct(line())
    assert unit == 10
    copies = {group.links: group.copies for group in network.groups}
    assert copies == {((0, 1),): 2, ((1, 0),): 2, ((1, 2),): 3, ((2, 1),): 3}
    assert network.into == (((1, 0),), ((0, 1), (2, 1)), ((1, 2),))


def test_distances_are_hops_nearest_first() -> None:
    network, _ = direct(line())
    assert list(network.distances(2).items()) == [(2, 0), (1, 1), (0, 2)]


def test_the_bounds_of_a_line_by_hand() -> None:
    """Two hops from end to end; two shards enter a over two units, so a round a chunk."""
    found = bounds(line(), (1, 1, 1))
    assert found == Bounds(steps=2, rounds_per_chunk=Fraction(1))
    assert bounds(line(), (0, 1, 0)) == Bounds(steps=1, rounds_per_chunk=Fraction(1, 2))


def test_the_bounds_of_all_to_alls_by_hand() -> None:
    """The line: a's two chunks leave over two units, c's over three, and of all 6 two go two hops.

    8 hops on 10 units are 4/5 of a round, 2 chunks on 2 units 1. On DGX-1 16 chunks leave a half
    over 6 links. Of 17 GPUs in a ring, which are too many for all cuts, 2 * 17 * (1 + ... + 8)
    hops take as many rounds as 34 links have in 36.
    """
    assert bounds_of_pairs(line()) == Bounds(steps=2, rounds_per_chunk=Fraction(1))
    assert bounds_of_pairs(dgx1()) == Bounds(steps=2, rounds_per_chunk=Fraction(8, 3))
    ring = bounds_of_pairs(load_topology("ring:nodes=17"))
    assert ring == Bounds(steps=8, rounds_per_chunk=Fraction(36))
    with pytest.raises(UnsupportedError, match="links do not lead from"):
        bounds_of_pairs(one_way())


def test_a_shared_capacity_is_a_group_of_links() -> None:
    """SCCL's bandwidth relation: b of the line may receive 15 GB/s in all, three units of 5.

    The two links into b then are a group of three copies beside four and six of their own.
    """
    network, unit = direct(line().with_shared("b in", "* -> b", 15))
    assert unit == 5
    assert [(group.links, group.copies) for group in network.groups] == [
        (((0, 1),), 4), (((1, 0),), 4), (((1, 2),), 6), (((2, 1),), 6), (((0, 1), (2, 1)), 3),
    ]  # fmt: skip
    assert len(network.alone) == 4


def test_the_bound_counts_the_ingress_of_hosts() -> None:
    """Each of 3 x 3 x 2 takes in 17 chunks: 17/5 of a round over its links, 17/4 into its host.

    On the line b takes in two chunks; with 5 GB/s into it, that is one unit, they take two rounds.
    """
    torus = "torus:dims=3x3x2,bandwidth=25/8"
    assert bounds(load_topology(torus), (1,) * 18).rounds_per_chunk == Fraction(17, 5)
    hosts = load_topology(f"{torus},host_bandwidth=25/2")
    assert bounds(hosts, (1,) * 18) == Bounds(steps=3, rounds_per_chunk=Fraction(17, 4))
    assert bounds(line().with_shared("b in", "* -> b", 5), (1, 1, 1)).rounds_per_chunk == 2


def one_way() -> Topology:
    return network_of("a b", "a > b", "one way")


def test_rounds_are_whole_and_no_fewer_than_steps() -> None:
    """7/6 rounds a chunk: 3 1/2 of three chunks are four, and one chunk has two steps to go."""
    least = Bounds(steps=2, rounds_per_chunk=Fraction(7, 6))
    assert [least.rounds(chunks) for chunks in (1, 2, 3, 6)] == [2, 3, 4, 7]


def test_a_gpu_that_a_root_does_not_reach_is_named() -> None:
    topology = one_way()
    assert bounds(topology, (1, 0)).steps == 1
    with pytest.raises(UnsupportedError, match=r"^unsupported: links do not lead from b to a in"):
        bounds(topology, (1, 1))


def test_switches_are_refused_by_name() -> None:
    with pytest.raises(UnsupportedError, match=r"has the switch ib; SCCL knows only direct links"):
        direct(load_topology("mi250:boxes=2"))
