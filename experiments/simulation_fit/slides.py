"""Published measurements on two DGX A100, as curves of the simulator.

The slides of the ForestColl paper print the algbw of eight curves at four sizes
(``published/forestcoll_measured.csv``). Schedules are made for the paper's bandwidths, 300 GB/s
from a GPU to the NVSwitch; NCCL counts 240 (``graph/topo.h``), so curves may run on either.
"""

from __future__ import annotations

from experiments.published import printed
from experiments.simulation_fit.measurements import Curve, Measurement

__all__ = ["HELD_BACK", "NETWORKS", "slide_measurements"]

_MADE_FOR = "dgx_a100:boxes=2"

NETWORKS = {
    "300 GB/s, the paper's": _MADE_FOR,
    "240 GB/s, NCCL's": "dgx_a100:boxes=2,nvswitch_bandwidth=240",
}
"""Networks of the simulations by the NVLink bandwidth of a GPU."""

HELD_BACK = ("*/taccl", "*/nccl-tree", "reduce-scatter/*", "allreduce/*")
"""Curves that no setting is fitted to; the allgathers of ForestColl and of NCCL's ring are left."""

_METHODS = {"taccl": "taccl:sketch=dgx-uc-max,chunks=1"}


def slide_measurements(topology: str = _MADE_FOR) -> list[Measurement]:
    """Return the measurements for a network of :data:`NETWORKS`."""
    made_for = "" if topology == _MADE_FOR else _MADE_FOR
    return [
        Measurement(
            Curve(
                topology,
                line["collectives"],
                _METHODS.get(line["method"], line["method"]),
                made_for,
            ),
            int(line["size_bytes"]),
            int(line["size_bytes"]) / 1e9 / float(line["algbw_measured_gb_s"]),
        )
        for line in printed("forestcoll_measured.csv")
        if line["size_bytes"]
    ]
