"""Programs in GOAL, read back by its grammar and run."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import pytest

from baselines.registry import METHODS
from forestcoll import Program, compile_program, generate
from forestcoll.errors import ExportError, InvalidParameterError, UnsupportedError
from forestcoll.runtimes.between_gpus import between_gpus
from forestcoll.runtimes.simulators.goal import GoalOptions, goal
from forestcoll.runtimes.simulators.goal_network import loggp_arguments
from forestcoll.runtimes.simulators.simulator_ports import path_ports, slowest_port
from forestcoll.schedule import Chunks, Path, Routes, Send, Sends, StepSchedule
from forestcoll.schedule.simulate import AlphaBeta, Simulator
from forestcoll.topology import Topology, TopologyBuilder, load_topology
from tests.random_topologies import random_topology
from tests.runtimes.simulators.read_goal import Operation, read_goal, run, sent
from tests.runtimes.simulators.run_loggp import makespan_ns
from tests.schedule.made.programs import COLLECTIVES, by_hand, line
from tests.schedule.made.types import TYPES, schedule


def bytes_of(program: Program, unit: int) -> Counter[tuple[int, int]]:
    """Bytes between ranks, each transfer's as long as it takes at the slowest port in use."""
    total: Counter[tuple[int, int]] = Counter()
    ports = path_ports(program)
    columns = (program.tail, program.head, program.amount, program.path)
    for tail, head, amount, path in zip(*(c.tolist() for c in columns), strict=True):
        share = slowest_port(program, ports) / ports[path].leaves_gb_s
        total[tail, head] += max(1, round(amount * unit * share))
    return total


def with_multicast_switches(program: Program) -> bool:
    return bool((program.head >= program.topology.num_compute).any())


def check(program: Program, unit: int = 3) -> None:
    """It ends, every message finds its other end, bytes and sums are those of the program."""
    options = GoalOptions(unit * program.chunks.whole, simulator="htsim")
    text = goal(program, options)
    ranks = read_goal(text)
    assert len(ranks) == program.topology.num_compute
    assert run(ranks) == 0
    assert sent(ranks) == bytes_of(program, unit)
    kinds = Counter(one.kind for rank in ranks for one in rank.operations.values())
    assert kinds["send"] == kinds["recv"] == program.num_transfers
    assert kinds["calc"] == int(program.reduce.sum())
    assert text == goal(program, options)
    held = read_goal(goal(program, replace(options, simulator="loggopsim")))
    assert run(held) == 0
    assert sent(held) == sent(ranks)


def test_each_sum_of_a_chain_requires_its_summand() -> None:
    """Three GPUs in a line, a reduce to the last: gpu1 receives, adds, then sends.

    9 bytes at 2 s/GB are 18 ns. gpu2 adds what gpu1 sends, which is the sum of two. gpu1 has two
    ports: it sends with CPU 1 or 2 and receives with CPU 3 or 4. Nothing comes after, so no port is
    held.
    """
    sends = [Send(0, 0, 0, 1, reduce=True), Send(1, 0, 1, 2, reduce=True)]
    made = by_hand(line(3), "reduce", Chunks.equal([2], 1), sends)
    assert goal(compile_program(made), GoalOptions(9, 2)).splitlines() == [
        "num_ranks 3",
        *("", "rank 0 {", "l1: send 9b to 1 tag 0 cpu 1 nic 0", "}"),
        *("", "rank 1 {", "l1: recv 9b from 0 tag 0 cpu 3 nic 0"),
        *("l2: calc 18 cpu 0", "l2 requires l1"),
        *("l3: send 9b to 2 tag 1 cpu 2 nic 1", "l3 requires l2", "}"),
        *("", "rank 2 {", "l1: recv 9b from 1 tag 1 cpu 3 nic 0"),
        *("l2: calc 18 cpu 0", "l2 requires l1", "}"),
    ]


def test_the_time_of_additions_is_rounded_up() -> None:
    """5 bytes at 1/2 s/GB are 2.5 ns, so 3."""
    sends = [Send(0, 0, 0, 1, reduce=True)]
    made = by_hand(line(2), "reduce", Chunks.equal([1], 1), sends)
    ranks = read_goal(goal(compile_program(made), GoalOptions(5, Fraction(1, 2))))
    assert Operation("calc", 3, 0) in ranks[1].operations.values()


