"""The time in which links are of no use, by hand."""

from dataclasses import replace
from fractions import Fraction

from forestcoll.cut_over_time.delay import delay_us, least_latencies
from forestcoll.topology import SharedCapacity
from tests.hand_networks import network_of


def test_least_latencies_by_hand():
    """0 -> 1 -> 2 costs 3, 0 -> 2 costs 4; nothing leads to 3."""
    assert least_latencies(4, [0, 1, 0], [1, 2, 2], [1, 2, 4], [0]) == [0, 1, 3, None]
    assert least_latencies(4, [0, 1, 0], [1, 2, 2], [1, 2, 4], [0, 1]) == [0, 0, 2, None]


def test_the_shortest_hop_between_gpus_counts():
    """A - s - b costs 1 + 1 and alpha; b - c directly costs 3 and alpha."""
    network = network_of("a b c [s]", "a b - s: 1 1, b - c: 1 3")
    assert delay_us(network, Fraction(5, 2)) == Fraction(9, 2)


def test_a_link_that_leads_nowhere_does_not_count():
    """S -> t ends at a switch without a way out."""
    network = network_of("a b [s] [t]", "a b - s: 1 4, s > t: 1")
    assert delay_us(network, Fraction(1)) == 9


def test_links_that_share_are_of_use_from_the_first_to_the_last():
    """A -> s is of use from 0 on, s -> b until the end."""
    network = network_of("a b [s]", "a b - s: 1 1")
    for links, delay in [(((0, 2), (2, 1)), 1), (((0, 2), (1, 2)), 4)]:
        shared = (SharedCapacity("wire", links, Fraction(1)),)
        assert delay_us(replace(network, shared=shared), Fraction(2)) == delay
