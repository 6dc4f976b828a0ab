"""Small step schedules to transform."""

from dataclasses import replace
from fractions import Fraction

import numpy as np

from forestcoll.schedule import Chunks, Clock, Path, Routes, Send, Sends, StepSchedule
from forestcoll.topology import Topology
from tests.hand_networks import network_of


def line() -> Topology:
    """Three GPUs: a -> b -> c with 2 and 1 GB/s, and back with 4 and 8."""
    return network_of("a b c", "a > b: 2, b > c, b > a: 4, c > b: 8", "line")


def direct(topology: Topology, collective: str, chunks: Chunks, sends: Sends) -> StepSchedule:
    """Transfers over the links between their ends."""
    ends = topology.ends
    pairs = set(zip(sends.tail.tolist(), sends.head.tolist(), strict=True))
    routes = Routes.from_paths({(a, b): (Path((ends[a], ends[b]), 1),) for a, b in pairs})
    return StepSchedule(topology, "by hand", collective, chunks, sends, routes)


def relay(topology: Topology) -> StepSchedule:
    """A broadcast along the line."""
    sends = Sends.of([Send(0, 0, 0, 1), Send(1, 0, 1, 2)])
    return direct(topology, "broadcast", Chunks.equal([0], whole=1), sends)


def clocked(topology: Topology, tick_us: Fraction = Fraction(1, 4)) -> StepSchedule:
    """The same with a clock for 8 kB: each transfer takes what its link asks for."""
    hops = ((0, 1), (1, 2))
    needs = [int(8 / topology.link_between[hop].bandwidth_gb_s / tick_us) for hop in hops]
    end = np.cumsum(needs, dtype=np.int64)
    return replace(relay(topology), clock=Clock(8000, tick_us, end - np.array(needs), end))


def swap(topology: Topology, ways: dict[tuple[int, int], tuple[Path, ...]]) -> StepSchedule:
    """An allgather of two GPUs, over these paths."""
    sends = Sends.of([Send(0, 0, 0, 1), Send(0, 1, 1, 0)])
    chunks = Chunks.equal([0, 1], whole=2)
    routes = Routes.from_paths(ways)
    return StepSchedule(topology, "by hand", "allgather", chunks, sends, routes)


def on_spines(*, latency: int = 0) -> tuple[Topology, dict[tuple[int, int], list[tuple[int, ...]]]]:
    """Two GPUs, two switches between them, and the ways from each to the other."""
    ways = {(0, 1): [(0, 2, 1), (0, 3, 1)], (1, 0): [(1, 2, 0), (1, 3, 0)]}
    links = f"a b - one: 1 1, a b - two: 1 {1 + latency}"
    return network_of("a b [one] [two]", links, "two ways"), ways
