"""How many pieces to cut the data into.

Problem: few pieces leave links idle while the first are on their way, many pay latencies often.
Input:   a simulator, a size and a model.
Output:  the simulation with the number of pieces that is best among those tried.
Cost:    some ten to thirty simulations, each of as many events as it has pieces.
Source:  ours. Over h hops, c pieces take (h + c - 1) (alpha + T / c) in the simplest case, which is
         least at c = sqrt((h - 1) T / alpha): the start.

Tried are powers of two and the numbers half way between: all those up to that start, which together
cost about three times what the start does, and those above it for as long as it gets better. The
time need not have a single valley: the start is far too high where steps do not wait for others.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from forestcoll.schedule.simulate.alpha_beta import AlphaBeta
from forestcoll.schedule.simulate.simulator import Simulation, Simulator

__all__ = ["MOST_PIECES", "best_pieces"]

MOST_PIECES = 2**14
"""More are not tried."""

_MOST_EVENTS = 2**23  # of one simulation: some seconds
_PATIENCE = 2  # larger numbers that are worse before it ends


def best_pieces(
    simulator: Simulator,
    size_bytes: int,
    model: AlphaBeta | None = None,
    *,
    most: int = MOST_PIECES,
    progress: Callable[[int, int], None] | None = None,
) -> Simulation:
    """Simulate with as many pieces as are best among those tried.

    Parameters
    ----------
    simulator : Simulator
    size_bytes : int
    model : AlphaBeta, optional
        With its defaults if not given. One that keeps to a clock allows one piece only.
    most : int
        No more pieces are tried; and, where there is no closed form, no more than make eight
        million events.
    progress : callable, optional
        As of :meth:`Simulator.run`, of each simulation.

    Raises
    ------
    InvalidParameterError, VerificationError
        As :meth:`Simulator.run`.
    """
    model = AlphaBeta() if model is None else model
    first = simulator.run(size_bytes, model, 1, progress=progress)
    if model.keep_clock or not first.time_s:
        return first
    tried = {1: first}

    def at(pieces: int) -> Simulation:
        if pieces not in tried:
            tried[pieces] = simulator.run(size_bytes, model, pieces, progress=progress)
        return tried[pieces]

    grid = _grid(most if first.closed else min(most, _affordable(simulator, model)))
    start = min(len(grid) - 1, _guess(simulator, size_bytes, model, grid))
    least = min(at(pieces).time_s for pieces in grid[: start + 1])
    worse = 0
    for pieces in grid[start + 1 :]:
        worse = 0 if at(pieces).time_s <= least else worse + 1
        least = min(least, at(pieces).time_s)
        if worse == _PATIENCE:
            break
    return min(tried.values(), key=lambda one: (one.time_s, one.pieces))


def _grid(most: int) -> list[int]:
    """1, 2, 3, 4, 6, 8, 12 and so on."""
    powers = (2**i for i in range(max(1, most).bit_length()))
    found = sorted({number for power in powers for number in (power, power + power // 2)})
    return [number for number in found if number <= max(1, most)]


def _affordable(simulator: Simulator, model: AlphaBeta) -> int:
    fair = model.is_fair
    each = simulator.streams if fair else simulator.program.num_transfers
    return max(1, _MOST_EVENTS // max(1, each))


def _guess(simulator: Simulator, size_bytes: int, model: AlphaBeta, grid: list[int]) -> int:
    """The place of the least number of pieces that is as many as the formula says."""
    steps = int(simulator.program.step.max(initial=0)) + 1
    alpha_s = float(model.alpha) / 10**6
    ideal = math.inf
    if alpha_s:
        ideal = math.sqrt((steps - 1) * simulator.flowing_s(size_bytes) / alpha_s)
    return sum(number < ideal for number in grid)
