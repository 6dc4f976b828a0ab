"""NCCL's built-in algorithms in simulation, with the costs of their protocols.

Problem: how long does each algorithm of NCCL take for a size, with each protocol?
Input:   a network, a collective, a machine.
Output:  entries that simulate any size; reasons for those that there are none of.
Cost:    a schedule for each algorithm; a simulation for each entry and size.
Source:  ours. A hop from box to box costs more than one in a box. The difference is added to the
         latency of the links that leave a box, of which a path from box to box has one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from experiments.advice.nccl_tuner.nccl_costs import (
    ALGORITHMS,
    COLLECTIVES,
    PROTOCOLS,
    Cost,
    cost_of,
)
from experiments.config.methods import run_method
from experiments.config.points import ROOTED
from forestcoll.compilation import compile_program
from forestcoll.errors import ForestCollError, UnsupportedError, VerificationError
from forestcoll.runtimes.scoring.threadblock_rates import MachineRate
from forestcoll.schedule import verify
from forestcoll.schedule.program import Program
from forestcoll.schedule.simulate import AlphaBeta, Simulator, best_chunk_count
from forestcoll.topology.model import Topology

__all__ = ["MACHINES", "MOST_CHANNELS", "BuiltIn", "boxes_of", "built_in"]

MACHINES = ("v100", "a100", "h100", "b200")
"""Machines whose channels have a rate in NCCL."""

MOST_CHANNELS = 32
"""Channels that NCCL opens for a collective at most by default settings."""

_STEPS = 8  # slots of NCCL's FIFOs (NCCL_STEPS): as many pipeline chunks may be on the way
_MOST_CHUNKS = 256
_SECONDS = 30.0  # of methods that search; these do not


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """An algorithm with a protocol.

    Parameters
    ----------
    algorithm, protocol : str
        As the plugin names them.
    busiest : Fraction
        What the busiest GPU sends or receives, as a share of the data.
    channel_gb_s : Fraction
        The rate of one channel.
    """

    algorithm: str
    protocol: str
    cost: Cost
    busiest: Fraction
    channel_gb_s: Fraction
    _simulator: Simulator = field(repr=False)

    @property
    def name(self) -> str:
        """Algorithm and protocol, for tables."""
        return f"{self.algorithm}/{self.protocol}"

    def at_least_s(self, size_bytes: int) -> float:
        """Return a lower bound on the time."""
        efficiency = float(self.cost.efficiency)
        return float(self.cost.call_us) * 1e-6 + (
            self._simulator.pipelined_s(size_bytes) / efficiency
        )

    def time_s(self, size_bytes: int) -> float:
        """Simulate a call with the best number of pipeline chunks."""
        model = AlphaBeta(
            alpha_us=self.cost.inside_us, efficiency=self.cost.efficiency, window=_STEPS
        )
        found = best_chunk_count(self._simulator, size_bytes, model, most=_MOST_CHUNKS)
        return float(self.cost.call_us) * 1e-6 + found.time_s

    def channels(self, size_bytes: int, time_s: float) -> int:
        """Return the fewest channels that carry what the busiest GPU sends in this time."""
        need_gb_s = float(self.busiest) * size_bytes / 1e9 / time_s
        return min(MOST_CHANNELS, max(1, math.ceil(need_gb_s / float(self.channel_gb_s))))


def boxes_of(topology: Topology) -> int | None:
    """Count the boxes that have GPUs; None if a GPU is outside of boxes."""
    found = {topology.nodes[position].box for position in topology.compute}
    return None if None in found else len(found)


def built_in(
    topology: Topology, collective: str, machine: MachineRate, protocols: tuple[str, ...]
) -> tuple[list[BuiltIn], list[str]]:
    """Return all pairs of algorithm and protocol, and why others are left out.

    Parameters
    ----------
    protocols : tuple of str
        Those of :data:`PROTOCOLS` that may be used.

    Raises
    ------
    UnsupportedError
        If NCCL has no such collective, or the machine is none of NVIDIA's.
    VerificationError
        If a schedule is wrong: a bug.
    """
    if collective not in COLLECTIVES:
        raise UnsupportedError(
            f"NCCL's tuner chooses for {', '.join(COLLECTIVES)}, not for {collective}"
        )
    if machine.machine not in MACHINES:
        raise UnsupportedError(
            f"NCCL's costs are those of {', '.join(MACHINES)}, not of {machine.machine}"
        )
    found: list[BuiltIn] = []
    notes: list[str] = []
    boxes, gpus = boxes_of(topology) or 1, topology.num_compute
    for algorithm in COLLECTIVES[collective]:
        costs = {
            protocol: cost
            for protocol in PROTOCOLS
            if protocol in protocols
            and (cost := cost_of(algorithm, protocol, gpus, boxes, machine.machine))
        }
        if not costs:
            notes.append(f"{algorithm}: not with these protocols, boxes or machine")
            continue
        try:
            program = _program(topology, collective, algorithm)
        except VerificationError:
            raise
        except ForestCollError as error:
            notes.append(f"{algorithm}: {' '.join(str(error).split())}")
            continue
        found += [_entry(program, algorithm, p, cost, machine) for p, cost in costs.items()]
    return found, notes


def _program(topology: Topology, collective: str, algorithm: str) -> Program:
    root = 0 if collective in ROOTED else None
    # Our NVLS may join boxes by rings, NCCL's joins them by SHARP only.
    options = {"between": "sharp"} if algorithm == "nvls" else {}
    schedule = run_method(
        ALGORITHMS[algorithm], topology, collective, options, _SECONDS, lambda stage: None, root
    )[0]
    verify(schedule)
    return compile_program(schedule)


def _entry(
    program: Program, algorithm: str, protocol: str, cost: Cost, machine: MachineRate
) -> BuiltIn:
    topology = program.topology
    far = _with_latency(topology, cost.between_us - cost.inside_us)
    name = {"ll": "LL", "ll128": "LL128", "simple": "Simple"}[protocol]
    return BuiltIn(
        algorithm=algorithm,
        protocol=protocol,
        cost=cost,
        busiest=_busiest(program),
        channel_gb_s=machine.gb_s(name),
        _simulator=Simulator(replace(program, topology=far)),
    )


def _with_latency(topology: Topology, more_us: Fraction) -> Topology:
    """Add latency to every link that leaves a box."""
    links = tuple(
        replace(link, latency_us=link.latency_us + more_us)
        if topology.nodes[link.tail].box is not None
        and topology.nodes[link.head].box != topology.nodes[link.tail].box
        else link
        for link in topology.links
    )
    return replace(topology, links=links)


def _busiest(program: Program) -> Fraction:
    """Return what the busiest GPU sends or receives, as a share of the data."""
    gpus = program.topology.num_compute
    most = 0
    for ends in (program.tail, program.head):
        amounts = np.bincount(ends, weights=program.amount, minlength=gpus)[:gpus]
        most = max(most, int(amounts.max()))
    return Fraction(most, program.chunks.whole)
