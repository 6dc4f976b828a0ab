"""The method SCCL: its collectives, delivered, and its numbers, checked."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from baselines import METHODS
from baselines.synthesizers.sccl import generate
from baselines.synthesizers.sccl.constraints import Deadline, Instance, solve
from baselines.synthesizers.sccl.network import bounds, direct
from forestcoll.errors import (
    InfeasibleError,
    InvalidParameterError,
    TimeLimitError,
    UnsupportedError,
    VerificationError,
)
from forestcoll.problem.limits import Limits
from forestcoll.schedule import StepSchedule, cost, synchronous, verify
from forestcoll.topology import Node, NodeKind, Topology, load_topology
from tests.baselines.dgx1 import dgx1
from tests.baselines.synthesizers.sccl.rounds import network_named, pairs, shard_rounds, to_all
from tests.hand_networks import network_of
from tests.schedule.mutations_of.steps import STEP_MUTATIONS


@pytest.mark.parametrize(
    "spec", ["dgx1", "ring:nodes=4,bidirectional=false", "torus:dims=2x3,wrap=false"]
)
@pytest.mark.parametrize("name", METHODS["sccl"].collectives)
@pytest.mark.each_value_once
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


@pytest.mark.first_rows(3)
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
        instance = Instance(network, to_all(8, range(8)), chunks, steps, rounds)
        assert solve(instance, symmetry=symmetry, deadline=Deadline(Limits())) is None


# --- the encoding -------------------------------------------------------------------------------


def test_a_step_over_wide_links_alone_costs_less_than_a_round() -> None:
    """On the line a = b - c the link a-b has two units, so a broadcast leaves half a round idle.

    The unit is 10 GB/s: 1/2 + 1 rounds of 1/10 s per GB, where SCCL counts 2 rounds.
    """
    line = network_of("a b c", "a - b: 20, b - c: 10", "line")
    schedule = generate(line, "broadcast", steps=2, rounds=2, root="a")
    assert direct(line)[1] == 10
    assert synchronous(schedule).time_s_per_gb == Fraction(3, 20)
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


@pytest.mark.parametrize(
    ("name", "chunks", "steps", "rounds"),
    [
        ("hypercube:dimension=3", 2, 3, 5),
        ("torus:dims=4x4", 1, 4, 4),
        pytest.param("torus:dims=5x5", 1, 4, 6, marks=pytest.mark.slow),
    ],
)
def test_fewest_steps_are_the_diameter(name: str, chunks: int, steps: int, rounds: int) -> None:
    """A step then lasts several rounds where steps of one round each would be more than needed.

    2 * 7 chunks over 3 links of a 3-cube take 5 rounds, so 5 steps of one round; its diameter is 3.
    24 chunks over 4 links of a torus of 5 x 5 take 6; its diameter is 2 + 2.
    """
    topology = load_topology(name)
    fewest = generate(topology, chunks=chunks, fewest_steps=True)
    assert verify(fewest).steps == steps
    assert shard_rounds(fewest) == Fraction(rounds, chunks)
    assert verify(generate(topology, chunks=chunks)).steps == rounds


def test_a_host_may_take_in_less_than_its_links_bring() -> None:
    """Three GPUs, all linked: one round. Hosts that take in one link's bandwidth need two."""
    free = load_topology("complete:nodes=3")
    hosts = free
    for name in ("gpu0", "gpu1", "gpu2"):
        hosts = hosts.with_shared(f"{name} in", f"* -> {name}", 1)
    for network, rounds in ((free, 1), (hosts, 2)):
        schedule = generate(network, fewest_steps=True)
        assert verify(schedule).steps == 1
        assert synchronous(schedule).time_s_per_gb * 3 == rounds


def test_fewest_steps_and_a_number_of_steps_contradict() -> None:
    with pytest.raises(InvalidParameterError, match="4 steps and the fewest steps; ask for one"):
        generate(dgx1(), steps=4, fewest_steps=True)


# --- other collectives --------------------------------------------------------------------------


@pytest.mark.parametrize(("chunks", "steps", "rounds"), [(1, 3, 3), (1, 2, 3), (3, 2, 8)])
def test_all_to_alls_that_sccl_finds_exist(chunks: int, steps: int, rounds: int) -> None:
    """SCCL (PPoPP 2021), table 4, DGX-1: 8 and 24 chunks a GPU, which are 1 and 3 a pair.

    Sixteen chunks of each kind leave half of the GPUs over six links: 8/3 rounds a chunk.
    """
    schedule = generate(dgx1(), "all-to-all", chunks=chunks, steps=steps, rounds=rounds)
    assert verify(schedule).steps <= steps
    assert len(schedule.chunks) == chunks * 8 * 7
    taken = synchronous(schedule).time_s_per_gb * 25 * 8
    assert Fraction(8, 3) <= taken <= Fraction(rounds, chunks)


def test_an_all_to_all_in_two_steps_takes_three_rounds() -> None:
    """Table 3 of TE-CCL (SIGCOMM 2024) prints 3.4 us for SCCL on a DGX-1.

    That is two steps of 0.7 us and two rounds of 1 us. A bound and CP-SAT prove that two rounds are
    too few; three take 4.4 us.
    """
    with pytest.raises(InfeasibleError, match="takes 2 steps and 3 rounds"):
        generate(dgx1(), "all-to-all", steps=2, rounds=2)
    network, _ = direct(dgx1())
    instance = Instance(network, pairs(8), 1, 2, 2)
    assert solve(instance, symmetry=True, deadline=Deadline(Limits())) is None


def test_an_all_to_all_takes_no_root() -> None:
    with pytest.raises(InvalidParameterError, match="all-to-all takes no root"):
        generate(dgx1(), "all-to-all", root=0)


def test_an_allreduce_with_a_root_is_a_reduce_and_a_broadcast() -> None:
    """On a line of three from the middle: one step each way; from an end: two."""
    line = load_topology("torus:dims=3,wrap=false")
    for root, steps in ((1, 2), (0, 4)):
        schedule = generate(line, "allreduce", root=root)
        assert verify(schedule).steps == steps
        assert len(schedule.chunks) == 1


@pytest.mark.parametrize("mutation", STEP_MUTATIONS)
@pytest.mark.parametrize("name", ["allgather", "allreduce", "broadcast"])
@pytest.mark.each_value_once
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


def apart() -> Topology:
    return Topology("apart", (Node("a", NodeKind.COMPUTE), Node("b", NodeKind.COMPUTE)), ())


def one_way() -> Topology:
    return network_of("a b", "a > b", "one way")


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
        (dgx1, "gather", "sccl has no gather; it has allgather"),
    ],
)
def test_unsupported_networks_and_collectives_raise_typed_errors(
    topology: Callable[[], Topology], collective: str, message: str
) -> None:
    with pytest.raises(UnsupportedError, match=f"^unsupported: {message}"):
        generate(topology(), collective)
