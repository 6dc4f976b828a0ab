"""How two networks differ, line by line."""

from collections.abc import Callable

import pytest

from forestcoll.topology import TopologyBuilder
from forestcoll.topology.differences import differences


def net(change: Callable[[TopologyBuilder], None] | None = None) -> TopologyBuilder:
    """GPUs a and b on the switch hub, and a direct link from a to b."""
    builder = TopologyBuilder()
    builder.gpu("a", box=0), builder.gpu("b", box=1)
    builder.switch("hub", multicast=True)
    for gpu in "ab":
        builder.link(gpu, "hub", 2)
    builder.arc("a", "b", 1, latency=3)
    if change:
        change(builder)
    return builder


def differences_of(one: TopologyBuilder, other: TopologyBuilder) -> list[str]:
    return list(differences(one.build("one"), other.build("other")))


def test_equal_networks_do_not_differ() -> None:
    """Whatever they are called; and boxes and numbers do not matter, nor the place of a switch."""
    other = TopologyBuilder()
    other.switch("hub", multicast=True)
    other.gpu("a", box=4, index=1), other.gpu("b")
    other.arc("a", "b", 1, latency=3)
    for gpu in "ba":
        other.link(gpu, "hub", 2)
    assert differences_of(net(), other) == []


def test_parts_of_one_network_only_are_listed() -> None:
    """Both ways round: a third GPU, with a link to the hub."""
    more = net(lambda builder: builder.arc(builder.gpu("c"), "hub", 1))
    assert differences_of(net(), more) == ["compute node c is new", "c -> hub is new"]
    assert differences_of(more, net()) == ["compute node c is missing", "c -> hub is missing"]


@pytest.mark.parametrize(
    ("change", "lines"),
    [
        (lambda b: b.arc("a", "b", "1/2"), ["a -> b has 3/2 GB/s, not 1"]),
        (
            lambda b: b.arc("a", "b", 1, latency=5),
            ["a -> b has 2 GB/s, not 1", "a -> b takes 5 us"],
        ),
    ],
)
def test_links_that_differ(change: Callable[[TopologyBuilder], None], lines: list[str]) -> None:
    """Parallel links add up, and take the longer time."""
    found = differences_of(net(), net(change))
    assert len(found) == len(lines)
    assert all(line.startswith(start) for line, start in zip(found, lines, strict=True))


def test_kinds_and_marks_and_ranks_are_compared() -> None:
    """Here b comes before a, and the hub neither copies nor is what it was."""
    other = TopologyBuilder()
    other.gpu("b"), other.gpu("a")
    other.switch("hub", stores=True)
    for gpu in "ab":
        other.link(gpu, "hub", 2)
    other.arc("a", "b", 1, latency=3)
    assert differences_of(net(), other) == [
        "hub is a switch node with stores, not a switch node with multicast",
        "rank 0 is b, not a",
        "rank 1 is a, not b",
    ]
