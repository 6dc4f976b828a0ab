"""Marked switches: which join GPUs, and networks with fewer marks."""

from baselines.networks.marked_switches import joining, marked_only, on_paths, router_by_switches
from tests.hand_networks import network_of

NETWORK = network_of("a b c [s*] [t*]", "a b - s, c - t, s - t, a - b")


def test_joining_finds_all_switches_between_gpus() -> None:
    """A and b meet at s, although they have a link; c lies behind t."""
    a, b, c, s, t = range(5)
    router = router_by_switches(NETWORK)
    assert joining(router, [a, b]) == {s}
    assert joining(router, [a, c]) == {s, t}
    assert on_paths(router, [a, b]) == [{a, s, b}, {b, s, a}]


def test_other_marks_are_taken_away() -> None:
    some = marked_only(NETWORK, {4})
    assert [node.multicast for node in some.nodes] == [False, False, False, False, True]
    assert some.links == NETWORK.links


def test_without_other_marks_the_network_stays_the_same_object() -> None:
    """So its router is not built again."""
    assert marked_only(NETWORK, {0, 3, 4}) is NETWORK
    assert marked_only(NETWORK, {3}) is not NETWORK
