"""SCCL: what exists, what is proved not to, and that the encoding is the paper's."""

import os
import random
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from ortools.sat.python import cp_model

from baselines import METHODS
from baselines.synthesizers.sccl import generate, pareto
from baselines.synthesizers.sccl.constraints import Deadline, Instance, solve
from baselines.synthesizers.sccl.network import Group, Network, bounds, direct
from forestcoll.errors import (
    InfeasibleError,
    InvalidParameterError,
    TimeLimitError,
    UnsupportedError,
    VerificationError,
)
from forestcoll.problem.limits import Limits
from forestcoll.schedule import StepSchedule, cost, in_steps, verify
from forestcoll.topology import Node, NodeKind, Topology, TopologyBuilder, load_topology
from tests.baselines.dgx1 import NVLINKS, dgx1
from tests.schedule.mutations_of.steps import STEP_MUTATIONS


def network_named(name: str) -> Topology:
    return dgx1() if name == "dgx1" else load_topology(name)


def shard_rounds(schedule: StepSchedule) -> Fraction:
    """The time in steps, in that of a shard (all a root has) on one unit of bandwidth: R/C."""
    _, unit = direct(schedule.topology)
    roots = len({int(root) for root in schedule.chunks.root})
    return in_steps(schedule).time_s_per_gb * unit * roots


# --- the outcomes of SCCL's public code, with z3 ------------------------------------------------

SATISFIABLE = [
    ("dgx1", 1, 2, 2),
    ("dgx1", 2, 2, 3),
    ("dgx1", 3, 3, 4),
    ("dgx1", 6, 3, 7),
    ("hypercube:dimension=3", 1, 3, 3),
    ("hypercube:dimension=3", 2, 3, 5),
    ("hypercube:dimension=3", 3, 3, 7),
    ("torus:dims=3x3", 1, 2, 2),
    ("torus:dims=3x3", 2, 2, 4),
    ("torus:dims=3x3", 3, 2, 6),
    ("hypercube:dimension=4", 1, 4, 4),
]


@pytest.mark.parametrize(("name", "chunks", "steps", "rounds"), SATISFIABLE)
def test_schedules_that_sccl_finds_exist(name: str, chunks: int, steps: int, rounds: int) -> None:
    """As SCCL's public code finds with z3: chunks, steps and rounds (DGX-1: PPoPP 2021, Table 4).

    The cost is at most R/C shards on a unit of bandwidth. It is R/C where fewer rounds are ruled
    out by the flow bound and every link has one unit (a step then takes whole rounds), or where
    R/C is the bound itself.
    """
    topology = network_named(name)
    schedule = generate(topology, chunks=chunks, steps=steps, rounds=rounds)
    assert verify(schedule).steps == steps
    assert len(schedule.chunks) == chunks * topology.num_compute
    assert len(schedule.sends) == len(schedule.chunks) * (topology.num_compute - 1)
    least = bounds(topology, (1,) * topology.num_compute)
    assert least.rounds_per_chunk <= shard_rounds(schedule) <= Fraction(rounds, chunks)
    if name != "dgx1" or Fraction(rounds, chunks) == least.rounds_per_chunk:
        assert shard_rounds(schedule) == Fraction(rounds, chunks)


@pytest.mark.parametrize(
    ("chunks", "steps", "rounds", "by_bound"), [(2, 2, 2, True), (3, 2, 4, False)]
)
def test_schedules_that_sccl_refutes_do_not_exist(
    chunks: int, steps: int, rounds: int, by_bound: bool
) -> None:
    """2:2:2 on DGX-1 is below the flow bound of 7/6 rounds a chunk; 3:2:4 takes a search.

    Both are unsatisfiable for SCCL's public code with z3. CP-SAT says so of both.
    """
    topology = dgx1()
    with pytest.raises(InfeasibleError, match=f"proved that there is no allgather of {chunks} ch"):
        generate(topology, chunks=chunks, steps=steps, rounds=rounds)
    network, _ = direct(topology)
    assert (bounds(topology, (1,) * 8).rounds(chunks) > rounds) == by_bound
    for symmetry in (True, False):
        instance = Instance(network, tuple(range(8)), chunks, steps, rounds)
        assert solve(instance, symmetry=symmetry, deadline=Deadline(Limits())) is None


def test_dgx1_is_the_hybrid_cube_mesh() -> None:
    """Six NVLinks a GPU, so 7 shards enter over 6 links: 7/6; two hops lead everywhere."""
    assert all(sum(row) == 6 for row in NVLINKS)
    assert np.array_equal(np.array(NVLINKS), np.array(NVLINKS).T)
    assert bounds(dgx1(), (1,) * 8).rounds_per_chunk == Fraction(7, 6)
    assert bounds(dgx1(), (1,) * 8).steps == 2


