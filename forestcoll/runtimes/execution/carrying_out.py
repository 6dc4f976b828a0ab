"""Execute a rank's plan over any transport.

Problem: compute the final data of a rank, if all ranks execute their plans.
Input:   its plan; its initial data; a transport.
Output:  its final data.
Cost:    the memory of all messages that it receives.
Source:  the rule of :mod:`forestcoll.schedule.program`: received data is combined with other data
         only when a message or the result that contains it is assembled.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from forestcoll.runtimes.execution.rank_plan import OWN, Message, Part, RankPlan
from forestcoll.runtimes.execution.transport import Array, Transport

__all__ = ["Process"]


class Process:
    """One rank, with buffers for all messages; it may execute its plan repeatedly.

    Parameters
    ----------
    plan : RankPlan
    transport : Transport
    dtype : str
        Of the elements, as numpy names it.
    """

    def __init__(self, plan: RankPlan, transport: Transport, dtype: str) -> None:
        self._plan, self._transport, self._dtype = plan, transport, dtype
        self._came = {
            message.number: self._zeros(message.length)
            for one in plan.rounds
            for message in one.receives
        }

    def carry_out(self, given: Array) -> Array:
        """Execute the plan; return the rank's final data."""
        for one in self._plan.rounds:
            outgoing = [(m, self._together(m.length, m.parts, given)) for m in one.sends]
            for message, brought in outgoing:
                if self._to_itself(message):
                    self._came[message.number][:] = brought
            self._transport.exchange(
                [(m.peer, self._came[m.number]) for m in one.receives if not self._to_itself(m)],
                [(m.peer, brought) for m, brought in outgoing if not self._to_itself(m)],
            )
        return self._together(self._plan.due[self._plan.rank], self._plan.result, given)

    def _zeros(self, length: int) -> Array:
        return self._transport.array(np.zeros(length, dtype=self._dtype))

    def _to_itself(self, message: Message) -> bool:
        return message.peer == self._plan.rank

    def _together(self, length: int, parts: Sequence[Part], given: Array) -> Array:
        """Assemble parts; a single part that fills the place is not copied."""
        if len(parts) == 1 and parts[0].length == length and not parts[0].add:
            return self._stretch(parts[0], given)
        made = self._zeros(length)
        for part in parts:
            end = part.at + part.length
            if part.add:
                made[part.at : end] += self._stretch(part, given)
            else:
                made[part.at : end] = self._stretch(part, given)
        return made

    def _stretch(self, part: Part, given: Array) -> Array:
        source = given if part.source == OWN else self._came[part.source]
        return source[part.begin : part.begin + part.length]
