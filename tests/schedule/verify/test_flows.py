"""Flow schedules: what verify accepts, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from forestcoll.errors import VerificationError
from forestcoll.schedule import FlowSchedule, Path, Routes, verify
from forestcoll.topology import NodeKind, Topology, load_topology
from tests.schedule.made.flows import FLOWS, Paths


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
@pytest.mark.parametrize("name", FLOWS)
def test_a_spoiled_schedule_is_refused(name: str, mutate) -> None:
    with pytest.raises(VerificationError, match=MUTATIONS[mutate]):
        verify(mutate(FLOWS[name]()))
