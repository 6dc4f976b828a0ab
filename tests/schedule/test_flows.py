"""Flow schedules: what verify accepts, what it refuses, and what they cost."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from forestcoll.errors import VerificationError
from forestcoll.schedule import FlowSchedule, Path, Routes, cost, verify
from forestcoll.topology import NodeKind, Topology, TopologyBuilder, load_topology

Paths = dict[tuple[int, int], list[Path]]


def paths_round(gpus: int, whole: int = 2) -> Paths:
    """On a ring: the shorter way round, and half each way where both are as long."""
    paths: Paths = {}
    for a in range(gpus):
        for away in range(1, gpus):
            on = Path(tuple((a + i) % gpus for i in range(away + 1)), whole)
            back = Path(tuple((a - i) % gpus for i in range(gpus - away + 1)), whole)
            pair = a, (a + away) % gpus
            if 2 * away == gpus:
                halves = (replace(way, multiplicity=whole // 2) for way in (on, back))
                paths[pair] = list(halves)
            else:
                paths[pair] = [on if 2 * away < gpus else back]
    return paths


def ring(gpus: int = 4, bandwidth: str = "3") -> FlowSchedule:
    topology = load_topology(f"ring:nodes={gpus},bandwidth={bandwidth}")
    return FlowSchedule(topology, "by hand", 2, Routes.from_paths(paths_round(gpus)))


def switched() -> FlowSchedule:
    """Two GPUs joined directly by 1 GB/s and through a switch by 3 GB/s: a quarter and the rest."""
    builder = TopologyBuilder()
    a, b, switch = builder.gpu("a"), builder.gpu("b"), builder.switch("switch")
    builder.link(a, b, 1)
    for gpu in (a, b):
        builder.link(gpu, switch, 3)
    paths = {(0, 1): [Path((0, 1), 1), Path((0, 2, 1), 3)]}
    paths[1, 0] = [Path(path.nodes[::-1], path.multiplicity) for path in paths[0, 1]]
    return FlowSchedule(builder.build("two ways"), "by hand", 4, Routes.from_paths(paths))


SCHEDULES: dict[str, Callable[[], FlowSchedule]] = {
    "ring of 4": ring,
    "ring of 5": lambda: ring(5),
    "through a switch": switched,
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_cost_and_verify_agree_with_adding_up_path_by_path(name: str) -> None:
    made = SCHEDULES[name]()
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
    assert verdict.height == 2
    assert verdict.collective == "all-to-all"


def test_two_ways_by_hand():
    """A quarter over 1 GB/s, three over 3 GB/s: both full at 4 GB/s from GPU to GPU."""
    verdict = verify(switched())
    assert verdict.congestion == Fraction(1, 4)
    assert cost(switched()).time_s(10**9) == Fraction(1, 8)


def test_a_single_gpu_has_nothing_to_send():
    topology = Topology("alone", load_topology("ring:nodes=2").nodes[:1], ())
    verdict = verify(FlowSchedule(topology, "by hand", 1, Routes.from_paths({})))
    assert (verdict.deliveries, verdict.time_s_per_gb, verdict.algbw_gb_s) == (0, 0, None)


def test_a_relay_forwards_but_takes_no_part():
    """The middle of three GPUs in a line is outside the group."""
    line = load_topology("torus:dims=3,wrap=false")
    nodes = (line.nodes[0], replace(line.nodes[1], kind=NodeKind.RELAY), line.nodes[2])
    topology = Topology("line", nodes, line.links)
    routes = Routes.from_paths({(0, 1): [Path((0, 1, 2), 1)], (1, 0): [Path((2, 1, 0), 1)]})
    assert verify(FlowSchedule(topology, "by hand", 1, routes)).deliveries == 2


def with_paths(made: FlowSchedule, change: Callable[[Paths], None]) -> FlowSchedule:
    paths = {pair: list(ways) for pair, ways in made.routes.paths().items()}
    change(paths)
    return replace(made, routes=Routes.from_paths(paths))


def missing_pair(made: FlowSchedule) -> FlowSchedule:
    return with_paths(made, lambda paths: paths.pop((1, 0)) and None)


def extra_path(made: FlowSchedule) -> FlowSchedule:
    def change(paths: Paths) -> None:
        first = paths[0, 1][0]
        paths[0, 1].append(first)

    return with_paths(made, change)


def heavier_whole(made: FlowSchedule) -> FlowSchedule:
    return replace(made, whole=made.whole + 1)


def over_air(made: FlowSchedule) -> FlowSchedule:
    """A path goes back and forth between one node and itself."""

    def change(paths: Paths) -> None:
        way = paths[0, 1][0]
        paths[0, 1][0] = replace(way, nodes=(way.nodes[0], *way.nodes))

    return with_paths(made, change)


def round_trip(made: FlowSchedule) -> FlowSchedule:
    """A path returns to its start before it sets off for good."""

    def change(paths: Paths) -> None:
        way = paths[0, 1][0]
        paths[0, 1][0] = replace(way, nodes=(*way.nodes[:2], *way.nodes))

    return with_paths(made, change)


def wrong_end(made: FlowSchedule) -> FlowSchedule:
    def change(paths: Paths) -> None:
        paths[0, 1], paths[1, 0] = paths[1, 0], paths[0, 1]

    return with_paths(made, change)


def negative_weight(made: FlowSchedule) -> FlowSchedule:
    weight = made.routes.multiplicity.copy()
    weight[0] = -weight[0]
    return replace(made, routes=replace(made.routes, multiplicity=weight))


def to_itself(made: FlowSchedule) -> FlowSchedule:
    return with_paths(made, lambda paths: paths.update({(0, 0): [Path((0, 1, 0), made.whole)]}))


def unknown_rank(made: FlowSchedule) -> FlowSchedule:
    tail = made.routes.tail.copy()
    tail[-1] = made.topology.num_compute
    return replace(made, routes=replace(made.routes, tail=tail))


def float_weight(made: FlowSchedule) -> FlowSchedule:
    weight = made.routes.multiplicity.astype(np.float64)
    return replace(made, routes=replace(made.routes, multiplicity=weight))


def unsorted_pairs(made: FlowSchedule) -> FlowSchedule:
    routes = made.routes
    return replace(made, routes=replace(routes, tail=routes.tail[::-1].copy()))


def no_whole(made: FlowSchedule) -> FlowSchedule:
    return replace(made, whole=0)


MUTATIONS: dict[Callable[[FlowSchedule], FlowSchedule], str] = {
    missing_pair: "no path leads from",
    extra_path: "units of its part",
    heavier_whole: "units of its part",
    over_air: "has no such link",
    round_trip: "visits .* twice",
    wrong_end: "it must start at",
    negative_weight: "must be positive",
    to_itself: "paths to itself",
    unknown_rank: r"routes\.tail holds",
    float_weight: "signed integers",
    unsorted_pairs: "out of order|listed twice",
    no_whole: "must be a positive int",
}


@pytest.mark.parametrize("mutate", MUTATIONS)
@pytest.mark.parametrize("name", SCHEDULES)
def test_a_spoiled_schedule_is_refused(name: str, mutate) -> None:
    with pytest.raises(VerificationError, match=MUTATIONS[mutate]):
        verify(mutate(SCHEDULES[name]()))
