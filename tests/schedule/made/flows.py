"""Flow schedules by hand."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from forestcoll.problem.demand import Demand
from forestcoll.schedule import FlowSchedule, Path, Routes
from forestcoll.topology import load_topology
from tests.hand_networks import network_of

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
    net = network_of("a b [switch]", "a - b, a b - switch: 3", "two ways")
    paths = {(0, 1): [Path((0, 1), 1), Path((0, 2, 1), 3)]}
    paths[1, 0] = [Path(path.nodes[::-1], path.multiplicity) for path in paths[0, 1]]
    return FlowSchedule(net, "by hand", 4, Routes.from_paths(paths))


FLOWS: dict[str, Callable[[], FlowSchedule]] = {
    "ring of 4": ring,
    "ring of 5": lambda: ring(5),
    "through a switch": switched,
}


def unequal() -> FlowSchedule:
    """The same network with 12 bytes one way and 4 back, and the cut that proves 3 per GB/s."""
    made = switched()
    times = np.repeat([12, 4], 2)
    routes = replace(made.routes, multiplicity=made.routes.multiplicity * times)
    demand = Demand.of_matrix([[0, 12], [4, 0]], "12 and 4")
    price = tuple(int(link.tail == 0) for link in made.topology.links)
    return replace(made, routes=routes, demand=demand, price=price)


def among_three() -> FlowSchedule:
    """On a - b - c: 4 bytes from a to c, 2 from c to a and 2 from c to b, in whole bytes."""
    topology = network_of("a b c", "a - b: 2, b - c: 3", "line")
    paths = {(0, 2): [Path((0, 1, 2), 4)], (2, 0): [Path((2, 1, 0), 2)], (2, 1): [Path((2, 1), 2)]}
    demand = Demand.of_matrix([[0, 0, 4], [0, 0, 0], [2, 2, 0]], "three pairs")
    return FlowSchedule(topology, "by hand", 1, Routes.from_paths(paths), demand, (1, 0, 0, 0))