def star(into: int, out: int) -> Program:
    """gpu0 and gpu1 send to gpu2 over a switch: ``into`` GB/s there, ``out`` GB/s from there."""
    made = TopologyBuilder()
    switch = made.switch("switch")
    for name, width in (("gpu0", into), ("gpu1", into), ("gpu2", out)):
        made.link(made.gpu(name), switch, width)
    sends = Sends.of([Send(0, 0, 0, 2, reduce=True), Send(0, 0, 1, 2, reduce=True)])
    paths = {(gpu, 2): (Path((1 + gpu, 0, 3), 1),) for gpu in range(2)}
    chunks, routes = Chunks.equal([2], 1), Routes.from_paths(paths)
    return compile_program(
        StepSchedule(made.build("star"), "by hand", "reduce", chunks, sends, routes)
    )


def test_a_receiving_port_is_held_but_after_its_last_message() -> None:
    """8000 bytes at 8 GB/s take 1000 ns of the port, after the first message only.

    CPU 2 receives at one port. The sums do not wait for it: they require the receives.
    """
    (_, _, last) = read_goal(goal(star(8, 8), GoalOptions(8000)))
    assert last.operations == {
        "l1": Operation("recv", 8000, 2, 0, 0, 0),
        "l2": Operation("calc", 0, 0),
        "l3": Operation("calc", 1000, 2),
        "l4": Operation("recv", 8000, 2, 1, 1, 0),
        "l5": Operation("calc", 0, 0),
    }
    assert last.requires == {"l1": [], "l2": ["l1"], "l3": ["l1"], "l4": [], "l5": ["l4"]}


def test_what_waits_for_a_message_does_not_wait_for_its_port() -> None:
    """gpu1 receives two messages of a broadcast, which hold its port, and forwards each."""
    sends = [Send(0, 0, 0, 1), Send(1, 0, 1, 2)]
    program = compile_program(by_hand(line(3), "broadcast", Chunks.equal([0], 1), sends))
    (_, between, _) = read_goal(goal(program, GoalOptions(8000, pipeline_chunks=2)))
    kinds = {label: one.kind for label, one in between.operations.items()}
    assert list(kinds.values()).count("calc") == 1
    for label, kind in kinds.items():
        if kind == "send":
            assert {kinds[need] for need in between.requires[label]} <= {"recv", "send"}


def test_a_message_to_a_slower_port_arrives_late() -> None:
    """8000 bytes leave at 8 GB/s and arrive at 2 GB/s: 4000 ns, 1000 of them counted by the sender.

    The other 3000 ns come before the sum; 1000 more hold the port.
    """
    (_, _, last) = read_goal(goal(star(8, 2), GoalOptions(8000)))
    assert [(one.amount, one.cpu) for one in last.operations.values() if one.kind == "calc"] == [
        (3000, 2),
        (0, 0),
        (1000, 2),
        (3000, 2),
        (0, 0),
    ]
    assert last.requires["l3"] == ["l2"]
    assert last.requires["l4"] == ["l2"]


def test_htsim_limits_what_a_port_receives_itself() -> None:
    (_, _, last) = read_goal(goal(star(8, 2), GoalOptions(8000, simulator="htsim")))
    assert [one.kind for one in last.operations.values()] == ["recv", "calc"] * 2


def test_faster_ports_have_smaller_messages() -> None:
    """A100: NVLink is 12 times InfiniBand; the first box's hops have a twelfth of the bytes."""
    program = compile_program(generate("dgx_a100:boxes=2").schedule, loopback=False)
    ranks = read_goal(goal(program, GoalOptions(16 * 12 * 1040)))
    by_nic: dict[int, set[int]] = {0: set(), 1: set()}
    for operation in ranks[0].operations.values():
        if operation.kind == "send":
            by_nic[operation.nic].add(operation.amount)
    assert max(by_nic[1]) > 11 * max(by_nic[0])


@pytest.mark.parametrize("name", TYPES)
def test_schedules_of_all_types_run(name: str) -> None:
    """But where switches multicast or reduce: no rank does."""
    program = compile_program(schedule(name))
    if with_multicast_switches(program):
        with pytest.raises(UnsupportedError, match="transfers between GPUs only"):
            goal(program, GoalOptions(1000))
    else:
        check(between_gpus(program))


@pytest.mark.parametrize("collective", COLLECTIVES)
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.each_value_once
def test_forests_of_random_networks_run(seed: int, collective: str) -> None:
    kind = "directed" if seed % 2 else "bidirectional"
    check(compile_program(generate(random_topology(seed, kind), collective=collective).schedule))


