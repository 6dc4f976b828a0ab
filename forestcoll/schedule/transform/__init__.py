"""Schedules made of schedules.

To read: ``reverse`` (forests turned round: reductions), ``factoring`` (held in factored form),
``plane_routes`` (paths laid over parallel planes), ``synchronous_steps`` (forests hop by hop); of
steps ``time_reversal``, ``sequential_phases`` (one phase, then the other) and ``shards`` (cut
alike); and what lowering is made of: ``single_paths`` (one path each), ``timed_transfers``
(transfers with times), ``dependencies`` (who waits for whom), ``program_steps`` (programs as
steps).
"""

from forestcoll.schedule.transform.program_steps import stepwise
from forestcoll.schedule.transform.sequential_phases import sequential
from forestcoll.schedule.transform.shards import by_shards
from forestcoll.schedule.transform.synchronous_steps import lockstep
from forestcoll.schedule.transform.time_reversal import time_reversed

__all__ = ["by_shards", "lockstep", "sequential", "stepwise", "time_reversed"]
