"""Schedules made of schedules.

To read: ``reverse`` (forests turned round: reductions), ``factoring`` (held in factored form),
``plane_routes`` (paths laid over parallel planes), ``lockstep`` (forests hop by hop); of steps
``time_reversal``, ``in_turn`` (one phase, then the other) and ``shards`` (cut alike); and what
lowering is made of: ``ways`` (one path each), ``moves`` (transfers with times), ``needs`` (who
waits for whom), ``stepwise`` (programs as steps).
"""

from forestcoll.schedule.transform.in_turn import in_turn
from forestcoll.schedule.transform.lockstep import lockstep
from forestcoll.schedule.transform.shards import by_shards
from forestcoll.schedule.transform.stepwise import stepwise
from forestcoll.schedule.transform.time_reversal import time_reversed

__all__ = ["by_shards", "in_turn", "lockstep", "stepwise", "time_reversed"]
