"""Flows over time by hand, and that their labels add up to the amount."""

import random
from fractions import Fraction

import pytest

from forestcoll.cut_over_time.flow_over_time import FlowOverTime
from forestcoll.problem.over_time.timed_links import TimedLinks
from tests.random_topologies import random_topology


def links_of(*links: tuple[int, int, int, int]) -> TimedLinks:
    tail, head, capacity, latency = zip(*links, strict=True)
    return TimedLinks(1 + max(tail + head), tail, head, capacity, latency, 1, 1)


def carried(links: TimedLinks, labels: list[Fraction]) -> Fraction:
    return sum(
        (
            b * max(Fraction(0), labels[h] - labels[t] - latency)
            for t, h, b, latency in zip(
                links.tail, links.head, links.capacity, links.latency, strict=True
            )
        ),
        start=Fraction(0),
    )


def test_two_paths_by_hand():
    """0 -> 1 directly: 1 a tick after 5; over 2: 2 a tick after 2 + 1. 6 units: 2 (6 - 3) = 6."""
    links = links_of((0, 1, 1, 5), (0, 2, 3, 2), (2, 1, 2, 1))
    flow = FlowOverTime(links, [0], [1])
    assert flow.least_time(Fraction(4)) == (5, [0, 5, 2])
    assert flow.least_time(Fraction(2)) == (4, [0, 4, 2])
    time, labels = flow.least_time(Fraction(10)) or (Fraction(0), [])
    assert time == 7
    assert 2 * (time - 3) + (time - 5) == 10
    assert carried(links, labels) == 10


def test_the_flow_is_rerouted_to_carry_more():
    """The shortest path 0 -> 2 -> 3 -> 1 blocks both others, which use one link of it each."""
    links = links_of((0, 2, 1, 0), (2, 3, 1, 0), (3, 1, 1, 0), (0, 3, 1, 2), (2, 1, 1, 2))
    flow = FlowOverTime(links, [0], [1])
    found = flow.least_time(Fraction(1))
    assert found is not None
    assert found[0] == 1
    # By 10: 10 over the short path alone, or 8 + 8 over the others.
    time, labels = flow.least_time(Fraction(16)) or (Fraction(0), [])
    assert time == 10
    assert carried(links, labels) == 16


def test_a_sink_without_links_has_no_time():
    assert FlowOverTime(links_of((0, 1, 1, 1)), [1], [0]).least_time(Fraction(1)) is None


@pytest.mark.parametrize("seed", range(30))
def test_labels_add_up_to_the_amount_at_every_time(seed: int):
    """Strong duality, with sources and sinks of several nodes and latencies 0 to 4."""
    network = random_topology(seed, "directed")
    chance = random.Random(seed)
    numbers = network.integer_capacities
    links = TimedLinks(
        len(network.nodes),
        numbers.tail.tolist(),
        numbers.head.tolist(),
        numbers.capacity.tolist(),
        [chance.randint(0, 4) for _ in network.links],
        1,
        1,
    )
    gpus = list(network.compute)
    sinks = gpus[: chance.randint(1, len(gpus) - 1)]
    sources = [gpu for gpu in gpus if gpu not in sinks]
    flow, before = FlowOverTime(links, sources, sinks), Fraction(0)
    for amount in (Fraction(1, 3), Fraction(5), Fraction(40), Fraction(1000), Fraction(10**6)):
        found = flow.least_time(amount)
        assert found is not None
        time, labels = found
        assert carried(links, labels) == amount
        assert all(0 <= label <= time for label in labels)
        assert {labels[v] for v in sources} == {0}
        assert {labels[v] for v in sinks} == {time}
        assert time > before
        before = time
