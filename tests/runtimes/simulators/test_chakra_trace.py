"""Programs as Chakra's traces, read back and run."""

from collections import Counter
from fractions import Fraction

import pytest

from forestcoll import Program, compile_program, generate
from forestcoll.errors import ExportError
from forestcoll.runtimes.simulators.chakra_trace import (
    ChakraOptions,
    chakra_traces,
    chakra_workload,
)
from forestcoll.schedule import Chunks, Send
from tests.random_topologies import random_topology
from tests.runtimes.simulators.read_chakra import (
    COLLECTIVE,
    COMP,
    RECV,
    SEND,
    read_chakra,
    run_chakra,
)
from tests.schedule.made.programs import COLLECTIVES, by_hand, line


def chain() -> Program:
    """Three GPUs in a line, a reduce to the last: gpu1 receives, adds, then sends."""
    sends = [Send(0, 0, 0, 1, reduce=True), Send(1, 0, 1, 2, reduce=True)]
    return compile_program(by_hand(line(3), "reduce", Chunks.equal([2], 1), sends))


def test_each_sum_of_a_chain_depends_on_its_summand() -> None:
    """9000 bytes at 1/3 s/GB are 3000 ns: 3 us. Messages have their ends, tag and bytes."""
    traces = chakra_traces(chain(), ChakraOptions(9000, Fraction(1, 3)))
    first, second, third = map(read_chakra, traces)
    assert [(one.type, one.after, one.micros) for one in second] == [
        (RECV, [], 0),
        (COMP, [0], 3),
        (SEND, [1], 0),
    ]
    assert [one.type for one in first] == [SEND]
    assert [(one.type, one.after) for one in third] == [(RECV, []), (COMP, [0])]
    assert second[2].attributes == {
        "is_cpu_op": 0,
        "comm_src": 1,
        "comm_dst": 2,
        "comm_tag": 1,
        "comm_size": 9000,
    }
    assert [one.name for one in second] == ["receive 0", "add 0", "send 1"]


def test_sums_below_half_a_microsecond_are_left_out() -> None:
    """900 bytes at 1/3 s/GB are 300 ns. The send then depends on the receive."""
    traces = chakra_traces(chain(), ChakraOptions(900, Fraction(1, 3)))
    assert [(one.type, one.after) for one in read_chakra(traces[1])] == [(RECV, []), (SEND, [0])]


def test_pipeline_chunks_leave_one_after_the_other() -> None:
    """Two of each transfer: the second send depends on its receive and on the first send."""
    traces = chakra_traces(chain(), ChakraOptions(9, pipeline_chunks=2))
    nodes = read_chakra(traces[1])
    assert [(one.type, one.after) for one in nodes] == [
        *((RECV, []), (RECV, [])),
        *((SEND, [0]), (SEND, [1, 2])),
    ]
    assert [one.attributes["comm_size"] for one in nodes] == [4, 5, 4, 5]


@pytest.mark.parametrize("collective", COLLECTIVES)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.each_value_once
def test_forests_of_random_networks_run(seed: int, collective: str) -> None:
    """Every node is done, and the bytes are those of the program."""
    kind = "directed" if seed % 2 else "bidirectional"
    made = generate(random_topology(seed, kind), collective=collective).schedule
    program = compile_program(made, loopback=False)
    options = ChakraOptions(6 * program.chunks.whole, 1, pipeline_chunks=2)
    ranks = [read_chakra(trace) for trace in chakra_traces(program, options)]
    assert run_chakra(ranks) == 0
    sent: Counter[tuple[int, object]] = Counter()
    for rank, nodes in enumerate(ranks):
        for node in nodes:
            if node.type == SEND:
                sent[rank, node.attributes["comm_dst"]] += int(node.attributes["comm_size"])
    expected: Counter[tuple[int, object]] = Counter()
    columns = (program.tail, program.head, program.amount)
    for tail, head, amount in zip(*(c.tolist() for c in columns), strict=True):
        expected[tail, head] += 6 * amount
    assert sent == expected


def test_dropping_a_message_is_seen() -> None:
    """The checks of these tests, tested: without the first rank nothing arrives."""
    ranks = [read_chakra(trace) for trace in chakra_traces(chain(), ChakraOptions(9))]
    assert run_chakra(ranks) == 0
    assert run_chakra([[], *ranks[1:]]) == 3


def test_a_rank_without_messages_has_one_node() -> None:
    """One byte of the data of three GPUs: two ranks get it, and one of them sends it on or none."""
    program = compile_program(
        by_hand(line(3), "broadcast", Chunks.equal([0], 1), [Send(0, 0, 0, 1)])
    )
    (node,) = read_chakra(chakra_traces(program, ChakraOptions(9))[2])
    assert (node.type, node.name) == (COMP, "nothing to do")


@pytest.mark.parametrize(
    ("collective", "call"),
    [("allreduce", 0), ("allgather", 2), ("reduce-scatter", 7)],
)
def test_the_workload_calls_the_collective_once(collective: str, call: int) -> None:
    program = compile_program(generate("ring:nodes=3", collective=collective).schedule)
    (node,) = read_chakra(chakra_workload(program, ChakraOptions(3 * 2**20)))
    assert (node.type, node.id) == (COLLECTIVE, 0)
    assert node.attributes == {"is_cpu_op": 0, "comm_type": call, "comm_size": 3 * 2**20}


def test_more_messages_than_tags_are_reported() -> None:
    with pytest.raises(ExportError, match="500000002 messages are more than ASTRA-sim has tags"):
        chakra_traces(chain(), ChakraOptions(2**40, pipeline_chunks=250_000_001))
