"""Actions of threadblocks: steps split into transfers, for each slice.

Actions have consecutive numbers over all slices: slice by slice, and in the order of the steps
within a slice.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from forestcoll.runtimes.interpretation.cells import Bools, Ints
from forestcoll.runtimes.interpretation.findings import Place
from forestcoll.runtimes.msccl.interpreter.call_sizes import Cut
from forestcoll.runtimes.msccl.interpreter.merged_steps import POPS, PUSHES, MergedSteps

__all__ = ["Actions", "actions_of", "how_many"]


@dataclass(frozen=True, slots=True)
class Actions:
    """The actions of one call.

    Parameters
    ----------
    step, first_chunk, count : ndarray (actions of a slice,)
        The step of each action, its first chunk in the step, and its number of chunks.
    """

    steps: MergedSteps
    slices: int
    step: Ints
    first_chunk: Ints
    count: Ints

    @property
    def each(self) -> int:
        """Number of actions in a slice."""
        return self.step.size

    @property
    def block(self) -> Ints:
        """The threadblock of each action of a slice."""
        return self.steps.block[self.step]

    def step_of(self, action: int) -> int:
        """Return the step of an action of any slice."""
        return int(self.step[action % self.each])

    def slice_of(self, action: int) -> int:
        """Return the slice of an action."""
        return int(action // self.each)

    def name_of(self, action: int) -> str:
        """Return the kind and position of an action's step, in words."""
        return self.steps.name(self.step_of(action))

    def place_of(self, action: int) -> Place:
        """Return the position of an action's step in the file."""
        return self.steps.place(self.step_of(action))

    @property
    def pushes(self) -> Bools:
        """Whether each action of a slice sends."""
        sends = self.steps.send[self.block] >= 0
        return PUSHES[self.steps.kind[self.step]] & sends & (self.count > 0)

    @property
    def pops(self) -> Bools:
        """Whether each action of a slice receives."""
        receives = self.steps.receive[self.block] >= 0
        return POPS[self.steps.kind[self.step]] & receives & (self.count > 0)

    @property
    def first_of_step(self) -> Ints:
        """The first action of each step in a slice."""
        return np.searchsorted(self.step, np.arange(self.steps.block.size))

    @property
    def last_of_step(self) -> Ints:
        """The last action of each step in a slice."""
        return np.searchsorted(self.step, np.arange(self.steps.block.size), side="right") - 1


def how_many(steps: MergedSteps, cut: Cut) -> int:
    """Return the number of actions in all slices."""
    return int(_transfers(steps, cut).sum()) * cut.slices


def actions_of(steps: MergedSteps, cut: Cut) -> Actions:
    """Return the actions of a call."""
    each = _transfers(steps, cut)
    step = np.repeat(np.arange(steps.count.size), each)
    ends = np.cumsum(each)
    first = (np.arange(step.size) - (ends - each)[step]) * cut.at_once
    count = np.minimum(steps.count[step] - first, cut.at_once)
    return Actions(steps, cut.slices, step, first, count)


def _transfers(steps: MergedSteps, cut: Cut) -> Ints:
    """Transfers of each step; a step without chunks still waits and signals."""
    return np.maximum(-(-steps.count // cut.at_once), 1)
