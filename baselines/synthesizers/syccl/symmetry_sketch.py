"""Sketch: a tree from the root over all places, by step and layer.

Source: Cao et al., SyCCL (SIGCOMM 2025), by public descriptions: a sketch is a graph of
        sub-demands. A sub-demand is a step, a layer, a group of it, its sources and destinations.

Here every destination has its source, so a sketch is a tree. Transfers of one step, layer and group
are a sub-demand.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Sketch"]

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Sketch:
    """Transfers in the order of their steps, one into each place but 0.

    Parameters
    ----------
    step : tuple of int
        Step of each transfer, from 0.
    layer : tuple of int
        Its layer, by its number in the cluster.
    tail, head : tuple of int
        Places.
    """

    step: tuple[int, ...]
    layer: tuple[int, ...]
    tail: tuple[int, ...]
    head: tuple[int, ...]

    @property
    def num_steps(self) -> int:
        """Number of steps."""
        return 1 + max(self.step)

    def carried(self, *, scatter: bool) -> Numbers:
        """Return the shards that each transfer carries.

        One each in a broadcast. In a scatter, where every place needs a shard of its own, as many
        as there are places behind it.
        """
        if not scatter:
            return np.ones(len(self.head), dtype=np.int64)
        behind = [1] * (len(self.head) + 1)
        for tail, head in zip(reversed(self.tail), reversed(self.head), strict=True):
            behind[tail] += behind[head]
        return np.array([behind[head] for head in self.head], dtype=np.int64)

    def entry(self) -> Numbers:
        """Return the transfer into each place, -1 for the root."""
        into = np.full(len(self.head) + 1, -1, dtype=np.int64)
        into[list(self.head)] = np.arange(len(self.head))
        return into
