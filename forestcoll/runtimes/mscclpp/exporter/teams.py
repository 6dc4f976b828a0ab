"""Assignment of actions to threadblocks, in teams with one or a few threadblocks at each GPU.

Problem: a threadblock has room for few operations and channels; work that is spread over several
         needs semaphores.
Input:   actions; the number of teams; the load limit of a threadblock.
Output:  the threadblock of each action.
Cost:    linear, apart from a search among the threadblocks of a team at a GPU.
Source:  ours. A team gets adjacent places of the data. All actions of a place at a GPU go to one
         threadblock if they fit. The rest goes to another threadblock of the team, and semaphores
         order the two.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from forestcoll.runtimes.mscclpp.exporter.data_actions import Action

__all__ = ["Block", "Fullness", "blocks_of"]


@dataclass(frozen=True, slots=True, order=True)
class Block:
    """A threadblock: its GPU, its team, and its number in the team at that GPU."""

    gpu: int
    team: int
    number: int


@dataclass(frozen=True, slots=True)
class Fullness:
    """Load limit of a threadblock: the GPUs that it talks to, and its estimated operations."""

    peers: int
    operations: int


_PHASE = 5  # operations around what is done at once: wait, nop, it, nop, signal


@dataclass(slots=True)
class _Load:
    """The load of a threadblock."""

    peers: set[int] = field(default_factory=set)
    levels: set[int] = field(default_factory=set)
    actions: int = 0

    def fits(self, peers: set[int], level: int, most: Fullness) -> bool:
        levels = len(self.levels | {level})
        many = _PHASE * levels + max(0, self.actions + 1 - levels) // 4
        return len(self.peers | peers) <= most.peers and many <= most.operations


def blocks_of(actions: Sequence[Action], teams: int, most: Fullness) -> dict[Action, Block]:
    """Return the threadblock of each action."""
    places = list(dict.fromkeys((one.target.chunk, one.target.first) for one in actions))
    team = {place: number * teams // len(places) for number, place in enumerate(places)}
    loads = defaultdict[tuple[int, int], list[_Load]](list)
    found: dict[Action, Block] = {}
    for action in actions:
        at = action.gpu, team[action.target.chunk, action.target.first]
        peers = {one.gpu for one in action.needs} | {one.gpu for one in action.targets}
        if action.kind in ("repkt", "upkt", "rppkt"):
            peers |= {slot.peer for slot in action.sources if slot.peer >= 0}
        peers.discard(action.gpu)
        number = _first_fit(loads[at], peers, action.level, most)
        found[action] = Block(*at, number)
    return found


def _first_fit(loads: list[_Load], peers: set[int], level: int, most: Fullness) -> int:
    fitting = (place for place, load in enumerate(loads) if load.fits(peers, level, most))
    number = next(fitting, len(loads))
    if number == len(loads):
        loads.append(_Load())
    load = loads[number]
    load.peers |= peers
    load.levels.add(level)
    load.actions += 1
    return number
