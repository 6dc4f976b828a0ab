"""Search for the best number of pipeline chunks.

Problem: few pipeline chunks leave links idle while the first are in flight; many pay latencies
         often.
Input:   a simulator, a size and a model.
Output:  the simulation with the number of pipeline chunks that is best among those tried.
Cost:    some ten to thirty simulations, each of as many events as it has pipeline chunks.
Source:  ours. Over h hops, c pipeline chunks take (h + c - 1) (alpha + T / c) in the simplest case,
         which is least at c = sqrt((h - 1) T / alpha): the start.

The search tries powers of two and the numbers half way between. It tries all up to the start, which
together cost about three times the start alone, and larger ones while the time improves. The time
need not have a single minimum, and the start is far too high where steps do not wait for others. No
pipeline chunk of any transfer is smaller than a byte, unless there is only one pipeline chunk.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from forestcoll.errors import InvalidParameterError
from forestcoll.schedule.simulate.alpha_beta import AlphaBeta
from forestcoll.schedule.simulate.simulator import Simulation, Simulator

__all__ = ["MOST_PIPELINE_CHUNKS", "best_chunk_count", "chunk_count_within"]

MOST_PIPELINE_CHUNKS = 2**14
"""Largest number of pipeline chunks to try."""

_MOST_WORK = 2**26  # work limit of one simulation: some seconds
_PATIENCE = 2  # number of larger, worse candidates after which the search ends
# Share of the time that a larger number must save if the window is not 1: without limits and costs
# every larger number saves something.
_LEAST_SAVED = 1e-3


def best_chunk_count(
    simulator: Simulator,
    size_bytes: int,
    model: AlphaBeta | None = None,
    *,
    most: int = MOST_PIPELINE_CHUNKS,
    progress: Callable[[int, int], None] | None = None,
) -> Simulation:
    """Simulate with the number of pipeline chunks that is best among those tried.

    Parameters
    ----------
    model : AlphaBeta, optional
        With its defaults if not given. A model that keeps a clock allows one pipeline chunk only.
    most : int
        Largest number of pipeline chunks to try. The bytes of the smallest transfer also limit it.
        So does, without a closed form, the work of a simulation: some seconds, counted in events,
        not by a clock.
    progress : callable, optional
        As for :meth:`Simulator.run`, in each simulation.

    Raises
    ------
    InvalidParameterError, CapacityOverflowError, VerificationError
        As for :meth:`Simulator.run`; the first also if ``most`` is not a number from 1 up.
    """
    if isinstance(most, bool) or not isinstance(most, int) or most < 1:
        raise InvalidParameterError(f"most is {most!r}; it must be a whole number from 1")
    model = AlphaBeta() if model is None else model
    first = simulator.run(size_bytes, model, 1, progress=progress)
    if model.keep_clock or not first.time_s:
        return first
    grid = _grid(min(most, _bytes_of_smallest(simulator, size_bytes)))
    start = min(len(grid) - 1, _guess(simulator, size_bytes, model, grid))
    saved = 0.0 if model.window == 1 else _LEAST_SAVED
    least, last, worse = first, first, 0
    for place, pipeline_chunks in enumerate(grid[1:], 1):
        # The work grows in proportion to the pipeline chunks.
        if last.work * pipeline_chunks > _MOST_WORK * last.pipeline_chunks:
            break
        last = simulator.run(size_bytes, model, pipeline_chunks, progress=progress)
        worse = 0 if last.time_s < least.time_s * (1 - saved) else worse + 1
        least = min(least, last, key=lambda one: one.time_s)
        if place > start and worse >= _PATIENCE:
            break
    return least


def chunk_count_within(simulator: Simulator, size_bytes: int, chunk_bytes: int) -> int:
    """Return the least number of pipeline chunks of at most so many bytes in every transfer.

    Runtimes send a transfer through buffers of a fixed size, whatever is best.

    Raises
    ------
    InvalidParameterError
        If ``chunk_bytes`` is not a number from 1 up, or the number is above 2^20.
    """
    if isinstance(chunk_bytes, bool) or not isinstance(chunk_bytes, int) or chunk_bytes < 1:
        raise InvalidParameterError(
            f"the size of a pipeline chunk is {chunk_bytes!r}; it must be a whole number from 1"
        )
    program = simulator.program
    largest = size_bytes * int(program.amount.max(initial=0))
    return max(1, -(-largest // (program.chunks.whole * chunk_bytes)))


def _bytes_of_smallest(simulator: Simulator, size_bytes: int) -> int:
    """Return the whole bytes of the smallest transfer, or 1."""
    program = simulator.program
    moving = program.amount[program.amount > 0]
    return max(
        1, size_bytes * int(moving.min(initial=program.chunks.whole)) // program.chunks.whole
    )


def _grid(most: int) -> list[int]:
    """Return 1, 2, 3, 4, 6, 8, 12 and so on, up to ``most``."""
    powers = (2**i for i in range(max(1, most).bit_length()))
    found = sorted({number for power in powers for number in (power, power + power // 2)})
    return [number for number in found if number <= max(1, most)]


def _guess(simulator: Simulator, size_bytes: int, model: AlphaBeta, grid: list[int]) -> int:
    """Return the grid index of the smallest number that is not below the formula's."""
    steps = int(simulator.program.step.max(initial=0)) + 1
    if model.window != 1:  # the formula is for one chunk on the way; the search goes up from 1
        return 0
    price_s = simulator.slowest_hop_s(model)
    ideal = math.inf
    if price_s:
        ideal = math.sqrt((steps - 1) * simulator.pipelined_s(size_bytes) / price_s)
    return sum(number < ideal for number in grid)
