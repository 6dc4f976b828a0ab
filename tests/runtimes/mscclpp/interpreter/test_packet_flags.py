"""Packets: who waits for whom, and what they put in order."""

from dataclasses import replace

import pytest

from forestcoll.errors import InvalidScheduleError, UnsupportedError
from forestcoll.runtimes.interpretation.findings import Kind
from forestcoll.runtimes.mscclpp import Operation, Plan
from forestcoll.runtimes.mscclpp.interpreter import interpret_plan
from forestcoll.runtimes.mscclpp.interpreter.packet_flags import PacketFlags
from tests.runtimes.mscclpp.interpreter.hand_plans import (
    NOP,
    alone,
    kinds,
    messages,
    own,
    share,
)
from tests.runtimes.mscclpp.interpreter.style_plans import PAIR, packet_sum, switch_packets
from tests.schedule.made.run_mscclpp import DEADLOCK, RIGHT, carried_out


def packets(*rows: Operation) -> Plan:
    plan = alone(list(rows))
    return replace(plan, protocol="LL", double_scratch=True)


def pack(source: str, target: str) -> Operation:
    return Operation("cpkt", (own(source),), (own(target),))


def unpack(source: str, target: str) -> Operation:
    return Operation("upkt", (own(source),), (own(target),))


SIZES = ("input_chunks", "output_chunks", "scratch_chunks")
ALL = (pack("i0", "s0"), pack("i1", "s1"), unpack("s0", "o0"), unpack("s1", "o1"))


def test_packets_need_no_nop() -> None:
    assert interpret_plan(packets(*ALL)).findings == ()


def test_a_thread_that_waits_for_its_own_later_packet_is_deadlocked() -> None:
    assert kinds(interpret_plan(packets(*ALL[2:], *ALL[:2]))) == {"deadlock"}


@pytest.mark.parametrize("kind", ["rlxwait", "wait", "sem_acquire"])
def test_a_thread_that_waits_sends_no_packets_behind_it(kind: str) -> None:
    """GPU 0 packs after a wait for GPU 1, which waits for all of these packets first.

    Without a nop other threads may pack, but thread 0 packs its share after the wait.
    """
    in_order, late = (late_packets(kind, waits_first=first) for first in (False, True))
    assert interpret_plan(in_order).is_right
    assert {carried_out(in_order, seed=seed) for seed in range(5)} == {RIGHT}
    assert "deadlock" in kinds(interpret_plan(late))
    assert {carried_out(late, seed=seed) for seed in range(5)} == {DEADLOCK}


def late_packets(kind: str, *, waits_first: bool) -> Plan:
    """An allgather in packets; GPU 0 waits for a signal or a semaphore, GPU 1 signals last."""
    sends = [PAIR.send("ppkt", gpu, (gpu ^ 1, f"o{gpu}", f"s{gpu}")) for gpu in (0, 1)]
    unpacks = [unpack(f"s{gpu ^ 1}", f"o{gpu ^ 1}") for gpu in (0, 1)]
    last = PAIR.tell("rlxsignal" if kind == "rlxwait" else "signal", 1, 0)
    wait = PAIR.tell(kind, 0, 1)
    blocks = {1: [[sends[1], unpacks[1], NOP, last]]}
    if kind == "sem_acquire":
        wait = share(kind, 0)
        blocks[0] = [[PAIR.tell("wait", 0, 1), share("sem_release", 0)]]
    first = [wait, sends[0]] if waits_first else [sends[0], wait]
    blocks[0] = [[*first, unpacks[0]], *blocks.get(0, [])]
    plan = PAIR.plan("allgather", blocks.__getitem__, (1, 2, 2), packets=True)
    return replace(plan, gpus=tuple(replace(gpu, semaphores=(0,)) for gpu in plan.gpus))


def test_a_packet_that_nobody_writes_is_a_deadlock() -> None:
    (message,) = messages(packets(ALL[0], *ALL[2:]), Kind.DEADLOCK)
    assert "upkt of GPU 0, threadblock 0, operation 2 waits for a packet that never comes" in (
        message
    )


def test_two_writers_of_a_packet_cannot_be_told_apart() -> None:
    (message,) = messages(packets(*ALL[:2], ALL[0], *ALL[2:]), Kind.RACE)
    assert "cpkt of GPU 0, threadblock 0, operation 0 and" in message
    assert "write the same packets in one launch" in message


def test_a_packet_that_a_switch_sends_back_is_the_same() -> None:
    """The sender has packed it where the switch writes it, too."""
    assert interpret_plan(switch_packets()).findings == ()


def test_a_packet_orders_what_it_was_made_of_before_what_is_made_of_it() -> None:
    """In place the sum comes back to where its part was read; no signal is needed."""
    plan = packet_sum()
    assert interpret_plan(plan).findings == ()
    first = plan.gpus[0].threadblocks[2].operations[0]
    wrong = replace(first, targets=(own("i0"),))
    blocks = list(plan.gpus[0].threadblocks)
    blocks[2] = replace(blocks[2], operations=(wrong,))
    changed = replace(plan.gpus[0], threadblocks=tuple(blocks))
    assert "race" in kinds(interpret_plan(replace(plan, gpus=(changed, plan.gpus[1]))))


def test_what_comes_of_a_packet_is_found_over_several_operations() -> None:
    flags = PacketFlags([((0, 5), (1, 0)), ((1, 0), (2, 0)), ((3, 1), (2, 0))])
    assert flags.after((0, 5)) == {(0, 5), (1, 0), (2, 0)}
    assert flags.before((2, 0)) == {(2, 0), (1, 0), (0, 5), (3, 1)}
    assert flags.after((0, 6)) == {(0, 6)}


def test_plain_data_and_packets_do_not_share_scratch() -> None:
    """Packet chunk 0 lies where plain chunks 0 and 1 do."""
    plain = Operation("copy", (own("i0"),), (own("s1"),))
    with pytest.raises(UnsupportedError, match="chunk 0 of the scratch of GPU 0 lie where its pl"):
        interpret_plan(packets(*ALL, plain))


def test_oversized_plans_are_refused_before_their_scratch_is_compared() -> None:
    """A small file may name 10^9 chunks."""
    many = 10**9
    plan = packets(pack("i0", "s0"), Operation("copy", (own("i0", many),), (own("s1", many),)))
    gpu = replace(plan.gpus[0], **dict.fromkeys(SIZES, 2 * many))
    with pytest.raises(InvalidScheduleError, match="chunks are read or written"):
        interpret_plan(replace(plan, gpus=(gpu,)))


def test_packets_need_the_room_of_ll() -> None:
    """Scratch of two chunks has room for one packet chunk."""
    plan = replace(packets(*ALL), protocol="Simple")
    (first, *_) = messages(plan, Kind.BOUNDS)
    assert "chunk 1 of packets of GPU 0, which has 1; packets need the protocol LL" in first
