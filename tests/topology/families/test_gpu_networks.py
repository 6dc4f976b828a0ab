"""Networks of GPUs without boxes, counted by hand."""

from fractions import Fraction

import pytest

from forestcoll import optimum
from forestcoll.topology import load_topology, validate


@pytest.mark.parametrize(
    ("spec", "gpus", "switches", "links"),
    [
        # 16 NICs, 2 x 2 x 2 links up, 4 spines on 2 cores each
        ("clos:pods=2,leaves=2,hosts=4,spines=2,cores=4", 16, 12, 16 + 8 + 8),
        # 12 NICs, a link in each of 3 groups, one between every two
        ("dragonfly:groups=3,routers=2,hosts=2", 12, 6, 12 + 3 + 3),
        ("dragonfly:groups=3,routers=2,hosts=2,global_links=2", 12, 6, 12 + 3 + 6),
        # 12 NICs, 3 groups of 2 x 2, one between every two
        ("dragonfly_plus:groups=3,leaves=2,spines=2,hosts=2", 12, 12, 12 + 12 + 3),
        # 18 NICs, 9 routers of degree 4
        ("hyperx:dims=3x3,hosts=2", 18, 9, 18 + 18),
        # 50 NICs, 50 routers of degree 7
        ("slim_fly:q=5,hosts=1", 50, 50, 50 + 175),
        # 8 GPUs with two NICs, two planes of 2 x 2
        ("dual_plane:leaves=2,hosts=4,spines=2", 8, 8, 16 + 8),
    ],
)
def test_counts(spec, gpus, switches, links):
    topology = load_topology(spec)
    validate(topology)
    assert topology.name == spec
    assert (topology.num_compute, len(topology.switches)) == (gpus, switches)
    assert len(topology.links) == 2 * links


def test_the_optimum_of_a_clos_falls_with_the_oversubscription_of_its_cores():
    """8 shards leave a pod of 8 GPUs over 8 GB/s, or 8 / 32 at an oversubscription of 32.

    Without it a GPU binds: 15 shards enter it over 1 GB/s.
    """
    clos = "clos:pods=2,leaves=2,hosts=4,spines=2,cores=4"
    assert optimum(clos).algbw_gb_s == Fraction(16, 15)
    assert optimum(f"{clos},core_oversubscription=32").algbw_gb_s == Fraction(16, 8 * 4)


def test_two_planes_are_twice_one():
    """7 shards enter a GPU over one NIC or two."""
    one = optimum("dual_plane:leaves=2,hosts=4,spines=2,planes=1").algbw_gb_s
    assert (one, optimum("dual_plane:leaves=2,hosts=4,spines=2").algbw_gb_s) == (
        Fraction(8, 7),
        Fraction(16, 7),
    )


def test_a_gpu_is_in_the_box_of_its_router():
    topology = load_topology("hyperx:dims=2x2,hosts=3")
    assert [n.box for n in topology.nodes[:6]] == [0, 0, 0, 1, 1, 1]
    assert [n.index for n in topology.nodes[:6]] == [0, 1, 2, 0, 1, 2]


def test_bandwidths():
    topology = load_topology("dragonfly:groups=2,routers=2,hosts=1,bandwidth=5,local_bandwidth=2")
    assert sorted({e.bandwidth_gb_s for e in topology.links}) == [2, 5]