def test_messages_of_a_port_leave_in_the_order_of_a_simulation() -> None:
    """A ring of 3 in one direction, 2 pipeline chunks: tags 0 and 1 are of gpu0's own first hop.

    Each GPU sends its own data in two messages, then forwards those of its neighbour. So each of
    the last three sends requires the one before, and the two that forward require a receive.
    """
    program = compile_program(generate("ring:nodes=3,bidirectional=false").schedule)
    (rank, _, _) = read_goal(goal(program, GoalOptions(12, pipeline_chunks=2)))
    sends = [label for label, one in rank.operations.items() if one.kind == "send"]
    assert [rank.operations[label].amount for label in sends] == [2] * 4
    required = [set(rank.requires[label]) & set(sends) for label in sends]
    assert sorted(map(len, required)) == [0, 1, 1, 1]
    forwards = [label for label in sends if set(rank.requires[label]) - set(sends)]
    assert len(forwards) == 2


def test_small_data_leave_transfers_out() -> None:
    """One byte of three GPUs' data: what is left of the allgather still runs, to both others."""
    program = compile_program(generate("ring:nodes=3").schedule)
    ranks = read_goal(goal(program, GoalOptions(1)))
    assert run(ranks) == 0
    assert sum(sent(ranks).values()) == 2


def test_dropping_a_dependency_or_a_message_is_seen() -> None:
    """The checks of these tests, tested: a send of another size or tag finds no receive."""
    program = compile_program(generate("ring:nodes=3,bidirectional=false").schedule)
    text = goal(program, GoalOptions(9))
    for old, new in (("send 3b", "send 4b"), ("tag 0 ", "tag 7 ")):
        assert run(read_goal(text.replace(old, new, 1))) > 0
    with pytest.raises(AssertionError):
        read_goal(text.replace("to 1", "from 1", 1))


def two_boxes() -> Topology:
    """Two boxes of three GPUs: 48 GB/s inside, 4 GB/s between."""
    made = TopologyBuilder()
    network = made.switch("network")
    for box in range(2):
        inside = made.switch(f"switch{box}", box)
        for index in range(3):
            gpu = made.gpu(f"b{box}.gpu{index}", box, index)
            made.link(gpu, inside, 48)
            made.link(gpu, network, 4)
    return made.build("two boxes")


def times(network: Topology, method: str, size: int) -> tuple[float, float]:
    """Seconds by ``simulate`` and by LogGOPSim's rules, each at its best number of chunks."""
    made = (
        generate(network, collective="allreduce").schedule
        if method == "forestcoll"
        else METHODS[method].generate(network, "allreduce")
    )
    ours, theirs = [], []
    simulator = Simulator(compile_program(made))
    program = compile_program(made, loopback=False)
    for chunks in (1, 4):
        model = AlphaBeta(window="unlimited")
        ours.append(simulator.run(size, model, chunks).time_s)
        options = GoalOptions(size, pipeline_chunks=chunks)
        ranks = read_goal(goal(program, options))
        theirs.append(makespan_ns(ranks, loggp_arguments(program, options)) / 1e9)
    return min(ours), min(theirs)


@pytest.mark.first_rows(1)
@pytest.mark.parametrize(
    ("network", "methods"),
    [
        (two_boxes(), ["forestcoll", "ring", "nccl-tree"]),
        (load_topology("torus:dims=3x3"), ["forestcoll", "ring", "bfb"]),
    ],
)
@pytest.mark.parametrize("size", [2**16, 2**22, 2**30])
@pytest.mark.each_value_once
def test_methods_rank_as_by_simulate(network: Topology, methods: list[str], size: int) -> None:
    """Times agree within 10 %, in the simulator of these tests; those within 2 % are a tie."""
    found = [times(network, method, size) for method in methods]
    for ours, theirs in found:
        assert theirs == pytest.approx(ours, rel=0.1)
    for one, other in pairwise(found):
        ratios = [a / b for a, b in zip(one, other, strict=True)]
        assert (ratios[0] < 1) == (ratios[1] < 1) or min(abs(r - 1) for r in ratios) < 0.02


def test_an_unknown_simulator_is_reported() -> None:
    with pytest.raises(InvalidParameterError, match="no simulator 'ns3' of GOAL; choose one of"):
        GoalOptions(simulator="ns3")  # type: ignore[arg-type]


@pytest.mark.slow
def test_limits_of_the_simulators_are_reported() -> None:
    """Sizes have 31 bits: two GPUs swap 2^31 bytes each. CPUs have numbers up to 254."""
    program = compile_program(generate("ring:nodes=2").schedule)
    assert "send 2147483647b" in goal(program, GoalOptions(2**32 - 2))
    with pytest.raises(ExportError, match=r"has 2147483648 bytes; .* take more pipeline chunks"):
        goal(program, GoalOptions(2**32))
    wide = compile_program(
        METHODS["direct"].generate(load_topology("complete:nodes=129"), "allgather")
    )
    with pytest.raises(ExportError, match="a GPU has 128 ports; GOAL numbers 127 at most"):
        goal(wide)
