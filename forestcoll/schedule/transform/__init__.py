"""Transformations of schedules: reversal, factoring, steps, and the parts of compilation.

To read, for forests: ``factoring`` (explicit to factored form), ``rotated_trees`` (rotations
written out), ``plane_routes`` (paths distributed over parallel planes) and ``synchronous_steps``
(forests hop by hop). ``reversal`` serves forests and steps. For steps: ``sequential_phases`` (one
phase, then the other) and ``shards`` (common chunks). For compilation: ``single_paths`` (one path
per transfer), ``timed_transfers`` (transfers with times), ``dependencies`` (waiting between
transfers) and ``program_steps`` (programs as steps).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from forestcoll.lazy_loading import attach

if TYPE_CHECKING:
    from forestcoll.schedule.transform.program_steps import stepwise
    from forestcoll.schedule.transform.reversal import time_reversed
    from forestcoll.schedule.transform.sequential_phases import sequential
    from forestcoll.schedule.transform.shards import by_shards
    from forestcoll.schedule.transform.synchronous_steps import lockstep

__all__ = ["by_shards", "lockstep", "sequential", "stepwise", "time_reversed"]

# Loaded when first asked for: the core needs two modules of these, and baselines need others.
__getattr__, __dir__ = attach(
    __name__,
    {
        "by_shards": f"{__name__}.shards",
        "lockstep": f"{__name__}.synchronous_steps",
        "sequential": f"{__name__}.sequential_phases",
        "stepwise": f"{__name__}.program_steps",
        "time_reversed": f"{__name__}.reversal",
    },
)
