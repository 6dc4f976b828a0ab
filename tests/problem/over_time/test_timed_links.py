"""Links with latencies as whole numbers, in both directions."""

from dataclasses import replace
from fractions import Fraction

import pytest

from forestcoll.errors import InvalidParameterError
from forestcoll.problem.over_time.timed_links import TimedLinks, read_alpha
from forestcoll.topology import group
from tests.hand_networks import network_of

NETWORK = network_of("a b [s]", "a > s: 3/2 1/3, s > b: 2 1/2, b > a: 1")


def test_alpha_is_paid_by_sending_gpus():
    """In sixths of a microsecond: 1/3 + 10, 10 and 1/2, whose tail is a switch."""
    links = TimedLinks.of(NETWORK, Fraction(10), reduction=False)
    assert (links.denominator, links.ticks_per_us) == (2, 6)
    assert list(zip(links.tail, links.head, links.capacity, links.latency, strict=True)) == [
        (0, 2, 3, 62),
        (1, 0, 2, 60),
        (2, 1, 4, 3),
    ]


def test_a_reversed_link_has_the_latency_it_had():
    links = TimedLinks.of(NETWORK, Fraction(10), reduction=True)
    assert list(zip(links.tail, links.head, links.latency, strict=True)) == [
        (2, 0, 62),
        (0, 1, 60),
        (1, 2, 3),
    ]


def test_gpus_outside_the_group_cost_alpha_too():
    relayed = group(network_of("a b c", "a - b, b - c"), ["a", "c"], idle="forward")
    links = TimedLinks.of(relayed, Fraction(1), reduction=False)
    latency = {
        (relayed.nodes[t].name, relayed.nodes[h].name): one
        for t, h, one in zip(links.tail, links.head, links.latency, strict=True)
    }
    assert latency == {("a", "b"): 1, ("b", "a"): 1, ("b", "c"): 1, ("c", "b"): 1}


def test_bytes_become_units_of_capacity_and_time():
    """1000 bytes are 1 GB/s for 1 us: 2 units of 1/2 GB/s for 6 ticks."""
    links = TimedLinks.of(NETWORK, Fraction(10), reduction=False)
    assert links.amount(Fraction(1000)) == 12
    empty = TimedLinks.of(replace(NETWORK, links=()), Fraction(1), reduction=False)
    assert empty.amount(Fraction(1000)) == 1


@pytest.mark.parametrize(
    ("text", "alpha"),
    [
        ("10", 10),
        ("10us", 10),
        (" 2.5 us", "5/2"),
        ("250ns", "1/4"),
        ("10ms", 10000),
        (3, 3),
        (0, 0),
        ("1000000 ms", 10**9),
    ],
)
def test_alpha_has_units(text: str | int, alpha: int | str):
    assert read_alpha(text) == Fraction(alpha)


@pytest.mark.parametrize("text", ["10 h", "-1", "us", "ten", -1, 10**10])
def test_invalid_alphas_are_refused(text: str | int):
    with pytest.raises(InvalidParameterError, match="alpha"):
        read_alpha(text)