# --- the encoding -------------------------------------------------------------------------------


def paper_says(instance: Instance) -> bool:
    """Decide an instance by the paper's own variables: start and send apart, no pruning."""
    network, steps = instance.network, instance.steps
    model = cp_model.CpModel()
    rounds = [model.new_int_var(1, instance.rounds, "") for _ in range(steps)]
    model.add(sum(rounds) <= instance.rounds)
    load: dict[tuple[tuple[int, int], int], list[cp_model.IntVar]] = {}
    for root, _ in product(instance.roots, range(instance.chunks)):
        start = [model.new_int_var(0, 0 if v == root else steps, "") for v in range(network.size)]
        send = {link: model.new_bool_var("") for link in network.links}
        for v in range(network.size):
            model.add(sum(send[link] for link in network.into[v]) == (v != root))
        for (tail, head), sent in send.items():
            model.add(start[tail] < start[head]).only_enforce_if(sent)
            for step in range(steps):
                now = model.new_bool_var("")
                model.add(start[head] != step + 1).only_enforce_if(sent, ~now)
                load.setdefault(((tail, head), step), []).append(now)
    for group, step in product(network.groups, range(steps)):
        sends = [now for link in group.links for now in load[link, step]]
        model.add(sum(sends) <= group.copies * rounds[step])
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    status = solver.solve(model)
    assert status in (cp_model.OPTIMAL, cp_model.FEASIBLE, cp_model.INFEASIBLE)
    return status != cp_model.INFEASIBLE


def small_network(rng: random.Random) -> Network:
    """Four GPUs on a one-way ring with chords, and at times a port shared by what leaves a GPU."""
    ring = {(v, (v + 1) % 4) for v in range(4)}
    chords = {(a, b) for a in range(4) for b in range(4) if a != b and rng.random() < 0.4}
    links = tuple(sorted(ring | chords))
    groups = [Group((link,), rng.randint(1, 2)) for link in links]
    if rng.random() < 0.5:
        groups.append(Group(tuple(link for link in links if link[0] == 0), 1))
    return Network(4, links, tuple(groups))


def test_the_encoding_decides_as_the_papers() -> None:
    """On random networks, with and without symmetry, as the paper's start and send do."""
    rng = random.Random(5)
    outcomes = []
    for _ in range(40):
        network = small_network(rng)
        roots = (0, 1, 2, 3) if rng.random() < 0.5 else (rng.randrange(4),)
        steps = rng.randint(1, 3)
        rounds = rng.randint(steps, steps + 2)
        instance = Instance(network, roots, rng.randint(1, 2), steps, rounds)
        expected = paper_says(instance)
        for symmetry in (True, False):
            found = solve(instance, symmetry=symmetry, deadline=Deadline(Limits()))
            assert (found is not None) == expected, instance
        outcomes.append(expected)
    assert 10 <= sum(outcomes) <= 30


def test_links_of_a_group_share_its_rounds() -> None:
    """Three GPUs, all joined: one step of one round; if each has one port out, two rounds."""
    links = tuple((a, b) for a in range(3) for b in range(3) if a != b)
    alone = tuple(Group((link,), 1) for link in links)
    ports = tuple(Group(tuple(link for link in links if link[0] == gpu), 1) for gpu in range(3))

    def exists(groups: tuple[Group, ...], steps: int, rounds: int) -> bool:
        instance = Instance(Network(3, links, groups), (0, 1, 2), 1, steps, rounds)
        return solve(instance, symmetry=True, deadline=Deadline(Limits())) is not None

    assert exists(alone, 1, 1)
    assert not exists(alone + ports, 1, 1)
    assert exists(alone + ports, 1, 2)


def test_rounds_are_filled_as_the_solution_says() -> None:
    """In each step every link carries at most its copies times the rounds of the step."""
    network, _ = direct(dgx1())
    instance = Instance(network, tuple(range(8)), 2, 2, 3)
    found = solve(instance, symmetry=True, deadline=Deadline(Limits()))
    assert found is not None
    assert sum(found.rounds) == 3
    for group, (step, rounds) in product(network.groups, enumerate(found.rounds)):
        sends = [s for s in found.sends if s.step == step and (s.tail, s.head) in group.links]
        assert len(sends) <= group.copies * rounds


