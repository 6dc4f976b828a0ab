"""What the executor takes, just within and just beyond."""

import pytest

from forestcoll.runtimes.interpretation.findings import Kind
from forestcoll.runtimes.msccl import parse_algorithm
from forestcoll.runtimes.msccl.interpreter.merged_steps import merge
from forestcoll.runtimes.msccl.interpreter.runtime_limits import (
    check_connections,
    check_limits,
    check_steps,
)
from tests.runtimes.msccl_programs import Block, xml


def expected(*blocks: Block, collective: str = "allreduce", **more: object) -> list[str]:
    """Of GPU 0, with another one that does nothing."""
    text = xml(collective, [blocks, [Block()]], 4, (4, 4, 0), **more)
    algorithm = parse_algorithm(text).algorithm
    findings = [*check_limits(algorithm), *check_steps(merge(algorithm))]
    assert all(one.kind in (Kind.LIMIT, Kind.BOUNDS) for one in findings)
    return [one.message for one in findings]


def copies(steps: int) -> Block:
    block = Block()
    for _ in range(steps):
        block.step("cpy")
    return block


@pytest.mark.parametrize(
    ("within", "beyond", "message"),
    [
        ([copies(64)], [copies(65)], "65 steps; there must be at most 64"),
        ([Block()] * 108, [Block()] * 305, "305 threadblocks; there must be at most 304"),
        ([copies(63)] * 63 + [copies(59)], [copies(63)] * 63 + [copies(60)], "4096 elements"),
        (
            [Block(1).step("s", "i0", "o0", 71)],
            [Block(1).step("s", "i0", "o0", 72)],
            "cnt must be at most 71",
        ),
        (
            [Block(1).step("s", "i32767")],
            [Block(1).step("s", "i32768")],
            "offsets must be at most 32767",
        ),
        ([Block(1)], [Block(2)], "sends to GPU 2; it must be another of the 2, or -1"),
        ([Block(-1, 1)], [Block(-1, 0)], "receives from GPU 0; it must be another"),
        ([Block(1).step("s")], [Block().step("s")], "has no GPU to send to"),
        ([Block(-1, 1).step("r")], [Block(1).step("r")], "has no GPU to receive from"),
        ([Block(1, 1, 31)], [Block(1, 1, 32)], "33 channels; the executor has 32"),
        (
            [Block(1, 1), Block(1, 1, 1)],
            [Block(1, 1), Block(1)],
            "both send to GPU 1 over channel 0",
        ),
        ([Block(1), Block(-1, 1)], [Block(1, 1), Block(-1, 1)], "both receive from GPU 1"),
    ],
)
def test_limits_accept_the_largest_allowed_values_only(
    within: list[Block], beyond: list[Block], message: str
) -> None:
    assert not expected(*within)
    assert any(message in one for one in expected(*beyond)), expected(*beyond)


def test_a_channel_must_be_one_of_those_there_are() -> None:
    assert "is on channel 1; there are 0 to 0" in expected(Block(1, -1, 1), nchannels=1)[0]
    assert "is on channel -1" in expected(Block(1, -1, -1), nchannels=1)[0]


def test_so_many_threadblocks_share_a_channel() -> None:
    """33 that send to one GPU each over channel 0."""
    for peers in (32, 33):
        gpus = [[Block(peer) for peer in range(1, peers + 1)], *([[Block()]] * peers)]
        algorithm = parse_algorithm(xml("allreduce", gpus, 1, (1, 1, 0))).algorithm
        messages = [one.message for one in check_limits(algorithm)]
        assert messages == ([] if peers == 32 else [messages[0]])
    assert "33 threadblocks send over channel 0; at most 32" in messages[0]


def test_an_allgather_has_a_multiple_of_its_gpus() -> None:
    text = xml("allgather", [[Block()]] * 3, 4, (4, 4, 0))
    (one,) = check_limits(parse_algorithm(text).algorithm)
    assert one.message == "nchunksperloop is 4; for allgather of 3 GPUs it must be a multiple of 3"


def test_scratch_beyond_all_offsets_is_too_many() -> None:
    """Offsets end at 32767, so 32768 chunks can be reached; the executor allocates them all."""
    for chunks, messages in (
        (32_768, []),
        (
            2_000_000_000,
            [
                "GPU 0 (line 2): s_chunks is 2000000000; steps reach 32768 at most, and the "
                "executor allocates all of them"
            ],
        ),
    ):
        text = xml("allreduce", [[Block()], [Block()]], 4, (4, 4, 0))
        text = text.replace('s_chunks="0"', f's_chunks="{chunks}"', 1)
        found = check_limits(parse_algorithm(text).algorithm)
        assert [one.message for one in found] == messages


def connections(*gpus: list[Block]) -> list[str]:
    algorithm = parse_algorithm(xml("allreduce", gpus, 4, (4, 4, 0))).algorithm
    findings = list(check_connections(algorithm))
    assert all(one.kind is Kind.PAIRING for one in findings)
    return [one.message for one in findings]


def test_a_connection_has_two_ends() -> None:
    """Whether anything is sent over it or not: NCCL opens all of them before the first step."""
    assert not connections([Block(1, 1)], [Block(0, 0)])
    assert not connections([Block(1), Block(-1, 1)], [Block(0, 0)])
    (sends,) = connections([Block(1)], [Block()])
    assert sends.startswith(
        "GPU 0, threadblock 0 (line 3): opens a connection with GPU 1 over chan"
    )
    assert sends.endswith("no threadblock of that has recv=0; the runtime waits for it for ever")
    (receives,) = connections([Block()], [Block(), Block(-1, 0)])
    assert "GPU 1, threadblock 1" in receives
    assert "has send=1;" in receives


def test_the_ends_of_a_connection_are_on_one_channel() -> None:
    """Both ends are there, each on a channel of its own: two connections with one end each."""
    assert len(connections([Block(1, -1, 0)], [Block(-1, 0, 1)])) == 2
    assert not connections([Block(1, -1, 1)], [Block(-1, 0, 1)])


def test_a_connection_without_a_peer_is_reported_elsewhere() -> None:
    """GPU 2 is not there; GPU 0 does not send to itself."""
    assert not connections([Block(2)], [Block()])
    assert any("sends to GPU 2" in one for one in expected(Block(2)))
