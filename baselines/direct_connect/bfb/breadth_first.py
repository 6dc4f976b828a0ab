"""The loads and transfers of breadth-first broadcasts, computed natively.

Problem: LP (1), and with latencies LP (14): for each GPU and step t, the least time in which its
         links bring in the shards of all GPUs t hops away; and the transfers for it.
Input:   a network of GPUs; the number of pieces of each shard.
Output:  exact times; transfers of whole pieces.
Cost:    N^2 d look-ups of distances; a flow for each GPU and step, over kinds of sources.
Source:  Zhao et al. (NSDI 2025), sections 6.1 to 6.3, appendix E.2 (programs (1), (13), (14),
         Theorem 19). The times are those of the tightest sets of sources, found by flows, not by
         linear programs. Whole pieces are an integral flow, so flows solve the printed integer
         program exactly: with equal bandwidths and no latencies, W = ceil(P U).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from baselines.direct_connect.bfb.alike import Alike
from baselines.direct_connect.bfb.broadcast_network import BroadcastNetwork
from baselines.native import _methods
from forestcoll.schedule.sends import Intervals, Sends

__all__ = ["BroadcastTimes", "broadcast", "broadcast_times"]

Progress = Callable[[int, int], None]
Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]


@dataclass(frozen=True)
class BroadcastTimes:
    """The duration of each step at each representative GPU.

    Parameters
    ----------
    network : BroadcastNetwork
    rank : int32 array of length R
        The representative GPUs.
    numerator, denominator : int64 arrays, R x steps
        U in units of the network's time: without latencies, with links of capacity 1, in shards.
    """

    network: BroadcastNetwork
    rank: npt.NDArray[np.int32] = field(repr=False)
    numerator: npt.NDArray[np.int64] = field(repr=False)
    denominator: npt.NDArray[np.int64] = field(repr=False)

    def at(self, row: int, step: int) -> Fraction:
        """U of a row's GPU in a step, from 0."""
        return Fraction(int(self.numerator[row, step]), int(self.denominator[row, step]))

    @property
    def longest(self) -> tuple[Fraction, ...]:
        """The maximum over all GPUs, for each step."""
        return tuple(
            max(Fraction(n, d) for n, d in {*zip(*column, strict=True)})
            for column in zip(self.numerator.T.tolist(), self.denominator.T.tolist(), strict=True)
        )

    @property
    def time_s_per_gb(self) -> Fraction:
        """T_B, plus the latencies if they count."""
        return sum(self.longest, Fraction(0)) * self.network.unit_s_per_gb

    @property
    def pieces(self) -> int:
        """The number of pieces of each shard for which whole pieces take no longer."""
        return math.lcm(*(time.denominator for time in self.longest)) * self.network.size


def broadcast_times(
    network: BroadcastNetwork,
    alike: Alike,
    *,
    threads: int = 1,
    progress: Progress | None = None,
) -> BroadcastTimes:
    """Balance every step at every GPU.

    Raises
    ------
    DisconnectedError
        If some GPU cannot be reached.
    CapacityOverflowError
        If exact 64-bit arithmetic does not hold the numbers.
    """
    rank, numerator, denominator = _methods.broadcast_times(
        *_arguments(network, alike), threads=threads, progress=progress
    )
    shape = (len(rank), -1)
    return BroadcastTimes(network, rank, numerator.reshape(shape), denominator.reshape(shape))


def broadcast(
    network: BroadcastNetwork,
    alike: Alike,
    pieces: int,
    *,
    threads: int = 1,
    progress: Progress | None = None,
) -> Sends:
    """Distribute whole pieces, ``pieces`` to a shard; errors as for :func:`broadcast_times`.

    Returns
    -------
    Sends
        Chunk r is the shard of rank r.
    """
    step, source, tail, head, first, amount = _methods.broadcast(
        *_arguments(network, alike), pieces=pieces, threads=threads, progress=progress
    )
    interval = None if pieces == 1 else Intervals(first, amount)
    return Sends(step, source, tail, head, np.zeros(len(step), dtype=np.bool_), interval)


def _arguments(
    network: BroadcastNetwork, alike: Alike
) -> tuple[int, Ints, Ints, Longs, Longs, int, Ints, Ints]:
    return (
        network.topology.num_compute,
        network.tail,
        network.head,
        network.capacity,
        network.delay,
        network.size,
        alike.representative,
        alike.image,
    )
