"""Exhaustive search for bandwidth-optimal allgathers of small networks, and its stored results.

Problem: a bandwidth-optimal allgather in so many steps, on a network on which no breadth-first
         broadcast is optimal: shards may take detours and wait.
Output:  a step schedule, or a proof that there is none with such pieces.
Cost:    a constraint program of N |E| T variables for each piece; the largest network of the paper
         (16 GPUs of degree 4, 3 steps, 4 pieces) has 12,288.
Source:  the conditions of Theorem 5 of Zhao et al. (NSDI 2025): in every step all links carry the
         same amount, and no GPU receives anything twice. OR-Tools' CP-SAT searches. Tables 7 and 9
         state that such schedules exist for the diamond and the modified de Bruijn graphs, and
         their steps. A test proves each stored result valid by ``verify`` and optimal by the bound.

To repeat the searches (seconds): ``python -m baselines.direct_connect.bfb.optimal_search``.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from baselines.building.composing import hop_by_hop
from forestcoll.errors import InfeasibleError, TimeLimitError, UnsupportedError
from forestcoll.problem.limits import Limits
from forestcoll.schedule.files import read_schedule, write_schedule
from forestcoll.schedule.sends import Chunks, Intervals, Sends
from forestcoll.schedule.steps import StepSchedule
from forestcoll.topology.model import Topology
from forestcoll.topology.spec import load_topology

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

__all__ = ["SEARCHED", "bandwidth_optimal", "search", "stored_schedule"]


def bandwidth_optimal(
    topology: Topology, steps: int, pieces: int, limits: Limits | None = None
) -> StepSchedule:
    """Search for an allgather of so many steps that takes (N - 1) / N M / B.

    Parameters
    ----------
    topology : Topology
        Of GPUs only.
    pieces : int
        Number of pieces of each shard.
    limits : Limits, optional
        With one thread the result is reproducible.

    Raises
    ------
    UnsupportedError
        If there are switches, or links or GPUs that differ.
    InfeasibleError
        If there is no such schedule; proved by the solver.
    TimeLimitError
        If neither was found in time.
    """
    from ortools.sat.python import cp_model  # takes half a second

    degree = _degree(topology)
    size, links = topology.num_compute, [(link.tail, link.head) for link in topology.links]
    model = cp_model.CpModel()
    sent = {
        key: model.new_bool_var("")
        for key in product(range(size), range(pieces), range(len(links)), range(steps))
        if links[key[2]][1] != key[0]
    }
    into = {v: [i for i, link in enumerate(links) if link[1] == v] for v in range(size)}
    for source, piece, gpu in product(range(size), range(pieces), range(size)):
        if gpu != source:
            model.add_exactly_one(
                sent[source, piece, link, step] for link in into[gpu] for step in range(steps)
            )
    for source, piece, link, step in sent:
        tail = links[link][0]
        if tail != source:
            # Who sends it has got it in an earlier step.
            before = [sent[source, piece, i, t] for i in into[tail] for t in range(step)]
            model.add(sum(before) >= sent[source, piece, link, step])
    loads = [model.new_int_var(0, size * pieces, "") for _ in range(steps)]
    for step, link in product(range(steps), range(len(links))):
        carried = (
            sent[source, piece, link, step]
            for source, piece in product(range(size), range(pieces))
            if (source, piece, link, step) in sent
        )
        model.add(sum(carried) == loads[step])
    # Theorem 5: in total each GPU receives every foreign piece once, over links equally loaded.
    model.add(degree * sum(loads) == (size - 1) * pieces)
    return _read(topology, pieces, sent, _solved(model, limits or Limits(), topology))


def _degree(topology: Topology) -> int:
    heads = [link.head for link in topology.links]
    if topology.switches or len({link.bandwidth_gb_s for link in topology.links}) > 1:
        raise UnsupportedError(
            f"unsupported: {topology.name} has switches, or links that differ; the search is for "
            f"GPUs linked alike"
        )
    degrees = {heads.count(v) for v in range(topology.num_compute)}
    if len(degrees) != 1:
        raise UnsupportedError(f"unsupported: the GPUs of {topology.name} differ in degree")
    return degrees.pop()


def _solved(model: cp_model.CpModel, limits: Limits, topology: Topology) -> cp_model.CpSolver:
    from ortools.sat.python import cp_model

    solver = cp_model.CpSolver()
    solver.parameters.num_workers = limits.threads
    solver.parameters.random_seed = 1
    if limits.seconds is not None:
        solver.parameters.max_time_in_seconds = limits.seconds
    status = solver.solve(model)
    if status == cp_model.INFEASIBLE:
        raise InfeasibleError(
            f"{topology.name} has no bandwidth-optimal allgather in so many steps and pieces"
        )
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        raise TimeLimitError(f"{topology.name}: nothing was found in {limits.seconds} s")
    return solver


def _read(
    topology: Topology,
    pieces: int,
    sent: dict[tuple[int, int, int, int], cp_model.IntVar],
    solver: cp_model.CpSolver,
) -> StepSchedule:
    rows = np.array([key for key, variable in sent.items() if solver.value(variable)])
    ends = np.array([(link.tail, link.head) for link in topology.links])
    tail, head = ends[rows[:, 2]].T
    interval = Intervals(rows[:, 1].astype(np.int64), np.ones(len(rows), dtype=np.int64))
    sends = Sends.sorted(rows[:, 3], rows[:, 0], tail, head, interval=interval)
    size = topology.num_compute
    chunks = Chunks.equal(range(size), whole=size * pieces, size=pieces)
    return hop_by_hop(topology, "optimal-search", "allgather", chunks, sends)


SEARCHED = {
    "diamond": ("diamond", 3, 2),
    "modified_de_bruijn:degree=2,length=3": ("modified_de_bruijn_2_3", 4, 2),
    "modified_de_bruijn:degree=2,length=4": ("modified_de_bruijn_2_4", 5, 2),
    "modified_de_bruijn:degree=3,length=2": ("modified_de_bruijn_3_2", 3, 3),
    "modified_de_bruijn:degree=4,length=2": ("modified_de_bruijn_4_2", 3, 4),
}
"""Networks: the name of their files, the steps and the pieces of their schedules."""

_FOLDER = Path(__file__).parent / "searched"


def stored_schedule(topology: Topology) -> StepSchedule | None:
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
    stem = SEARCHED[spec][0]
    return _FOLDER / f"{stem}.json", _FOLDER / f"{stem}_reverse.json"


if __name__ == "__main__":
    search()
