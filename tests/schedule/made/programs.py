"""Schedules lowered and proved, for the tests of programs."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from forestcoll import Program, compile_program
from forestcoll.schedule import (
    Allreduce,
    Chunks,
    FlowSchedule,
    Forest,
    MulticastForest,
    Path,
    Routes,
    Send,
    Sends,
    StepSchedule,
    cost,
    stepwise,
    verify,
)
from forestcoll.schedule.allreduce import AnySchedule
from forestcoll.topology import Topology, load_topology

Any = AnySchedule | StepSchedule | FlowSchedule


COLLECTIVES = ("allgather", "reduce-scatter", "allreduce")


def check(schedule: Any, pipeline_chunks: int = 1) -> Program:
    """Lower a schedule; the steps of its program are right, and load the links as it does.

    Loopback brings a GPU what it has already: it is left out where deliveries are proved.
    """
    program = compile_program(schedule, pipeline_chunks)
    steps = stepwise(program)
    bare = (
        stepwise(compile_program(schedule, pipeline_chunks, loopback=False))
        if _loops(schedule)
        else steps
    )
    verdict = verify(bare)
    assert verdict.collective == schedule.collective
    if program.num_transfers:
        assert verdict.time_s_per_gb == cost(bare).time_s_per_gb
        assert cost(schedule).time_s_per_gb == cost(steps).time_s_per_gb
    return program


def _loops(schedule: Any) -> bool:
    phases = schedule.phases if isinstance(schedule, Allreduce) else (schedule,)
    return any(isinstance(phase, MulticastForest) and phase.loopback.any() for phase in phases)


def rows(program: Program) -> list[tuple[int, ...]]:
    """Chunk, first unit, amount, ends, and what each transfer needs."""
    columns = (program.chunk, program.first, program.amount, program.tail, program.head)
    table = zip(*(column.tolist() for column in columns), strict=True)
    return [(*row, *program.dependencies(t).tolist()) for t, row in enumerate(table)]


def line(gpus: int) -> Topology:
    return load_topology(f"torus:dims={gpus},wrap=false")


def by_hand(
    topology: Topology, collective: str, chunks: Chunks, sends: Sequence[Send]
) -> StepSchedule:
    """Transfers over the links between their ends."""
    ends = topology.ends
    pairs = {(send.tail, send.head) for send in sends}
    routes = Routes.from_paths({(a, b): (Path((ends[a], ends[b]), 1),) for a, b in pairs})
    return StepSchedule(topology, "by hand", collective, chunks, Sends.of(sends), routes)


def forest_of(steps: StepSchedule) -> Forest:
    """The trees of a schedule of one root, a chunk each."""
    gpus = steps.topology.num_compute
    parent = np.full((len(steps.chunks), gpus), -1, dtype=np.int32)
    sends = steps.sends
    near, far = (sends.head, sends.tail) if steps.reduction else (sends.tail, sends.head)
    parent[sends.chunk, far] = near
    edges = Counter(zip(sends.tail.tolist(), sends.head.tolist(), strict=True))
    paths = {edge: (Path(edge, trees),) for edge, trees in edges.items()}
    bandwidth = steps.topology.links[0].bandwidth_gb_s
    return Forest(
        topology=steps.topology,
        method="by hand",
        k=len(steps.chunks),
        congestion=max(edges.values()) / bandwidth,
        root=steps.chunks.root,
        multiplicity=np.ones(len(steps.chunks), dtype=np.int64),
        parent=parent,
        routes=Routes.from_paths(paths),
        weights=tuple(int(gpu == steps.chunks.root[0]) for gpu in range(gpus)),
        reduction=steps.reduction,
    )
