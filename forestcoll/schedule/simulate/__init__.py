"""Simulation of schedules with latencies, for any size of the data.

To read: ``alpha_beta`` (the assumptions), ``native_form`` (a program in the arrays of the native
simulator), ``simulator`` (one size, a number of pipeline chunks), ``transfer_times`` (when each of
them is sent), ``pipeline_chunks`` (the best number of them), ``reach`` (a lower bound on latency).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from forestcoll.lazy_loading import attach
from forestcoll.schedule.simulate.alpha_beta import UNLIMITED, AlphaBeta, Priority, Sharing

if TYPE_CHECKING:
    from forestcoll.schedule.simulate.pipeline_chunks import (
        MOST_PIPELINE_CHUNKS,
        best_chunk_count,
        chunk_count_within,
    )
    from forestcoll.schedule.simulate.reach import least_latency_s
    from forestcoll.schedule.simulate.simulator import LinkUsage, Simulation, Simulator
    from forestcoll.schedule.simulate.transfer_times import Timeline, write_timeline

__all__ = [
    "MOST_PIPELINE_CHUNKS", "UNLIMITED", "AlphaBeta", "LinkUsage", "Priority", "Sharing",
    "Simulation", "Simulator", "Timeline", "best_chunk_count", "chunk_count_within",
    "least_latency_s", "write_timeline",
]  # fmt: skip

_CHUNKS = f"{__name__}.pipeline_chunks"
_SIMULATOR = f"{__name__}.simulator"
_TIMES = f"{__name__}.transfer_times"

# The simulator is loaded when first asked for: options of commands name the assumptions only.
__getattr__, __dir__ = attach(
    __name__,
    {
        "MOST_PIPELINE_CHUNKS": _CHUNKS,
        "LinkUsage": _SIMULATOR,
        "Simulation": _SIMULATOR,
        "Simulator": _SIMULATOR,
        "Timeline": _TIMES,
        "best_chunk_count": _CHUNKS,
        "chunk_count_within": _CHUNKS,
        "least_latency_s": f"{__name__}.reach",
        "write_timeline": _TIMES,
    },
)
