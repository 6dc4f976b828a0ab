"""Paths: over links of the network, as many as trees, none overloaded."""

import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from forestcoll.schedule.forest import Path, Routes
from forestcoll.schedule.verification import paths as paths_module
from forestcoll.schedule.verification.dispatch import verify
from forestcoll.schedule.verification.paths import busiest_group, busiest_link
from tests.hand_networks import network_of
from tests.schedule.made.hand import leaves4, star3
from tests.schedule.verification.rejecting import rejected


def test_overload_shows_load_bandwidth_and_claim() -> None:
    """At half the bandwidth claimed for, leaf x to leaf y carries 2 trees over 1 GB/s."""
    correct = leaves4()
    links = [
        replace(e, bandwidth_gb_s=Fraction(1)) if (e.tail, e.head) == (4, 5) else e
        for e in correct.topology.links
    ]
    narrow = replace(correct, topology=replace(correct.topology, links=tuple(links)))
    assert rejected(narrow) == (
        "link x -> y is overloaded: 2 trees over 1 GB/s make 2 trees per GB/s; "
        "the congestion claimed is 1"
    )


def test_overload_by_the_smallest_step_is_found() -> None:
    """Loads are compared exactly: U below the truth by 1e-30 is too little."""
    correct = replace(star3(), optimum=None)
    assert verify(correct).congestion == 1
    assert "overloaded" in rejected(replace(correct, congestion=1 - Fraction(1, 10**30)))


def test_route_without_use_is_an_error() -> None:
    """No tree of the star runs from a to c, so no path may."""
    correct = star3()
    paths = correct.routes.paths()
    paths[0, 2] = (Path((0, 3, 2), 1),)
    message = rejected(replace(correct, routes=Routes.from_paths(paths)))
    assert message == "logical link a -> c has physical paths, but no tree uses it; leave it out"


def test_path_from_a_gpu_to_itself_is_an_error() -> None:
    """A walk a -> w -> a serves no tree edge."""
    correct = star3()
    paths = correct.routes.paths()
    paths[0, 0] = (Path((0, 3, 0), 1),)
    message = rejected(replace(correct, routes=Routes.from_paths(paths)))
    assert "logical link a -> a" in message


def test_the_first_of_the_links_that_are_loaded_most_is_reported() -> None:
    """Loads over bandwidths, exactly; where nothing is loaded, the first link."""
    net = star3().topology
    names = [(net.nodes[link.tail].name, net.nodes[link.head].name) for link in net.links]
    nothing = np.zeros(len(net.links), dtype=np.int64)
    assert busiest_link(net, nothing) == (0, names[0])
    for busy in range(len(net.links)):
        load = nothing.copy()
        load[busy:] = 3
        most = Fraction(3) / net.links[busy].bandwidth_gb_s
        assert busiest_link(net, load) == (most, names[busy])


@pytest.mark.parametrize("unit", [1, 10**30])
@pytest.mark.parametrize("seed", range(10))
def test_links_of_several_bandwidths_are_compared_exactly(seed: int, unit: int) -> None:
    """Random loads over links of 1, 2 and 10/3 GB/s; beyond 64 bits, too."""
    draw = random.Random(seed)
    edges = ", ".join(
        f"{a} > {b}: {draw.choice(['1', '2', '10/3'])}" for a, b in ["ab", "ba", "ac", "cb"]
    )
    net = network_of("a b c", edges, "three")
    load = np.array([draw.randrange(1, 6) * unit for _ in net.links], dtype=object)
    load = load if unit > 1 else load.astype(np.int64)
    due = [
        trees / link.bandwidth_gb_s for trees, link in zip(load.tolist(), net.links, strict=True)
    ]
    link = net.links[due.index(max(due))]
    names = net.nodes[link.tail].name, net.nodes[link.head].name
    assert busiest_link(net, load) == (max(due), names)


def test_a_shared_capacity_may_be_loaded_most() -> None:
    """Two of several trees over 3 GB/s, and one over each link of 1 GB/s; the first such limit."""
    net = network_of("a b c", "a > b, b > c, c > a", "ring")
    load = np.array([1, 1, 1])
    limits = (
        ("one", ["a -> b"], 1),
        ("three", ["a -> b", "b -> c"], "2"),
        ("two", ["c -> a"], "1/2"),
    )
    assert busiest_link(net, load) == (1, ("a", "b"))
    for name, links, bandwidth in limits:
        net = net.with_shared(name, links, bandwidth)
    assert busiest_group(net, load) == (2, "two")
    assert busiest_link(net, load) == (2, ("two",))
    assert busiest_link(net, 3 * load) == (6, ("two",))
    wide = net.without("two")
    assert busiest_group(wide, load) == (1, "one")
    assert busiest_link(wide, load) == (1, ("a", "b"))
    assert busiest_group(wide.without("one"), load[:3] * [1, 4, 1]) == (Fraction(5, 2), "three")


@pytest.mark.parametrize("together", [1, 3])
def test_paths_may_be_checked_in_parts(together: int, monkeypatch: pytest.MonkeyPatch) -> None:
    proved = verify(leaves4())
    monkeypatch.setattr(paths_module, "_TOGETHER", together)
    assert verify(leaves4()) == proved


def test_a_gpu_within_a_path_is_named() -> None:
    """From a to c over w, b and w again: b is in the middle."""
    correct = star3()
    found = correct.routes.paths()
    tail, head = max(found)  # behind the ends of all others
    found[tail, head] = (Path((tail, 3, 3 - tail - head, 3, head), 1),)
    names = [correct.topology.nodes[v].name for v in (tail, head, 3 - tail - head)]
    message = rejected(replace(correct, routes=Routes.from_paths(found)))
    assert f"passes through {names[2]}, which is a GPU" in message
