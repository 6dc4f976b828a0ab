"""Forests and their paths reversed."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from forestcoll import generate, load_topology
from forestcoll.errors import UnsupportedError
from forestcoll.schedule import (
    Chunks,
    Clock,
    Path,
    Routes,
    Send,
    Sends,
    StepSchedule,
    sequential,
    time_reversed,
    verify,
)
from forestcoll.schedule.clock import timed
from forestcoll.schedule.factored import Links
from forestcoll.schedule.sends import TimedSend
from forestcoll.schedule.transform.factoring import as_factored
from forestcoll.schedule.transform.reversal import (
    reversed_links,
    reversed_paths,
    reversed_routes,
    transposed,
)
from tests.hand_networks import network_of
from tests.schedule.made.hand import leaves4, rails2, star3
from tests.schedule.transform.schedules import direct, line, on_spines, relay


def test_turning_routes_twice_gives_them_back() -> None:
    """Links, paths and hops, in their order."""
    routes = leaves4().routes
    again = reversed_routes(reversed_routes(routes))
    for name in ("tail", "head", "first_path", "multiplicity", "first_hop", "hop"):
        assert np.array_equal(getattr(again, name), getattr(routes, name))
    turned = reversed_routes(routes).paths()
    for (tail, head), paths in routes.paths().items():
        back = [replace(path, nodes=path.nodes[::-1]) for path in paths]
        assert list(turned[head, tail]) == back
    assert reversed_routes(Routes.from_paths({})).paths() == {}


def test_an_allgather_turned_round_sums_up_on_the_turned_network() -> None:
    """The star's chain a -> b -> c becomes c -> b -> a: parents as before, paths backwards."""
    forest = star3()
    back = transposed(forest, forest.topology.reversed())
    assert (back.collective, back.reduction) == ("reduce-scatter", True)
    assert (back.parent == forest.parent).all()
    assert {
        link: [path.nodes for path in paths] for link, paths in back.routes.paths().items()
    } == {
        (1, 0): [(1, 3, 0)],
        (2, 1): [(2, 3, 1)],
        (0, 2): [(0, 3, 2)],
    }
    verdict = verify(back)
    assert verdict.optimal
    assert verdict.time_s_per_gb == forest.time_s_per_gb
    factored = transposed(as_factored(forest), forest.topology.reversed())
    assert verify(factored) == verdict


def test_links_keep_their_loads() -> None:
    """Sorted by their new tails: of loads 0->1: 5, 0->2: 7, 2->1: 9."""
    tail, head = np.array([0, 0, 2]), np.array([1, 2, 1])
    links = reversed_links(Links(tail, head, np.array([5, 7, 9])))
    assert links.tail.tolist() == [1, 1, 2]
    assert links.head.tolist() == [0, 2, 0]
    assert links.load.tolist() == [5, 9, 7]


def test_paths_are_found_again_in_turned_routes() -> None:
    """Each path, with its multiplicity, at the returned place."""
    for routes in (rails2().routes, leaves4().routes):
        place, reversed_links = reversed_paths(routes), reversed_routes(routes)
        assert sorted(place.tolist()) == list(range(len(routes.multiplicity)))
        for old, new in enumerate(place.tolist()):
            there = routes.hop[routes.first_hop[old] : routes.first_hop[old + 1]]
            back = reversed_links.hop[
                reversed_links.first_hop[new] : reversed_links.first_hop[new + 1]
            ]
            assert there.tolist() == back[::-1].tolist()
            assert routes.multiplicity[old] == reversed_links.multiplicity[new]


def test_routes_that_are_not_asked_for_are_not_turned() -> None:
    """Nor found."""
    forest = generate(load_topology("dgx_a100:boxes=2")).schedule
    back = transposed(forest, forest.topology)
    assert "hop" not in vars(forest.routes)
    assert len(back.routes.hop) == len(forest.routes.hop)
    assert "hop" in vars(forest.routes)


def test_prices_of_an_optimum_are_turned_with_the_forest() -> None:
    """A half-duplex ring looks the same turned round, so one phase is the other, prices too."""
    ring = load_topology("ring:nodes=4")
    for v in range(4):
        ring = ring.with_shared(f"wire {v}", f"gpu{v} - gpu{(v + 1) % 4}", 1)
    gather = generate(ring).schedule
    assert gather.optimum is not None
    assert gather.optimum.prices is not None
    back = transposed(gather, ring)
    assert verify(back).optimal
    assert verify(generate(ring, collective="allreduce").schedule).reduce.optimal


