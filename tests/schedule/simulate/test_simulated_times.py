"""Simulations against an exact reference, simpy and the bounds."""

import random
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest

from forestcoll import compile_program, generate
from forestcoll.schedule import FlowSchedule, cost, lockstep, synchronous
from forestcoll.schedule.simulate import (
    AlphaBeta,
    Sharing,
    Simulator,
    least_latency_s,
)
from forestcoll.topology import Topology, TopologyBuilder
from tests.baselines.claims import CLAIMS, examples, make
from tests.baselines.once_each import once_each, others_slow
from tests.random_topologies import KINDS, random_topology, seeds
from tests.reference.simulation import Costs, fair_finish_s, jobs_of
from tests.reference.simulation_simpy import first_come_s, shared_links_s
from tests.schedule.made.types import TYPES, schedule

GB = 10**9
EXACTLY = 1e-9
"""Relative: simulations are in floating point."""

STATIC = [
    (method, collective, name)
    for method, claims in CLAIMS.items()
    for collective in claims
    for name in examples(method, collective)
]


@pytest.mark.parametrize(("method", "collective", "name"), others_slow(STATIC))
def test_lockstep_takes_the_synchronous_time(method: str, collective: str, name: str) -> None:
    """Of every method, unless a step needs itself, as where switches pass on what comes in.

    Where trees have several ways over a link, the cost divides them evenly and a program does not.
    """
    made: Any = make(method, collective, name)
    program = compile_program(made)
    if _needs_its_step(program):
        return
    due = _slowest_links(program)
    if not isinstance(made, FlowSchedule):
        steps = synchronous(made).time_s_per_gb
        assert due == steps or (method == "unwound" and due > steps)
    model = AlphaBeta(alpha_us=0, lockstep=True)
    found = Simulator(program).run(GB, model)
    events = Simulator(program).run(GB, model, events=True)
    assert found.time_s == pytest.approx(float(due), rel=EXACTLY)
    assert events.time_s == pytest.approx(found.time_s, rel=EXACTLY)


def _slowest_links(program: Any) -> Fraction:
    """Add up what the busiest link of each step takes, in seconds for a gigabyte."""
    load: dict[tuple[int, int, int], int] = {}
    rows = zip(*(getattr(program, c).tolist() for c in ("step", "path", "amount")), strict=True)
    for step, path, amount in rows:
        for link in pairwise(program.paths.nodes(path)):
            load[step, *link] = load.get((step, *link), 0) + amount
    slowest: dict[int, Fraction] = {}
    for (step, *ends), amount in load.items():
        bandwidth = program.topology.link_between[tuple(ends)].bandwidth_gb_s
        slowest[step] = max(slowest.get(step, Fraction(0)), amount / bandwidth)
    return sum(slowest.values(), start=Fraction(0)) / program.chunks.whole


def _needs_its_step(program: Any) -> bool:
    late = np.repeat(np.arange(program.num_transfers), np.diff(program.first_need))
    return bool((program.step[program.need] >= program.step[late]).any())


def _some(seed: int) -> tuple[Any, Any]:
    """A random topology and a schedule on it."""
    rng = random.Random(seed)
    topology = random_topology(seed, KINDS[seed % 3])
    collectives = ["allgather", "broadcast", "allreduce", "reduce-scatter", "reduce"]
    collective = rng.choice(collectives[: 2 if KINDS[seed % 3] == "unbalanced" else 5])
    root = {"root": 0} if collective in ("broadcast", "reduce") else {}
    made: Any = generate(topology, collective=collective, **root).schedule
    if seed % 4 == 3:
        made = lockstep(made)
    return made, rng


@pytest.mark.parametrize("seed", seeds(60, 15))
def test_fair_shares_are_those_of_an_exact_reference(seed: int) -> None:
    """Rates, rounds, classes and all: against fractions, transfer by transfer."""
    made, rng = _some(seed)
    program = compile_program(made)
    if program.num_transfers > 150:
        return
    alpha, gamma = Fraction(rng.randint(0, 40), 4), Fraction(rng.choice([0, 0, 1]), 7)
    pipeline_chunks, steps = rng.randint(1, 3), seed % 5 == 0
    size = rng.choice([1000, 10**6, 10**8])
    due = fair_finish_s(
        program,
        size,
        alpha_us=alpha,
        gamma_s_per_gb=gamma,
        pipeline_chunks=pipeline_chunks,
        lockstep=steps,
    )
    model = AlphaBeta(alpha_us=alpha, gamma_s_per_gb=gamma, lockstep=steps)
    for events in (False, True):
        found = Simulator(program).run(size, model, pipeline_chunks, events=events)
        assert found.time_s == pytest.approx(float(due), rel=EXACTLY)


@pytest.mark.parametrize("seed", seeds(60, 15))
def test_windows_costs_and_priorities_are_those_of_the_reference(seed: int) -> None:
    """Chunks of a window in their order, costs in between, ranks of chunks on shared links."""
    made, rng = _some(seed)
    program = compile_program(made)
    if program.num_transfers > 120:
        return
    alpha, gamma = Fraction(rng.randint(0, 40), 4), Fraction(rng.choice([0, 0, 1]), 7)
    costs = Costs(
        window=rng.choice([1, 2, 3, 5]),
        chunk=Fraction(rng.choice([0, 3, 11]), 10**6),
        message=Fraction(rng.choice([0, 7]), 10**6),
        priorities=seed % 2 == 0,
    )
    pipeline_chunks, size = rng.randint(1, 4), rng.choice([1000, 10**6, 10**8])
    due = fair_finish_s(
        program,
        size,
        alpha_us=alpha,
        gamma_s_per_gb=gamma,
        pipeline_chunks=pipeline_chunks,
        costs=costs,
    )
    model = AlphaBeta(
        alpha_us=alpha,
        gamma_s_per_gb=gamma,
        window=costs.window,
        chunk_cost_us=costs.chunk * 10**6,
        message_cost_us=costs.message * 10**6,
        priority="critical-path" if costs.priorities else "equal",
    )
    for events in (False, True):
        found = Simulator(program).run(size, model, pipeline_chunks, events=events)
        assert found.time_s == pytest.approx(float(due), rel=1e-7)


