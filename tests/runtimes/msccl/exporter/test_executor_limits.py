"""What breaks a limit, and by how much."""

import pytest

from forestcoll.errors import ExportError
from forestcoll.runtimes.msccl import Algorithm, Gpu, Instruction, Threadblock
from forestcoll.runtimes.msccl.exporter.executor_limits import check_limits, excess_of

STEP = Instruction("cpy", "i", 0, "o", 0, 1)


def algorithm(blocks: list[int], steps: int = 1, channels: int = 1, chunks: int = 1) -> Algorithm:
    """One GPU with threadblocks on these channels."""
    made = tuple(Threadblock(1, 1, channel, (STEP,) * steps) for channel in blocks)
    gpus = (Gpu(chunks, chunks, 0, made),)
    return Algorithm("a", "Simple", channels, chunks, "allreduce", True, True, 0, 0, gpus)


SPREAD = [number % 4 for number in range(109)]
FULL = [number % 4 for number in range(64)]


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (algorithm([0], steps=65), "65 steps of a threadblock, and 64 are the most"),
        (algorithm([0] * 33), "33 threadblocks of a GPU on one channel, and 32 are the most"),
        (algorithm(SPREAD, channels=4), "109 threadblocks of a GPU, and 108 are the most"),
        (algorithm([0], channels=33), "33 channels, and 32 are the most"),
        (
            algorithm(FULL, steps=64, channels=4),
            "4162 elements for a GPU in the file, and 4095 are the most",
        ),
        (algorithm([0], chunks=32769), "32769 chunks in a buffer, and 32768 are the most"),
    ],
)
def test_each_limit_is_reported_with_the_amount_needed(broken: Algorithm, message: str) -> None:
    assert str(excess_of(broken)) == message
    with pytest.raises(ExportError, match=message):
        check_limits(broken)


def test_algorithms_at_the_limits_are_accepted() -> None:
    check_limits(algorithm(SPREAD[:108], steps=36, channels=32, chunks=32768))
    check_limits(algorithm(FULL[:62], steps=64))
