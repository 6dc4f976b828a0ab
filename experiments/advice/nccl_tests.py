"""What every program of nccl-tests can show at best on a network.

Problem: one table for a cluster that is to be tested: is what the programs print good?
Input:   a network, seconds for each row.
Output:  for each program the bound and the best schedule found, as its algbw and busbw.
Cost:    that of :func:`experiments.advice.expected.expected` for each collective; for the programs
         of sends and receives that of :mod:`forestcoll.all_to_all.best_flow`.
Source:  nccl-tests (src/*.cu): the sizes that each program divides by its time, and its factor
         from algbw to busbw. ``hypercube`` exchanges in log2 N steps; their times are added.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from baselines.registry import METHODS
from experiments.advice.expected import Expected, busbw_factor, expected
from forestcoll.all_to_all.best_flow import AllToAllPlanner
from forestcoll.errors import ForestCollError
from forestcoll.problem.demand import Demand
from forestcoll.problem.named_demands import named_demand
from forestcoll.problem.price_bound import PriceBound
from forestcoll.schedule import cost, verify
from forestcoll.topology import Topology

__all__ = ["PROGRAMS", "ProgramRates", "nccl_tests_rates"]

_COLLECTIVES = {
    "all_reduce_perf": "allreduce",
    "all_gather_perf": "allgather",
    "reduce_scatter_perf": "reduce-scatter",
    "broadcast_perf": "broadcast",
    "reduce_perf": "reduce",
    "alltoall_perf": "all-to-all",
}
_DEMANDS = {
    "sendrecv_perf": "sendrecv",
    "gather_perf": "gather",
    "scatter_perf": "scatter",
}

PROGRAMS = (*_COLLECTIVES, *_DEMANDS, "hypercube_perf")
"""The programs of nccl-tests, in the order of the table."""

_UNIT = 2**20
"""Bytes of a GPU's part; rates do not depend on it."""


@dataclass(frozen=True, slots=True)
class ProgramRates:
    """The rates of a program, in GB/s as it prints them.

    Parameters
    ----------
    program : str
    factor : Fraction
        busbw by algbw.
    bound_gb_s, best_gb_s : Fraction, optional
        Upper bound on algbw, and algbw of the best schedule found, verified; None if the time ran
        out.
    nccl_gb_s : Fraction, optional
        The best of NCCL's own methods, by theory; for sends and receives straight ones.
    note : str
        Why a number is missing.
    """

    program: str
    factor: Fraction
    bound_gb_s: Fraction | None
    best_gb_s: Fraction | None
    nccl_gb_s: Fraction | None
    note: str = ""


def nccl_tests_rates(topology: Topology, *, seconds: float) -> list[ProgramRates]:
    """Return the rates of all programs.

    Parameters
    ----------
    seconds : float
        For each program.

    Raises
    ------
    ForestCollError
        If the network serves no collective.
    """
    rows = []
    for program, collective in _COLLECTIVES.items():
        rows.append(_of_collective(program, expected(topology, collective, seconds=seconds)))
    planner = AllToAllPlanner(topology, seconds=seconds)
    for program, name in _DEMANDS.items():
        gpus = topology.num_compute
        size = _UNIT if name == "sendrecv" else _UNIT * gpus
        demand = named_demand(f"{name}:size={size}", topology)
        factor = Fraction(1) if name == "sendrecv" else Fraction(gpus - 1, gpus)
        rows.append(_of_demands(program, planner, [demand], size, factor))
    rows.append(_hypercube(planner, topology))
    return rows


def _of_collective(program: str, found: Expected) -> ProgramRates:
    bounds = [one.algbw_gb_s for one in found.bounds if one.algbw_gb_s is not None]
    ours, *nccl = (one.algbw_gb_s for one in found.rates)
    return ProgramRates(
        program,
        busbw_factor(found.collective, found.topology.num_compute),
        max(bounds, default=None),
        ours,
        max((rate for rate in nccl if rate is not None), default=None),
        "" if ours is not None else found.rates[0].note,
    )


def _of_demands(
    program: str, planner: AllToAllPlanner, steps: Sequence[Demand], size: int, factor: Fraction
) -> ProgramRates:
    """Return the rates of demands that are served one after the other."""
    least = best = nccl = Fraction(0)
    try:
        for demand in steps:
            made = planner.plan(demand)
            best += verify(made).congestion
            least += PriceBound.of(planner.topology, demand, made.price).inverse_rate
            direct = METHODS["direct"].run(planner.topology, "all-to-all", {"demand": demand})
            verify(direct)
            nccl += cost(direct).time_s_per_gb * demand.bytes
    except ForestCollError as error:
        return ProgramRates(program, factor, None, None, None, str(error))
    return ProgramRates(program, factor, size / least, size / best, size / nccl)


def _hypercube(planner: AllToAllPlanner, topology: Topology) -> ProgramRates:
    """Return the rates of log2 N exchanges, each of twice as much with another partner."""
    gpus = topology.num_compute
    if gpus & (gpus - 1):
        note = f"{gpus} GPUs; it runs on powers of two only"
        return ProgramRates("hypercube_perf", Fraction(1), None, None, None, note)
    steps = [Demand.of_matrix(amounts, "hypercube") for amounts in _exchanges(gpus)]
    size = _UNIT * (gpus - 1)
    return _of_demands("hypercube_perf", planner, steps, size, Fraction(1))


def _exchanges(gpus: int) -> Iterator[np.ndarray]:
    ranks, mask = np.arange(gpus), 1
    while mask < gpus:
        amounts = np.zeros((gpus, gpus), dtype=np.int64)
        amounts[ranks, ranks ^ mask] = mask * _UNIT
        yield amounts
        mask *= 2
