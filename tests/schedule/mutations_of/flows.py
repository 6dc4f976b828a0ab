"""Flow schedules with one thing wrong, and what verify says of each."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from forestcoll.schedule import FlowSchedule, Path, Routes
from tests.schedule.made.flows import Paths


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


FLOW_MUTATIONS: dict[Callable[[FlowSchedule], FlowSchedule], str] = {
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
