"""Reductions and allreduces out of forests that spread data."""

from fractions import Fraction

import pytest

from baselines.building.equal_trees import forest_of
from baselines.building.phases import collect
from baselines.networks.switch_paths import Router
from forestcoll import generate
from forestcoll.schedule import Allreduce, Forest, cost, verify
from forestcoll.topology import Topology, load_topology
from tests.hand_networks import network_of


def line() -> Topology:
    """Three GPUs: a -> b -> c with 2 and 1 GB/s, and back with 4 and 8."""
    return network_of("a b c", "a > b: 2, b > c, b > a: 4, c > b: 8", "line")


def chain(topology: Topology) -> Forest:
    """A broadcast from the first GPU along the line."""
    return forest_of(Router(topology), "by hand", {(-1, 0, 1): 1})


def test_what_spreads_data_is_taken_as_it_is() -> None:
    """M over 2 and over 1 GB/s."""
    made = collect(chain, line(), "broadcast")
    assert isinstance(made, Forest)
    assert verify(made).collective == "broadcast"
    assert made.time_s_per_gb == 1


def test_a_reduction_is_made_on_the_links_turned_round() -> None:
    """Sums run c -> b -> a over 8 and 4 GB/s, which the broadcast does not use."""
    made = collect(chain, line(), "reduce")
    assert isinstance(made, Forest)
    assert verify(made).collective == "reduce"
    assert made.topology == line()
    assert made.time_s_per_gb == Fraction(1, 4)


def test_an_allreduce_is_the_reduction_and_then_what_spreads_data() -> None:
    """In turn 1/4 s and 1 s per GB; at once, over links of their own, the longer of the two."""
    made = collect(chain, line(), "allreduce")
    assert isinstance(made, Allreduce)
    assert verify(made).collective == "allreduce"
    assert made.sequential_s_per_gb == Fraction(5, 4)
    assert cost(made).time_s_per_gb == 1


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "allreduce"])
def test_forests_of_all_roots_are_turned_alike(collective: str) -> None:
    """A ring of three, one way: two shards over each link in either phase."""

    def around(topology: Topology) -> Forest:
        step = 1 if (0, 1) in topology.link_between else -1
        before = [[(v - step) % 3 if v != root else -1 for v in range(3)] for root in range(3)]
        return forest_of(Router(topology), "by hand", {tuple(row): 1 for row in before})

    made = collect(around, load_topology("ring:nodes=3,bidirectional=false"), collective)
    phases = 2 if collective == "allreduce" else 1
    assert verify(made).collective == collective
    assert cost(made).time_s_per_gb == phases * Fraction(2, 3)


def test_a_network_that_is_its_own_mirror_image_is_asked_once() -> None:
    """The same trees both ways; where links are not alike both ways, each has its own."""
    asked: list[str] = []

    def spread(topology: Topology) -> Forest:
        asked.append(topology.name)
        return generate(topology).schedule

    both = load_topology("dgx_a100:boxes=2")
    made = collect(spread, both, "allreduce")
    assert len(asked) == 1
    verify(made)
    one_way = load_topology("ring:nodes=4,bidirectional=false")
    verify(collect(spread, one_way, "allreduce"))
    assert len(asked) == 3
