"""Flow schedules: what they are, and what they cost."""

from fractions import Fraction

import pytest

from forestcoll.schedule import cost, verify
from tests.schedule.made.flows import FLOWS, ring, switched


@pytest.mark.parametrize("name", FLOWS)
def test_cost_and_verify_agree_with_adding_up_path_by_path(name: str) -> None:
    made = FLOWS[name]()
    verdict, found = verify(made), cost(made)
    load = dict.fromkeys(made.topology.link_between, 0)
    for ways in made.routes.paths().values():
        for way in ways:
            for hop in zip(way.nodes, way.nodes[1:], strict=False):
                load[hop] += way.multiplicity
    expected = max(
        Fraction(load[pair], made.whole) / link.bandwidth_gb_s
        for pair, link in made.topology.link_between.items()
    )
    assert verdict.congestion == expected
    assert verdict.time_s_per_gb == found.time_s_per_gb == expected / made.topology.num_compute
    assert verdict.busiest_link == found.busiest_link
    assert verdict.deliveries == made.topology.num_compute * (made.topology.num_compute - 1)
    assert not verdict.optimal


def test_ring_of_four_by_hand():
    """Over each link go one pair at distance 1, 2 halves at distance 2: 2 parts over 3 GB/s.

    So 1 GB from each GPU, parts of 1/4 GB, takes 2/4/3 = 1/6 s.
    """
    verdict = verify(ring())
    assert verdict.congestion == Fraction(2, 3)
    assert verdict.algbw_gb_s == 6
    assert verdict.depth == 2
    assert verdict.collective == "all-to-all"


def test_two_ways_by_hand():
    """A quarter over 1 GB/s, three over 3 GB/s: both full at 4 GB/s from GPU to GPU."""
    verdict = verify(switched())
    assert verdict.congestion == Fraction(1, 4)
    assert cost(switched()).time_s(10**9) == Fraction(1, 8)


def test_paths_are_counted_of_all_pairs() -> None:
    """Four GPUs: a path for each of 12 pairs, two for each of the 4 that are opposite."""
    assert (ring().num_paths, ring().collective) == (12 + 4, "all-to-all")
    assert ring() == ring()
    assert ring() != ring(bandwidth="4")
