"""Signals between threadblocks: the phases of each threadblock, with its waits and signals.

Problem: the dependencies of an action belong to other threadblocks, at its own or other GPUs.
Input:   actions, each with its threadblock and its level.
Output:  for each threadblock its phases (the actions of one level), with the threadblocks that it
         waits for before and signals after.
Cost:    linear in the dependencies, with a sort.
Source:  ours. A threadblock executes its phases by level, and every dependency has a lower level.
         So an unfinished phase of the lowest level can always proceed, and nothing deadlocks. A
         signal is sent only if it tells the receiver something new, and each signal has one wait.
         So a launch leaves the difference of counters unchanged.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from forestcoll.runtimes.mscclpp.exporter.data_actions import Action
from forestcoll.runtimes.mscclpp.exporter.teams import Block

__all__ = ["Phase", "phases_of"]


@dataclass(slots=True)
class Phase:
    """The actions of a threadblock at one level.

    Attributes
    ----------
    waits : list of Block
        Threadblocks whose signals it waits for first.
    actions : list of Action
    signals : list of Block
        Threadblocks that it signals at the end.
    """

    waits: list[Block] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)
    signals: list[Block] = field(default_factory=list)


def phases_of(
    actions: Sequence[Action], block: Mapping[Action, Block]
) -> dict[Block, dict[int, Phase]]:
    """Return the phases of each threadblock, by level, in their order."""
    phases = defaultdict[Block, dict[int, Phase]](dict)
    for action in sorted(actions, key=lambda one: one.level):
        phases[block[action]].setdefault(action.level, Phase()).actions.append(action)
    for (sender, receiver), needed in sorted(_needed(actions, block).items()):
        known = -1
        for level in sorted(needed):
            if needed[level] > known:
                known = needed[level]
                phases[sender][known].signals.append(receiver)
                phases[receiver][level].waits.append(sender)
    return dict(phases)


def _needed(
    actions: Sequence[Action], block: Mapping[Action, Block]
) -> dict[tuple[Block, Block], dict[int, int]]:
    """Return, for each pair of threadblocks, the level that each level of the other needs."""
    found = defaultdict[tuple[Block, Block], dict[int, int]](dict)
    for action in actions:
        mine = block[action]
        for need in action.needs:
            theirs = block[need]
            if theirs != mine:
                levels = found[theirs, mine]
                levels[action.level] = max(levels.get(action.level, -1), need.level)
    return dict(found)
