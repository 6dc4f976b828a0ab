"""What each threadblock does one after another: steps cut into transfers, for each slice.

The actions of all slices are numbered through, those of one slice after those of the one before,
and in a slice as the steps are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from forestcoll.schedule.interpret.call_sizes import Cut
from forestcoll.schedule.interpret.findings import Place
from forestcoll.schedule.interpret.merged_steps import POPS, PUSHES, Bools, Ints, MergedSteps

__all__ = ["MOST_ACTIONS", "Actions", "actions_of", "how_many"]

MOST_ACTIONS = 4_000_000
"""Of all slices; more would take minutes and gigabytes."""


@dataclass(frozen=True, slots=True)
class Actions:
    """Of one call.

    Parameters
    ----------
    steps : MergedSteps
    slices : int
    step, first_chunk, count : ndarray (actions of a slice,)
        Of which step, from which of its chunks on, and how many.
    """

    steps: MergedSteps
    slices: int
    step: Ints
    first_chunk: Ints
    count: Ints

    @property
    def each(self) -> int:
        """How many there are in a slice."""
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
        """Return the kind and place of its step, in words."""
        return self.steps.name(self.step_of(action))

    def place_of(self, action: int) -> Place:
        """Return where its step is in the file."""
        return self.steps.place(self.step_of(action))

    @property
    def pushes(self) -> Bools:
        """Which of a slice send."""
        sends = self.steps.send[self.block] >= 0
        return PUSHES[self.steps.kind[self.step]] & sends & (self.count > 0)

    @property
    def pops(self) -> Bools:
        """Which of a slice receive."""
        receives = self.steps.receive[self.block] >= 0
        return POPS[self.steps.kind[self.step]] & receives & (self.count > 0)

    @property
    def first_of_step(self) -> Ints:
        """The first action in a slice of each step."""
        return np.searchsorted(self.step, np.arange(self.steps.block.size))

    @property
    def last_of_step(self) -> Ints:
        """The last one."""
        return np.searchsorted(self.step, np.arange(self.steps.block.size), side="right") - 1


def how_many(steps: MergedSteps, cut: Cut) -> int:
    """Return how many actions there would be in all slices."""
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
    """Of each step; one of no chunks still waits and tells."""
    return np.maximum(-(-steps.count // cut.at_once), 1)