@pytest.mark.parametrize("name", TYPES)
def test_schedules_of_every_type_take_the_time_of_the_reference(name: str) -> None:
    """Those that the reference does in a second; all others within their bounds."""
    made = schedule(name)
    program = compile_program(made)
    found = Simulator(program).run(10**6, AlphaBeta(alpha_us=3), 2)
    again = Simulator(program).run(10**6, AlphaBeta(alpha_us=3), 2, events=True)
    assert again.time_s == pytest.approx(found.time_s, rel=EXACTLY)
    assert found.time_s > float(cost(made).time_s(10**6))
    if program.num_transfers < 100:
        due = fair_finish_s(program, 10**6, alpha_us=Fraction(3), pipeline_chunks=2)
        assert found.time_s == pytest.approx(float(due), rel=EXACTLY)


def unequal_links(seed: int) -> Topology:
    """GPUs joined directly by links of speeds that hardly ever make two things end at once."""
    rng = random.Random(seed)
    builder = TopologyBuilder()
    gpus = [builder.gpu(f"g{i}") for i in range(rng.randint(3, 5))]
    for a, b in product(gpus, gpus):
        if a < b and (int(b[1:]) == int(a[1:]) + 1 or rng.random() < 0.5):
            builder.link(a, b, rng.choice([101, 103, 107, 109, 113]), rng.randint(0, 3))
    return builder.build(f"unequal {seed}")


@pytest.mark.first_rows(5)
@pytest.mark.parametrize("seed", range(20))
def test_simpy_finds_the_same(seed: int) -> None:
    """First come, first served, and shared links, where ways are of one link."""
    rng = random.Random(seed)
    collective = rng.choice(["allgather", "reduce-scatter", "allreduce"])
    program = compile_program(generate(unequal_links(seed), collective=collective, k=1).schedule)
    jobs, rates = jobs_of(program, 10**7, Fraction(9), Fraction(0))
    jobs = [job for job in jobs if len(job.links) == 1]
    assert len(jobs) == program.num_transfers
    for pipeline_chunks in (1, 3):
        fair = Simulator(program).run(10**7, AlphaBeta(alpha_us=9), pipeline_chunks)
        assert fair.time_s == pytest.approx(shared_links_s(jobs, rates, pipeline_chunks), rel=1e-7)
        fifo = Simulator(program).run(
            10**7, AlphaBeta(alpha_us=9, sharing=Sharing.FIFO), pipeline_chunks
        )
        assert fifo.time_s == pytest.approx(first_come_s(jobs, rates, pipeline_chunks), rel=1e-7)


SOON = 80
"""Seeds that are not left to ``make test-all``; they share the schedules of the test above."""


@pytest.mark.first_rows(20)
@pytest.mark.parametrize("seed", seeds(500, SOON))
def test_no_simulation_beats_the_bounds(seed: int) -> None:
    """Neither the latency of the way to the farthest GPU, nor what the busiest link carries."""
    made, rng = _some(seed)
    if seed % 3 == 2:  # of others
        made = make(*rng.choice(STATIC if seed >= SOON else sorted(once_each(STATIC))))
    program = compile_program(made)
    size, pipeline_chunks = rng.choice([1, 1000, 10**6, 10**9]), rng.choice([1, 2, 5, 16])
    model = AlphaBeta(
        alpha_us=rng.choice([0, 1, 20]),
        sharing=rng.choice(list(Sharing)),
        lockstep=rng.random() < 0.2,
    )
    simulator = Simulator(program)
    found = simulator.run(size, model, pipeline_chunks)
    bandwidth = float(cost(made).time_s(size))
    root = int(program.chunks.root[0])
    latency = least_latency_s(program.topology, program.collective, model, max(root, 0))
    assert found.time_s >= max(bandwidth, latency) * (1 - EXACTLY)
    if model.sharing is Sharing.FAIR and not model.lockstep:  # the guarantee of its docstring
        hops = _longest_chain(program)
        each = float(model.alpha_us) / 10**6 * _most_senders(program)  # type: ignore[arg-type]
        each += max(float(e.latency_us) for e in program.topology.links) * 8e-6
        assert found.time_s <= (hops + pipeline_chunks - 1) * (
            each + bandwidth / pipeline_chunks
        ) * (1 + EXACTLY)


def _longest_chain(program: Any) -> int:
    """Of transfers that need one another; those of a message need what any of them does."""
    depth: list[int] = []
    for t in range(program.num_transfers):
        depth.append(1 + max((depth[need] for need in program.dependencies(t)), default=0))
    return max(depth) if (program.message < 0).all() else 10**6


def _most_senders(program: Any) -> int:
    nodes = program.topology.nodes
    paths = (program.paths.nodes(path) for path in range(len(program.paths)))
    return max(sum(not nodes[node].is_switch for node in path[:-1]) for path in paths)
