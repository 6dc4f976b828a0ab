"""How long a schedule takes for some size of the data, latencies included: in simulation.

To read: ``alpha_beta`` (what is assumed), ``native_form`` (a program, as the native simulator takes
it), ``simulator`` (one size, so many pipeline chunks), ``pipeline_chunks`` (how many to take),
``reach`` (the latency that no schedule is below).
"""

from forestcoll.schedule.simulate.alpha_beta import AlphaBeta, Sharing
from forestcoll.schedule.simulate.pipeline_chunks import MOST_PIPELINE_CHUNKS, best_chunk_count
from forestcoll.schedule.simulate.reach import least_latency_s
from forestcoll.schedule.simulate.simulator import LinkUsage, Simulation, Simulator

__all__ = [
    "MOST_PIPELINE_CHUNKS",
    "AlphaBeta",
    "LinkUsage",
    "Sharing",
    "Simulation",
    "Simulator",
    "best_chunk_count",
    "least_latency_s",
]