def test_a_gathering_turned_round_twice_is_itself() -> None:
    """Intervals, named paths, clock and messages come back as they were."""
    net, ways = on_spines()
    both = {link: tuple(Path(way, 1) for way in some) for link, some in ways.items()}
    sends, clock = timed(
        [
            TimedSend(0, 6, 0, 0, 1, first=0, amount=2, path=1, left=2, message=0),
            TimedSend(0, 6, 0, 0, 1, first=2, amount=1, path=1, left=2, message=0),
            TimedSend(1, 4, 0, 0, 1, first=3, amount=1, path=0, left=2),
            TimedSend(0, 8, 1, 1, 0, first=0, amount=4, path=2, left=6),
        ],
        4000,
    )
    there = StepSchedule(
        net,
        "by hand",
        "allgather",
        Chunks.equal([0, 1], 8, 4),
        sends,
        Routes.from_paths(both),
        clock,
    )
    verify(there)
    back = time_reversed(there, net)
    verdict = verify(back)
    assert verdict.collective == "reduce-scatter"
    assert back.clock is not None
    assert back.clock.start.tolist() == [0, 2, 2, 4]
    assert back.clock.left is not None
    assert back.clock.left.tolist() == [6, 4, 4, 5]
    assert back.sends.path is not None
    named = [(int(t), int(p)) for t, p in zip(back.sends.tail, back.sends.path, strict=True)]
    assert named == [(0, 0), (1, 3), (1, 3), (1, 2)]
    assert time_reversed(back, net) == there


def test_an_all_to_all_backwards_brings_chunks_from_targets_to_roots() -> None:
    """Two GPUs, a half each for the other."""
    net = load_topology("complete:nodes=2")
    roots, targets = np.array([0, 1], dtype=np.int32), np.array([1, 0], dtype=np.int32)
    chunks = Chunks(np.ones(2, dtype=np.int64), 2, roots, targets)
    there = direct(net, "all-to-all", chunks, Sends.of([Send(0, 0, 0, 1), Send(1, 1, 1, 0)]))
    back = time_reversed(there, net)
    verify(back)
    assert back.chunks.root.tolist() == [1, 0]
    assert back.sends.chunk.tolist() == [1, 0]


def test_an_allreduce_is_not_turned_round() -> None:
    """Its phases are."""
    allreduce = sequential(time_reversed(relay(line().reversed()), line()), relay(line()))
    with pytest.raises(UnsupportedError, match="turn its phases round"):
        time_reversed(allreduce, line().reversed())


def test_transfers_that_ended_together_start_together() -> None:
    """Backwards the steps number the former ends."""
    star = network_of("hub slow fast", "hub - slow, hub - fast: 2", "star")
    sends = Sends.of([Send(0, 0, 0, 1), Send(1, 0, 0, 2)])
    schedule = direct(star, "broadcast", Chunks.equal([0], whole=1), sends)
    start = np.array([0, 1], dtype=np.int64)
    clock = Clock(2000, Fraction(1), start, np.array([2, 2], dtype=np.int64))
    reduction = time_reversed(replace(schedule, clock=clock), star)
    verify(reduction)
    assert reduction.sends.step.tolist() == [0, 0]
    assert reduction.clock is not None
    assert sorted(reduction.clock.end.tolist()) == [1, 2]


@pytest.mark.parametrize("more", [Send(2, 0, 1, 2), Send(2, 0, 1, 0)])
def test_superfluous_transfers_cannot_be_reversed(more: Send) -> None:
    """A second copy, or one to the root, would be counted twice."""
    topology = load_topology("torus:dims=3,wrap=false")
    sends = [Send(0, 0, 0, 1), Send(1, 0, 1, 2), more]
    vain = direct(topology, "broadcast", Chunks.equal([0], whole=1), Sends.of(sends))
    with pytest.raises(UnsupportedError, match="a GPU gets what it has"):
        time_reversed(vain, topology)


def test_a_sum_that_is_sent_twice_cannot_be_turned_round() -> None:
    """Of two halves of it, one may be sent in each of two steps; one unit of it not."""
    topology = load_topology("complete:nodes=2")
    chunks = Chunks.equal([0], 2, 2)
    halves = [Send(step, 0, 1, 0, reduce=True, first=step, amount=1) for step in range(2)]
    verify(time_reversed(direct(topology, "reduce", chunks, Sends.of(halves)), topology))
    twice = [halves[0], halves[1]._replace(first=0)]
    with pytest.raises(UnsupportedError, match="a GPU sends what it has sent"):
        time_reversed(direct(topology, "reduce", chunks, Sends.of(twice)), topology)


def test_an_all_to_all_with_misdirected_data_is_not_reversed() -> None:
    """A GPU that gets a chunk besides would send it, backwards, to who has it."""
    complete = load_topology("complete:nodes=3")
    pairs = [(a, b) for a in range(3) for b in range(3) if a != b]
    chunks = Chunks(
        size=np.ones(6, dtype=np.int64),
        whole=3,
        root=np.array([a for a, _ in pairs], dtype=np.int32),
        target=np.array([b for _, b in pairs], dtype=np.int32),
    )
    rows = [Send(0, c, a, b) for c, (a, b) in enumerate(pairs)]

    def exchange(sends: list[Send]) -> StepSchedule:
        routes = Routes.from_paths({pair: (Path(pair, 1),) for pair in pairs})
        return StepSchedule(complete, "by hand", "all-to-all", chunks, Sends.of(sends), routes)

    assert verify(time_reversed(exchange(rows), complete)).collective == "all-to-all"
    astray = exchange([*rows, Send(0, 0, 0, 2)])
    verify(astray)
    with pytest.raises(UnsupportedError, match="a GPU sends what it has sent"):
        time_reversed(astray, complete)
