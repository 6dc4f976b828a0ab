"""Step schedules by hand, of every collective, and what they cost link by link."""

import contextlib
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np

from baselines import METHODS
from forestcoll.errors import VerificationError
from forestcoll.problem.demand import Demand
from forestcoll.schedule import (
    Chunks,
    Clock,
    Path,
    Routes,
    Send,
    Sends,
    StepSchedule,
    lockstep,
    verify,
)
from forestcoll.topology import Topology, load_topology
from tests.schedule.made.programs import by_hand


def doubling(gpus: int = 4) -> StepSchedule:
    """Recursive doubling: everyone swaps all it has with a partner further and further off."""
    sends, distance = [], 1
    while distance < gpus:
        step = distance.bit_length() - 1
        sends += [Send(step, 0, v, v ^ distance, reduce=True) for v in range(gpus)]
        distance *= 2
    complete = load_topology(f"complete:nodes={gpus}")
    return by_hand(complete, "allreduce", Chunks.equal([-1], whole=1), sends)


def rotation(gpus: int = 3) -> StepSchedule:
    """An all-to-all of direct transfers, one to each GPU in each step."""
    pairs = [(a, (a + s) % gpus) for s in range(1, gpus) for a in range(gpus)]
    chunks = Chunks(
        size=np.ones(len(pairs), dtype=np.int64),
        whole=gpus,
        root=np.array([a for a, _ in pairs], dtype=np.int32),
        target=np.array([b for _, b in pairs], dtype=np.int32),
    )
    sends = [Send(c // gpus, c, a, b) for c, (a, b) in enumerate(pairs)]
    return by_hand(load_topology(f"complete:nodes={gpus}"), "all-to-all", chunks, sends)


def demanded(*, several: bool = True) -> StepSchedule:
    """On a ring one way: 2 bytes from 0 for 1 and 2, or for 2 alone, and 4 from 1 for 2."""
    topology = load_topology("ring:nodes=3,bidirectional=false")
    demand = Demand.of_chunks(3, [(0, 2, [1, 2] if several else [2]), (1, 4, [2])], "by layer")
    chunks = Chunks(
        size=np.array([1, 2], dtype=np.int64),
        whole=3,
        root=np.array([0, 1], dtype=np.int32),
        target=np.array([-1 if several else 2, 2], dtype=np.int32),
    )
    sends = [Send(0, 0, 0, 1), Send(0, 1, 1, 2), Send(1, 0, 1, 2)]
    return replace(by_hand(topology, "all-to-all", chunks, sends), demand=demand)


def ring_of(collective: str, spec: str = "mi250:boxes=2,gpus_per_box=8") -> StepSchedule:
    made = METHODS["ring"].run(load_topology(spec), collective)
    assert not isinstance(made, StepSchedule)
    return lockstep(made)


def relay(tick_us: Fraction = Fraction(1)) -> StepSchedule:
    """A broadcast of 3 kB along a line of 3 GPUs, links of 1 GB/s: 3 us each."""
    line = load_topology("torus:dims=3,wrap=false")
    made = by_hand(
        line, "broadcast", Chunks.equal([0], whole=1), [Send(0, 0, 0, 1), Send(1, 0, 1, 2)]
    )
    start = np.array([0, 3], dtype=np.int64)
    return replace(made, clock=Clock(3000, tick_us, start, start + 3))


SCHEDULES: dict[str, Callable[[], StepSchedule]] = {
    "recursive doubling": doubling,
    "all-to-all": rotation,
    "ring allgather": lambda: ring_of("allgather"),
    "ring reduce-scatter": lambda: ring_of("reduce-scatter"),
    "ring allreduce": lambda: ring_of("allreduce"),
    "timed broadcast": relay,
}


def link_times(made: StepSchedule) -> list[dict[tuple[int, int], Fraction]]:
    """Of each step, how long each link is busy for a gigabyte, path by path."""
    topology, paths = made.topology, made.routes.paths()
    times: list[dict[tuple[int, int], Fraction]] = [{} for _ in range(made.num_steps)]
    for send, step in enumerate(made.sends.step):
        size = Fraction(int(made.intervals.amount[send]), made.chunks.whole)
        ways = paths[int(made.sends.tail[send]), int(made.sends.head[send])]
        if (path := int(made.sends.paths[send])) >= 0:
            ways = ([way for some in paths.values() for way in some][path],)
        for way in ways:
            part = size * way.multiplicity / sum(other.multiplicity for other in ways)
            for hop in zip(way.nodes, way.nodes[1:], strict=False):
                time = part / topology.link_between[hop].bandwidth_gb_s
                times[step][hop] = times[step].get(hop, Fraction(0)) + time
    return times


def slowest_links(made: StepSchedule) -> Fraction:
    """The sum over the steps of the slowest link."""
    return sum((max(times.values()) for times in link_times(made)), Fraction(0))


def busiest(times: list[dict[tuple[int, int], Fraction]]) -> Fraction:
    """What the link takes that is busy for longest in all steps together."""
    total: dict[tuple[int, int], Fraction] = {}
    for step in times:
        for hop, time in step.items():
            total[hop] = total.get(hop, Fraction(0)) + time
    return max(total.values())


def with_clock(made: StepSchedule, **changes: object) -> StepSchedule:
    """The schedule with some columns of its clock changed by functions of them."""
    assert made.clock is not None
    return replace(made, clock=replace(made.clock, **changes))


def plus(column: np.ndarray, row: int, by: int) -> np.ndarray:
    changed = column.copy()
    changed[row] += by
    return changed


def broadcast(
    net: Topology, sends: Sends, ways: list[Path], chunks: Chunks | None = None
) -> StepSchedule:
    """From GPU 0 to GPU 1."""
    made = chunks or Chunks.equal([0], whole=1)
    return StepSchedule(net, "by hand", "broadcast", made, sends, Routes.from_paths({(0, 1): ways}))


def peak(made: StepSchedule) -> int:
    """Bytes that a proof takes, or a refusal."""
    tracemalloc.start()
    with contextlib.suppress(VerificationError):
        verify(made)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most
