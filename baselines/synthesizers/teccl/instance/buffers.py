"""Limited buffers: how many chunks a node may hold, and when a slot becomes free.

Problem: say what takes a slot, when it is freed, and what may be sent from it.
Input:   the number of slots; which of two readings of the paper.
Output:  what :mod:`baselines.synthesizers.teccl.milp.epoch_program` asks for.
Cost:    none.
Source:  Liu et al., TE-CCL (SIGCOMM 2024), appendix B: with X for what is removed,
         B[k] = B[k-1] - X[k-1] + what has come, and the sum of B over all chunks is at most L at
         every node in every epoch.

Read to the letter:

- All that is in B takes a slot, at GPUs and at switches that store: a GPU's own chunks too, all of
  which it has in the first epoch, and which it may drop and get again like any other.
- A GPU reads a chunk that it wants as it comes in, with or without a slot. What it has read is
  counted by R, not by B, and is not sent on from there: that takes a slot.
- What is dropped may come again, and then be sent again.
- "passing", the printed rule: appendix B leaves the rule for sending as it is, so that a chunk is
  sent in epoch k if it was in the buffer in epoch k - 1 or has come in by its end, though it be
  dropped by then: what is sent on at once takes no slot.
- "kept": a chunk is sent in epoch k if it is in the buffer in epoch k.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["BUFFERING", "Buffers"]

BUFFERING = ("passing", "kept")
"""From where chunks are sent."""


@dataclass(frozen=True, slots=True)
class Buffers:
    """What every node can hold that keeps what it gets.

    Parameters
    ----------
    slots : int
        L, in chunks.
    kept : bool
        Whether what is sent in an epoch must have a slot in it.
    again : bool
        Whether what a node has dropped may come again, as in the paper.
    """

    slots: int
    kept: bool = False
    again: bool = True
