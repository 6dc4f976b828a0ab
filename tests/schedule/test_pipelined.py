"""The model of time: loads of all phases over the bandwidth of the busiest link, exactly."""

from dataclasses import replace
from fractions import Fraction

import pytest

from forestcoll.errors import VerificationError
from forestcoll.schedule.forest import Path, Routes
from forestcoll.schedule.pipelined import flow_of_loads, link_loads, pipelined
from forestcoll.schedule.transform.factoring import as_factored
from tests.hand_networks import network_of
from tests.schedule.made.hand import leaves4, rails2, ring3
from tests.schedule.mutations_of.multicast import star


def test_trees_over_links_by_hand() -> None:
    """Two GPUs over s and t, links as ``rails2`` lists them: one tree over s, two over t."""
    assert link_loads(rails2()) == link_loads(as_factored(rails2()))
    net = rails2().topology
    over = {
        net.nodes[e.tail].name + net.nodes[e.head].name: trees
        for e, trees in zip(net.links, link_loads(rails2()), strict=True)
    }
    assert over == {"as": 1, "sb": 1, "bs": 1, "sa": 1, "at": 2, "tb": 2, "bt": 2, "ta": 2}


def test_one_phase_takes_its_congestion_over_its_trees() -> None:
    """Three trees over the 3 GB/s of a GPU, four trees a GB: 1/4 s; the first link is named."""
    flow = pipelined([leaves4()])
    assert flow.time_s_per_gb == Fraction(1, 4)
    assert flow.busiest_link == ("a", "x")
    assert flow.whole == 4
    assert pipelined([as_factored(leaves4())]) == flow
    assert pipelined([star()]).time_s_per_gb == Fraction(1, 12)  # three of four trees over 9 GB/s


def test_phases_of_different_k_are_added_in_a_common_unit() -> None:
    """A tree in three over each link, and two in six: loads 2 and 2 of 6 parts, 4/6 s."""
    one = ring3()
    paths = {
        link: tuple(Path(p.nodes, 2) for p in some) for link, some in one.routes.paths().items()
    }
    two = replace(one, k=2, multiplicity=2 * one.multiplicity, routes=Routes.from_paths(paths))
    flow = pipelined([one, two])
    assert (flow.whole, set(flow.loads)) == (6, {4})
    assert flow.time_s_per_gb == Fraction(2, 3)


def test_nothing_flows_in_no_time() -> None:
    """No link is the busiest; of equal ones it is the first, of others the slowest."""
    net = network_of("a b c", "a > b: 4, b > c, c > a: 1/2", "ring")
    nothing = flow_of_loads(net, [0, 0, 0], 5)
    assert (nothing.time_s_per_gb, nothing.busiest_link) == (0, None)
    flow = flow_of_loads(net, [8, 2, 1], 5)
    assert (flow.time_s_per_gb, flow.busiest_link) == (Fraction(2, 5), ("a", "b"))
    assert flow_of_loads(net, [8, 2, 2], 5).busiest_link == ("c", "a")


def test_a_path_over_no_link_is_refused() -> None:
    """The remedy is to verify it."""
    forest = rails2()
    paths = forest.routes.paths() | {(0, 1): (Path((0, 1), 3),)}
    with pytest.raises(VerificationError, match="a link that is not in the topology; verify it"):
        pipelined([replace(forest, routes=Routes.from_paths(paths))])