def test_a_step_over_wide_links_alone_costs_less_than_a_round() -> None:
    """On the line a = b - c the link a-b has two units, so a broadcast leaves half a round idle.

    The unit is 10 GB/s: 1/2 + 1 rounds of 1/10 s per GB, where SCCL counts 2 rounds.
    """
    builder = TopologyBuilder()
    for name in "abc":
        builder.gpu(name)
    builder.link("a", "b", 20)
    builder.link("b", "c", 10)
    line = builder.build("line")
    schedule = generate(line, "broadcast", steps=2, rounds=2, root="a")
    assert direct(line)[1] == 10
    assert in_steps(schedule).time_s_per_gb == Fraction(3, 20)
    assert cost(schedule).time_s_per_gb == Fraction(2, 20)
    with pytest.raises(InfeasibleError):
        generate(line, "broadcast", steps=1, root="a")


@pytest.mark.parametrize("name", ["allgather", "allreduce"])
def test_steps_without_use_are_left_out(name: str) -> None:
    """Two GPUs need one step, or two of an allreduce, however many they may take."""
    schedule = generate(load_topology("ring:nodes=2"), name, steps=4, rounds=6)
    assert verify(schedule).steps == (1 if name == "allgather" else 2)


# --- what is to be the least --------------------------------------------------------------------


@pytest.mark.parametrize(("chunks", "steps", "time_us"), [(1, 2, "3.4"), (2, 3, "5.1")])
def test_least_steps_take_the_published_times(chunks: int, steps: int, time_us: str) -> None:
    """TE-CCL (SIGCOMM 2024), Table 3: SCCL's least steps on DGX-1, chunks of 25 KB, 0.7 us a step.

    A chunk takes 1 us on an NVLink of 25 GB/s, so S steps of one round take 1.7 S us: 3.4 and 5.1.
    For 3 chunks 8 us are published; ours takes 4 steps, 6.8 us, which no S times 1.7 can explain.
    """
    schedule = generate(dgx1(), chunks=chunks)
    assert verify(schedule).steps == steps
    assert steps * (Fraction("0.7") + 1) == Fraction(time_us)


def test_least_steps_for_given_rounds() -> None:
    """On DGX-1 3 chunks in 4 rounds: 2 steps are proved too few."""
    assert verify(generate(dgx1(), chunks=3, rounds=4)).steps == 3


def test_least_rounds_for_given_steps() -> None:
    """On DGX-1 3 chunks in 2 steps take 5 rounds, as 4 are too few."""
    schedule = generate(dgx1(), chunks=3, steps=2)
    assert verify(schedule).steps == 2
    assert shard_rounds(schedule) <= Fraction(5, 3)
    assert verify(generate(dgx1(), chunks=3, steps=2, rounds=5)).steps == 2


def test_pareto_frontier_of_dgx1() -> None:
    """SCCL's Algorithm 1 with k = 2, to 3 steps: 4/3 rounds a chunk are too few in 2 steps."""
    points = list(pareto(dgx1(), extra_rounds=2, most_steps=3))
    tried = [(p.chunks, p.steps, p.rounds, p.outcome) for p in points]
    assert tried == [(3, 2, 4, "unsat"), (2, 2, 3, "sat"), (4, 3, 5, "sat")]
    for point in points:
        if point.schedule is not None:
            assert verify(point.schedule).steps == point.steps
            assert shard_rounds(point.schedule) <= point.rounds_per_chunk


def test_pareto_may_be_told_where_to_end() -> None:
    """With R = S on a one-way ring of 3 the bound of 2 is met at once; on DGX-1 not in 4 steps."""
    ring = list(pareto(load_topology("ring:nodes=3,bidirectional=false")))
    assert [(p.chunks, p.steps, p.rounds, p.outcome) for p in ring] == [(1, 2, 2, "sat")]
    frontier = [p for p in pareto(dgx1(), most_steps=4) if p.outcome == "sat"]
    assert [(p.chunks, p.steps, p.rounds) for p in frontier] == [(1, 2, 2), (2, 3, 3), (3, 4, 4)]


def test_pareto_says_what_it_does_not_know() -> None:
    """With no time every outcome is unknown, and nothing is called proved."""
    points = list(pareto(dgx1(), most_steps=3, limits=Limits(seconds=0)))
    assert [p.outcome for p in points] == ["unknown"] * 3
    assert all(p.schedule is None for p in points)


# --- other collectives --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "spec", ["dgx1", "ring:nodes=4,bidirectional=false", "torus:dims=2x3,wrap=false"]
)
@pytest.mark.parametrize("name", METHODS["sccl"].collectives)
def test_every_collective_is_delivered(name: str, spec: str) -> None:
    """Reductions run backwards on the reversed network; an allreduce takes both phases."""
    topology = network_named(spec)
    schedule = METHODS["sccl"].run(topology, name)
    assert isinstance(schedule, StepSchedule)
    verdict = verify(schedule)
    assert (schedule.method, verdict.collective) == ("sccl", name)
    one_way = {"reduce-scatter": "allgather", "allreduce": "allgather", "reduce": "broadcast"}
    alone = generate(topology, one_way.get(name, name))
    assert verdict.steps == alone.num_steps * (2 if name == "allreduce" else 1)


