"""Messages of transfers."""

import pytest

from forestcoll import compile_program, generate
from forestcoll.errors import ExportError, InvalidParameterError
from forestcoll.runtimes.simulators.chakra_trace import ChakraOptions
from forestcoll.runtimes.simulators.goal import GoalOptions
from forestcoll.runtimes.simulators.messages import Message, MessageOptions, Messages
from forestcoll.schedule import Chunks, Send
from tests.schedule.made.programs import by_hand, line


def test_each_transfer_is_cut_into_equal_messages() -> None:
    """A broadcast over a line of three, 7 bytes in 2 chunks: 3 and 4 bytes.

    Tags of transfer 1 are 2 and 3. Chunk 1 of it needs chunk 1 of transfer 0, tag 1.
    """
    sends = [Send(0, 0, 0, 1), Send(1, 0, 1, 2)]
    program = compile_program(by_hand(line(3), "broadcast", Chunks.equal([0], 1), sends))
    messages = Messages(program, 7, 2)
    first, second, third = messages.by_rank()
    paths = program.path.tolist()
    assert second == [
        Message(0, 0, 1, paths[0], 3, False, (), None),
        Message(1, 0, 1, paths[0], 4, False, (), 0),
        Message(2, 1, 2, paths[1], 3, False, (0,), None),
        Message(3, 1, 2, paths[1], 4, False, (1,), 2),
    ]
    assert first == second[:2]
    assert third == second[2:]
    assert (messages.count, messages.pipeline_chunks) == (4, 2)


def test_transfers_without_bytes_are_left_out_and_not_needed() -> None:
    """One byte of three GPUs' data: one shard has it."""
    messages = Messages(compile_program(generate("ring:nodes=3").schedule), 1)
    found = {one.tag: one for rank in messages.by_rank() for one in rank}
    assert [one.size_bytes for one in found.values()] == [1, 1]
    assert all(need in found for one in found.values() for need in one.needs)


def test_a_transfer_without_bytes_is_not_needed_by_one_with_them() -> None:
    """Units 0 and 1 to 9 reach gpu1 by two transfers; 9 bytes leave none for unit 0."""
    spans = [(0, 0, 1, 0, 1), (0, 0, 1, 1, 9), (1, 1, 2, 0, 10)]
    sends = [Send(step, 0, a, b, False, first, many) for step, a, b, first, many in spans]
    made = by_hand(line(3), "broadcast", Chunks.equal([0], 10, 10), sends)
    program = compile_program(made)
    assert sorted(map(len, map(program.dependencies, range(3)))) == [0, 0, 2]
    _, _, last = Messages(program, 9).by_rank()
    assert [(one.size_bytes, one.needs) for one in last] == [(9, (1,))]


def test_too_many_or_too_few_chunks_are_reported() -> None:
    program = compile_program(generate("ring:nodes=3").schedule)
    with pytest.raises(ExportError, match="bytes, fewer than 3 pipeline chunks; take fewer"):
        Messages(program, 4, 3)
    with pytest.raises(InvalidParameterError, match="cannot be cut into 0 pipeline chunks"):
        Messages(program, 4, 0)


@pytest.mark.parametrize("options", [GoalOptions, ChakraOptions])
@pytest.mark.parametrize(
    ("size", "gamma", "alpha", "message"),
    [
        (0, 0, 0, "the size is 0 bytes"),
        (2**63, 0, 0, "simulators take 1 to"),
        (8, -1, 0, "gamma is -1 s/GB"),
        (8, 0, -1, "alpha is -1 us"),
    ],
)
def test_wrong_options_are_reported(
    options: type[MessageOptions], size: int, gamma: int, alpha: int, message: str
) -> None:
    with pytest.raises(ExportError, match=message):
        options(size, gamma, alpha)
