"""Programs in GOAL, read back by its grammar and run."""

from collections import Counter
from fractions import Fraction

import pytest

import forestcoll
from forestcoll import Program, compile_program, generate
from forestcoll.errors import ExportError, UnsupportedError
from forestcoll.runtimes.goal import goal
from forestcoll.schedule import Chunks, Send
from tests.random_topologies import random_topology
from tests.runtimes.read_goal import Operation, read_goal, run, sent
from tests.schedule.made.programs import COLLECTIVES, by_hand, line
from tests.schedule.made.types import TYPES, schedule


def bytes_of(program: Program, unit: int) -> Counter[tuple[int, int]]:
    total: Counter[tuple[int, int]] = Counter()
    rows = zip(program.tail.tolist(), program.head.tolist(), program.amount.tolist(), strict=True)
    for tail, head, amount in rows:
        total[tail, head] += amount * unit
    return total


def with_multicast_switches(program: Program) -> bool:
    return bool((program.head >= program.topology.num_compute).any())


def check(program: Program, unit: int = 3) -> None:
    """It ends, every message finds its other end, bytes and sums are those of the program."""
    text = goal(program, unit * program.chunks.whole)
    ranks = read_goal(text)
    assert len(ranks) == program.topology.num_compute
    assert run(ranks) == 0
    assert sent(ranks) == bytes_of(program, unit)
    kinds = Counter(one.kind for rank in ranks for one in rank.operations.values())
    assert kinds["send"] == kinds["recv"] == program.num_transfers
    assert kinds["calc"] == int(program.reduce.sum())
    assert text == goal(program, unit * program.chunks.whole)


def test_each_sum_of_a_chain_requires_its_summand() -> None:
    """Three GPUs in a line, a reduce to the last: gpu1 receives, adds, then sends.

    9 bytes at 2 s/GB are 18 ns. gpu2 adds what gpu1 sends, which is the sum of two.
    """
    sends = [Send(0, 0, 0, 1, reduce=True), Send(1, 0, 1, 2, reduce=True)]
    made = by_hand(line(3), "reduce", Chunks.equal([2], 1), sends)
    assert goal(compile_program(made), 9, 2).splitlines() == [
        "num_ranks 3",
        *("", "rank 0 {", "l1: send 9b to 1 tag 0", "}"),
        *("", "rank 1 {", "l1: recv 9b from 0 tag 0", "l2: calc 18", "l2 requires l1"),
        *("l3: send 9b to 2 tag 1", "l3 requires l2", "}"),
        *("", "rank 2 {", "l1: recv 9b from 1 tag 1", "l2: calc 18", "l2 requires l1", "}"),
    ]


def test_the_time_of_additions_is_rounded_up() -> None:
    """5 bytes at 1/2 s/GB are 2.5 ns, so 3."""
    sends = [Send(0, 0, 0, 1, reduce=True)]
    made = by_hand(line(2), "reduce", Chunks.equal([1], 1), sends)
    ranks = read_goal(goal(compile_program(made), 5, Fraction(1, 2)))
    assert Operation("calc", 3) in ranks[1].operations.values()


@pytest.mark.parametrize("pipeline_chunks", [1, 3])
@pytest.mark.parametrize("name", TYPES)
def test_schedules_of_all_types_run(name: str, pipeline_chunks: int) -> None:
    """But where switches copy or add: no rank does."""
    program = compile_program(schedule(name), pipeline_chunks)
    if with_multicast_switches(program):
        with pytest.raises(UnsupportedError, match="transfers between GPUs only"):
            goal(program, 1000)
    else:
        check(program)


@pytest.mark.parametrize("collective", COLLECTIVES)
@pytest.mark.parametrize("seed", range(6))
def test_forests_of_random_networks_run(seed: int, collective: str) -> None:
    kind = "directed" if seed % 2 else "bidirectional"
    check(compile_program(generate(random_topology(seed, kind), collective=collective).schedule))


def test_small_data_leave_transfers_out() -> None:
    """One byte of three GPUs' data: what is left of the allgather still runs, to both others."""
    program = compile_program(generate("ring:nodes=3").schedule)
    ranks = read_goal(goal(program, 1))
    assert run(ranks) == 0
    assert sum(sent(ranks).values()) == 2


def test_dropping_a_dependency_or_a_message_is_seen() -> None:
    """The checks of these tests, tested: a send of another size or tag finds no receive."""
    text = goal(compile_program(generate("ring:nodes=3,bidirectional=false").schedule), 9)
    for old, new in (("send 3b", "send 4b"), ("tag 0\n", "tag 7\n")):
        assert run(read_goal(text.replace(old, new, 1))) > 0
    with pytest.raises(AssertionError):
        read_goal(text.replace("to 1", "from 1", 1))


@pytest.mark.parametrize(
    ("size", "gamma", "message"),
    [(0, 0, "the size is 0 bytes"), (2**63, 0, "GOAL takes 1 to"), (8, -1, "gamma is -1 s/GB")],
)
def test_mistakes_are_reported(size: int, gamma: int, message: str) -> None:
    program = forestcoll.compile_program(generate("ring:nodes=3").schedule)
    with pytest.raises(ExportError, match=message):
        goal(program, size, gamma)
