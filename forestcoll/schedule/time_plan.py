"""Time plans: when every hop of a forest's trees sends, for a size of the data.

Problem: trees and shares alone do not say what waits for what, so runs of a forest share links by
         rules of their own and may take longer than its maker found.
Input:   a forest.
Output:  its times at one size: at constant rates, or in time slots.
Cost:    none; slots have a number for each tree, way to wait, and GPU.
Source:  ours; docs/mathematics/forests-over-time.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from forestcoll.schedule.equality import ByValue

__all__ = ["PARTS", "Slots", "TimePlan"]

PARTS = 720_720
"""Parts of a tree's data that its rows of slots share out; halves to sixteenths are whole."""


@dataclass(frozen=True, eq=False)
class Slots(ByValue):
    """A time slot for every hop of every tree.

    A row is a part of the data of a tree, of all its multiplicity alike. Its hop in slot s leaves
    at one rate from s to s + 1 widths. It passes a later link of its path later, by the latencies
    before that link, and has arrived one latency of the path after s + 1 widths.

    Parameters
    ----------
    width_us : Fraction
        The width of a slot, at the size of the plan.
    tree : int32 array of length R
        The batch of the forest.
    parts : int64 array of length R
        The parts of the tree's data, of :data:`PARTS`.
    slot : int32 array of shape (R, N)
        Of the hop to each rank, in a reduction of the hop from it; -1 at the root.
    common : bool
        Whether both phases of an allreduce count slots from its start, and so share them. Their
        trees, multiplicities and rows are then equal place by place, and carry the same data.
    """

    width_us: Fraction
    tree: npt.NDArray[np.int32] = field(repr=False)
    parts: npt.NDArray[np.int64] = field(repr=False)
    slot: npt.NDArray[np.int32] = field(repr=False)
    common: bool = False


@dataclass(frozen=True, eq=False)
class TimePlan(ByValue):
    """The times of a forest at a size, in the fluid model.

    Parameters
    ----------
    size_bytes : int
        As nccl-tests counts it: all shards together.
    alpha_us : Fraction
        Latency of a hop from GPU to GPU, beside those of its links.
    time_us : Fraction
        When all data have arrived.
    slots : Slots, optional
        None for constant rates: a tree of latency L sends at one rate from the start on, as fast
        as its data need to arrive at ``time_us``, and GPUs forward without waiting.
    """

    size_bytes: int
    alpha_us: Fraction
    time_us: Fraction
    slots: Slots | None = None
