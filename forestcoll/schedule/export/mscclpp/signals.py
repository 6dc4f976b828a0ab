"""Who signals whom, and when: the phases of each threadblock.

Problem: what an action needs is done by other threadblocks, at other GPUs or its own
Input:   actions, each with its threadblock and its level.
Output:  for each threadblock its phases, the actions of one level each, with the threadblocks
         that it waits for before and signals after.
Cost:    linear in the needs, with a sort.
Source:  ours. A threadblock does its phases by level, and every need is of a lower level: so of all
         phases that are not done one of the least level can always go on, and nothing deadlocks. A
         signal is sent only where the receiver does not know as much already, and each has one
         wait; so counters are as far apart after a launch as before it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from forestcoll.schedule.export.mscclpp.data_actions import Action
from forestcoll.schedule.export.mscclpp.teams import Block

__all__ = ["Phase", "phases_of"]


@dataclass(slots=True)
class Phase:
    """What a threadblock does at one level.

    Attributes
    ----------
    waits : list of Block
        Those whose signal comes first.
    actions : list of Action
    signals : list of Block
        Those that are told when it is done.
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
    """Return for each two threadblocks up to which level each level of one needs the other."""
    found = defaultdict[tuple[Block, Block], dict[int, int]](dict)
    for action in actions:
        mine = block[action]
        for need in action.needs:
            theirs = block[need]
            if theirs != mine:
                levels = found[theirs, mine]
                levels[action.level] = max(levels.get(action.level, -1), need.level)
    return dict(found)
