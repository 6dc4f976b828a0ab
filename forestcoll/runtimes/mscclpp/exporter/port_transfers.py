"""Transfers over port channels: who learns when they are over.

Problem: a port channel reads and writes after the operation of the sender, which therefore neither
         knows when its data may be written over, nor when its launch may end.
Input:   actions; the boxes of GPUs.
Output:  the same actions, with an arrival at the receiver for each transfer between boxes. What
         needed the transfer needs its arrival; a sender that hears nothing later waits for it.
Cost:    linear in actions and dependencies.
Source:  ours. A port channel does its requests one after another, so a signal behind a put says
         that it has arrived. Only this channel does, so one threadblock of the receiver, which has
         the arrival, tells all others of its GPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from forestcoll.runtimes.mscclpp.exporter.data_actions import Action, Slot, in_order, set_levels

__all__ = ["Boxes", "PortTransfers", "with_arrivals"]


@dataclass(frozen=True, slots=True)
class Boxes:
    """The box of each GPU, if port channels join boxes.

    Parameters
    ----------
    numbers : tuple of int or None
        By GPU; None for a GPU outside of boxes. Empty if memory channels reach all GPUs.
    """

    numbers: tuple[int | None, ...] = ()

    def are_apart(self, one: int, other: int) -> bool:
        """Return whether a port channel joins two GPUs, and no memory channel."""
        if not self.numbers:
            return False
        pair = self.numbers[one], self.numbers[other]
        return None not in pair and pair[0] != pair[1]


@dataclass(frozen=True, slots=True)
class PortTransfers:
    """Actions of which some go over port channels.

    Parameters
    ----------
    arrivals : dict
        Of each put over a port channel, its arrival at the receiver.
    """

    actions: list[Action] = field(repr=False)
    boxes: Boxes
    arrivals: dict[Action, Action] = field(repr=False)

    @property
    def slots(self) -> set[Slot]:
        """The slots that hold packets: none."""
        return set()


def with_arrivals(actions: Sequence[Action], boxes: Boxes) -> PortTransfers:
    """Add arrivals of transfers between boxes, and set levels again."""
    arrivals = {
        put: Action("end", put.target.gpu, [], put.target, [put])
        for put in actions
        if put.kind == "put" and boxes.are_apart(put.gpu, put.target.gpu)
    }
    if not arrivals:
        return PortTransfers(list(actions), boxes, {})
    found: list[Action] = []
    for action in actions:
        if action.kind == "end" and all(need in arrivals for need in action.needs):
            continue  # the arrival is the wait for the end of the launch
        action.needs = [arrivals.get(need, need) for need in action.needs]
        found.append(action)
        if action in arrivals:
            found.append(arrivals[action])
    found = [*found, *_answers(found, arrivals)]
    found.sort(key=lambda one: (one.target.chunk, one.target.first))  # a stable sort, by place
    set_levels(found)
    return PortTransfers(found, boxes, arrivals)


def _answers(actions: Sequence[Action], arrivals: dict[Action, Action]) -> list[Action]:
    """Return waits of senders for arrivals of which nothing else tells them."""
    needed_by = dict.fromkeys(actions, 0)  # the GPUs that act later, as bits
    for action in reversed(in_order(actions)):
        for need in action.needs:
            needed_by[need] |= needed_by[action] | (1 << action.gpu)
    return [
        Action("end", put.gpu, [], put.sources[0], [arrival])
        for put, arrival in arrivals.items()
        if not needed_by[arrival] >> put.gpu & 1
    ]
