"""Stored results of earlier schedule searches.

Problem: the diamond and the modified de Bruijn graphs have bandwidth-optimal allgathers that are
         not breadth first; provide them without a search.
Input:   a network.
Output:  its schedule, if one is stored for it or for a network with the same links.
Cost:    reading a file.
Source:  tables 7 and 9 of Zhao et al. (NSDI 2025) state that such schedules exist, and their steps.
         Ours come from :mod:`~baselines.direct_connect.bfb.optimal_search`. A test proves each:
         valid by ``verify``, optimal by the bound (N - 1) / N M / B.

To repeat the search (seconds): ``python -m baselines.direct_connect.bfb.found``.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from baselines.direct_connect.bfb.optimal_search import bandwidth_optimal
from forestcoll.schedule.files import read_schedule, write_schedule
from forestcoll.schedule.steps import StepSchedule
from forestcoll.topology.model import Topology
from forestcoll.topology.spec import load_topology

__all__ = ["SEARCHED", "schedule_of", "search"]

SEARCHED = {
    "diamond": ("diamond", 3, 2),
    "modified_de_bruijn:degree=2,length=3": ("modified_de_bruijn_2_3", 4, 2),
    "modified_de_bruijn:degree=2,length=4": ("modified_de_bruijn_2_4", 5, 2),
    "modified_de_bruijn:degree=3,length=2": ("modified_de_bruijn_3_2", 3, 3),
    "modified_de_bruijn:degree=4,length=2": ("modified_de_bruijn_4_2", 3, 4),
}
"""Networks: the name of their files, the steps and the pieces of their schedules."""

_FOLDER = Path(__file__).parent / "searched"


def schedule_of(topology: Topology) -> StepSchedule | None:
    """Return the stored schedule of a network, or of its reverse."""
    if topology.name not in SEARCHED:
        return None
    for file in _files(topology.name):
        kept = read_schedule(file)
        assert isinstance(kept, StepSchedule)
        if kept.topology.links == topology.links:
            return replace(kept, topology=topology)
    return None


def search() -> None:
    """Repeat the search for all of them, also on the reverse networks."""
    for spec, (_, steps, pieces) in SEARCHED.items():
        topology = load_topology(spec)
        for file, network in zip(_files(spec), (topology, topology.reversed()), strict=True):
            write_schedule(bandwidth_optimal(network, steps, pieces), file)


def _files(spec: str) -> tuple[Path, Path]:
    """Where the schedules of a network and of its reverse are."""
    stem = SEARCHED[spec][0]
    return _FOLDER / f"{stem}.json", _FOLDER / f"{stem}_reverse.json"


if __name__ == "__main__":
    search()