def test_an_allreduce_with_a_root_is_a_reduce_and_a_broadcast() -> None:
    """On a line of three from the middle: one step each way; from an end: two."""
    line = load_topology("torus:dims=3,wrap=false")
    for root, steps in ((1, 2), (0, 4)):
        schedule = generate(line, "allreduce", root=root)
        assert verify(schedule).steps == steps
        assert len(schedule.chunks) == 1


@pytest.mark.parametrize("mutation", STEP_MUTATIONS)
@pytest.mark.parametrize("name", ["allgather", "allreduce", "broadcast"])
def test_corrupted_schedules_are_rejected(name: str, mutation: str) -> None:
    """What verify accepts stops being acceptable when anything is changed."""
    mutate, message = STEP_MUTATIONS[mutation]
    schedule = generate(dgx1(), name, chunks=2)
    with pytest.raises(VerificationError, match=message):
        verify(mutate(schedule))


# --- limits, sameness, what it does not do -------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "seconds"), [("hypercube:dimension=3", 0.0), ("torus:dims=8x8", 1.0)]
)
def test_time_that_is_up_proves_nothing(spec: str, seconds: float) -> None:
    """Before the start, and while writing down or solving: no InfeasibleError, but the limit."""
    with pytest.raises(TimeLimitError, match=f"no answer within {seconds} s; open: 1 chunks") as up:
        generate(load_topology(spec), limits=Limits(seconds=seconds))
    steps = bounds(load_topology(spec), (1,) * load_topology(spec).num_compute).rounds(1)
    assert up.value.incumbent is None
    assert up.value.bound == (1, steps, steps)


def test_several_threads_find_the_same_each_time() -> None:
    """They take turns."""
    found = [generate(dgx1(), chunks=2, limits=Limits(threads=2)) for _ in range(2)]
    verify(found[0])
    for row in ("step", "chunk", "tail", "head"):
        assert np.array_equal(getattr(found[0].sends, row), getattr(found[1].sends, row))


def test_another_process_finds_the_same() -> None:
    """Its sets are in another order."""
    program = """
from baselines.synthesizers.sccl import generate
from forestcoll.topology import load_topology
sends = generate(load_topology("hypercube:dimension=3"), chunks=2).sends
print([sends.step.tolist(), sends.chunk.tolist(), sends.tail.tolist(), sends.head.tolist()])
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONHASHSEED": "1"},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    sends = generate(load_topology("hypercube:dimension=3"), chunks=2).sends
    here = [sends.step.tolist(), sends.chunk.tolist(), sends.tail.tolist(), sends.head.tolist()]
    assert done.stdout == f"{here}\n"


def apart() -> Topology:
    return Topology("apart", (Node("a", NodeKind.COMPUTE), Node("b", NodeKind.COMPUTE)), ())


def one_way() -> Topology:
    builder = TopologyBuilder()
    for name in "ab":
        builder.gpu(name)
    builder.arc("a", "b", 1)
    return builder.build("one way")


@pytest.mark.parametrize(
    ("topology", "collective", "message"),
    [
        (
            lambda: load_topology("dgx_a100:boxes=1"),
            "allgather",
            ".* has the switch .* direct links",
        ),
        (lambda: load_topology("mi250:boxes=2"), "allreduce", ".* has the switch .* direct links"),
        (
            lambda: Topology("alone", (Node("gpu", NodeKind.COMPUTE),), ()),
            "broadcast",
            "alone has 1 GPUs; a collective needs two",
        ),
        (apart, "allgather", "apart has no links"),
        (one_way, "reduce-scatter", "links do not lead from a to b|from b to a in one way"),
        (dgx1, "all-to-all", "sccl has no all-to-all; it has allgather"),
    ],
)
def test_what_it_cannot_do_is_typed(
    topology: Callable[[], Topology], collective: str, message: str
) -> None:
    with pytest.raises(UnsupportedError, match=f"^unsupported: {message}"):
        generate(topology(), collective)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"chunks": 0}, "chunks is 0; it must be positive"),
        ({"steps": -1}, "steps is -1"),
        ({"steps": 3, "rounds": 2}, "2 rounds for 3 steps"),
        ({"root": 0}, "takes no root"),
    ],
)
def test_bad_numbers_are_typed(parameters: dict[str, int], message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        METHODS["sccl"].run(dgx1(), "allgather", parameters)


def test_a_negative_k_is_refused() -> None:
    with pytest.raises(InvalidParameterError, match="extra_rounds is -1"):
        next(pareto(dgx1(), extra_rounds=-1))
