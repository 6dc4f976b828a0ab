"""The cuts halfway between neighbours: the least bound of them, by hand."""

import numpy as np

from forestcoll import load_topology
from forestcoll.all_to_all.flow_problem import flow_problem
from forestcoll.all_to_all.grids.halfway_cut import halfway_cut
from tests.hand_networks import network_of
from tests.lp.networks import line


def test_a_line_is_cut_in_its_middle() -> None:
    """Of four: 2 x 2 pairs over one link, 1 x 3 over the others. The rate is 1/4."""
    problem = flow_problem(line(4))
    price = halfway_cut(problem)
    at = [(problem.tail[i], problem.head[i]) for i in np.flatnonzero(price)]
    assert at in ([(1, 2)], [(2, 1)])
    assert problem.bound_gb_s(price) == 1 / 4


def test_a_ring_is_cut_twice() -> None:
    """Six GPUs in halves: 3 x 3 pairs over two links each way."""
    problem = flow_problem(load_topology("ring:nodes=6"))
    price = halfway_cut(problem)
    assert price.sum() == 2
    assert abs(problem.bound_gb_s(price) - 2 / 9) < 1e-12


def test_a_dead_link_leaves_fewer_to_cross() -> None:
    """8 x 16 chips, 50 GB/s: 64 x 64 pairs cross 16 links, but 15 around the dead one."""
    whole = load_topology("tpu_v5e:dims=8x16")
    for topology, links in ((whole, 16), (whole.without("gpu0.0 - gpu0.1"), 15)):
        problem = flow_problem(topology)
        price = halfway_cut(problem)
        assert price.sum() == links
        assert abs(problem.bound_gb_s(price) - links * 50 / 64**2) < 1e-12


def test_bandwidths_and_demands_count() -> None:
    """On a line the wide middle is no bottleneck; and only the first has something to send."""
    wide = network_of("gpu0..3", "gpu0 - gpu1, gpu1 - gpu2: 5, gpu2 - gpu3")
    assert abs(flow_problem(wide).bound_gb_s(halfway_cut(flow_problem(wide))) - 1 / 3) < 1e-12
    amount = np.zeros((4, 4))
    amount[0, 3] = 2
    problem = flow_problem(wide, amount)
    assert problem.bound_gb_s(halfway_cut(problem)) == 1 / 2


def test_shared_capacities_have_no_price() -> None:
    problem = flow_problem(load_topology("pcie_box"))
    price = halfway_cut(problem)
    assert len(price) == len(problem.tail) + len(problem.limit) > len(problem.tail)
    assert not price[len(problem.tail) :].any()
