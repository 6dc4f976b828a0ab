"""TACOS: chunks and links matched greedily and at random along a time-expanded network.

Problem: an allgather of small makespan over links of different latencies and bandwidths.
Input:   a topology; the size of the data M, chunks per GPU C, number of trials, seed.
Output:  a step schedule with a clock, the best of the trials. A chunk takes latency + bytes /
         bandwidth on a link, exactly. Only if common ticks of all links, or the shares of their
         paths, do not fit 64 bits does it take more, by up to one millionth.
Cost:    per trial a few operations on sets of N C bits per transfer, N (N - 1) C of them.
Source:  Won et al., TACOS: Topology-Aware Collective Algorithm Synthesizer for Distributed Machine
         Learning (MICRO 2024), and the rules of its public implementation, in our own code; the
         rules of a trial are in ``matching``.

A reduce-scatter is an allgather on the network with every link reversed, backwards in time; an
allreduce is both as sequential phases. TACOS knows no switches: they are unwound into rings,
cliques or hypercubes first (``unwinding``), and each logical link has the latency of its slowest
path. Transfers of chunks that a GPU already has are left out.

Deviations: matchings are maximum by default; ``matching="greedy"`` is the rule of the public code,
which has neither other collectives than the allgather, nor switches, nor a seed. Trials end when
one meets a lower bound: the earliest time by which the links into a GPU can bring N - 1 shards.
Effects of patterns and chunks, and the public code's results: docs/baselines/tacos.md.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from baselines.interface.method import Method
from baselines.interface.parameters import check_choice
from baselines.interface.supported import GATHERING, check_supported
from baselines.networks.switch_free import Share
from baselines.networks.switch_paths import check_size
from baselines.networks.unwinding import PATTERNS, unwind
from baselines.synthesizers.tacos.matching import TimedLinks, Trial, least_ticks, run_trial
from forestcoll.errors import (
    CapacityOverflowError,
    InvalidParameterError,
    TimeLimitError,
    UnsupportedError,
)
from forestcoll.problem.limits import Limits
from forestcoll.schedule.clock import Clock
from forestcoll.schedule.forest import Path, Routes
from forestcoll.schedule.sends import Chunks, Sends
from forestcoll.schedule.steps import StepSchedule
from forestcoll.topology.model import Topology
from forestcoll.topology.validation import refuse_shared

__all__ = ["MATCHINGS", "METHODS", "generate"]

MATCHINGS = ("maximum", "greedy")
"""Matchings of chunks and links: as large as possible, or greedy."""


def generate(
    topology: Topology,
    collective: str = "allgather",
    *,
    size_bytes: int = 2**30,
    chunks: int = 1,
    trials: int = 5,
    seed: int = 0,
    matching: str = "maximum",
    unwinding: str = "ring",
    limits: Limits = Limits(),  # noqa: B008
) -> StepSchedule:
    """Return the best of some random schedules.

    Parameters
    ----------
    collective : str
        "allgather", "reduce-scatter" or "allreduce".
    size_bytes : int
        M, the data of all GPUs together (in an allreduce, the buffer).
    chunks : int
        Chunks C of each GPU's shard.
    trials : int
        Number of trials, with seeds from ``seed`` on; each phase of an allreduce takes its best.
    seed : int
        Not negative.
    matching : str
        One of :data:`MATCHINGS`.
    unwinding : str
        Pattern that replaces a switch; see :func:`baselines.networks.unwinding.unwind`.
    limits : Limits
        At the limit the best trial so far is returned; one thread is used.

    Raises
    ------
    InvalidParameterError
        If a parameter has no such value.
    UnsupportedError
        If switches cannot be unwound in that way, or then no path leads from some GPU to another.
    TimeLimitError
        If time is up before the end of the first trial.
    CapacityOverflowError
        If the times of links differ by so much that they do not fit 64 bits.
    """
    check_supported("tacos", collective, GATHERING)
    _check_parameters(size_bytes, chunks, trials, seed, matching)
    check_choice("unwinding", unwinding, PATTERNS)
    check_size(topology)
    refuse_shared(topology, "the clock of tacos")
    unwound = unwind(topology, unwinding)
    carriers = {ends: _Carrier.of(shares) for ends, shares in unwound.paths.items()}
    links, tick_us = _timed_links(unwound.topology, carriers, chunks, size_bytes)
    phases = [
        _Phase(unwound.topology, links, chunks, matching == "maximum", reduction)
        for reduction in _REDUCTIONS[collective]
    ]
    best = _best(phases, range(seed, seed + trials), limits, tick_us)
    sends, start, end = _sends(phases, best)
    owner = np.repeat(np.arange(topology.num_compute), chunks)
    return StepSchedule(
        topology=topology,
        method="tacos",
        collective=collective,
        chunks=Chunks.equal(
            np.full_like(owner, -1) if collective == "allreduce" else owner, whole=len(owner)
        ),
        sends=sends,
        routes=_routes(carriers, phases, best),
        clock=Clock(size_bytes, tick_us, start, end),
    )


_REDUCTIONS = {"allgather": (False,), "reduce-scatter": (True,), "allreduce": (True, False)}
"""The phases of each collective: whether they reduce."""

_TICKS = 2**61
"""Limit on the duration of a phase."""

_PARTS = 2**40
"""Limit on the parts of a logical link over its paths."""

_Ends = tuple[int, int]
"""The ranks at the ends of a logical link, tail first."""


@dataclass(frozen=True, slots=True)
class _Carrier:
    """The physical paths of a logical link, and their total bandwidth in GB/s."""

    paths: tuple[Path, ...]
    bandwidth_gb_s: Fraction

    @classmethod
    def of(cls, shares: Sequence[Share]) -> _Carrier:
        """Divide a link over its paths in proportion to the bandwidths that they contribute.

        Shares that need large numbers are rounded down to parts of 2^-40. Then the path with the
        largest share of its contribution determines the bandwidth.
        """
        unit = math.lcm(*(share.bandwidth_gb_s.denominator for share in shares))
        parts = [int(share.bandwidth_gb_s * unit) for share in shares]
        common, total = math.gcd(*parts), sum(parts)
        if total // common > _PARTS:
            parts, common = [part * _PARTS // total for part in parts], 1
        paths = [
            (Path(share.nodes, part // common), share.bandwidth_gb_s)
            for share, part in zip(shares, parts, strict=True)
            if part
        ]
        whole = sum(path.multiplicity for path, _ in paths)
        bandwidth = min(lent * whole / path.multiplicity for path, lent in paths)
        return cls(tuple(path for path, _ in paths), bandwidth)


def _check_parameters(size_bytes: int, chunks: int, trials: int, seed: int, matching: str) -> None:
    for name, value, least in (
        ("size_bytes", size_bytes, 1),
        ("chunks", chunks, 1),
        ("trials", trials, 1),
        ("seed", seed, 0),
    ):
        if value < least:
            raise InvalidParameterError(f"{name} is {value}; it must be a whole number >= {least}")
    check_choice("matching", matching, MATCHINGS)


def _timed_links(
    topology: Topology, carriers: Mapping[_Ends, _Carrier], chunks: int, size_bytes: int
) -> tuple[TimedLinks, Fraction]:
    """Return the time of a chunk on each link in ticks, and the length of a tick."""
    gpus = topology.num_compute
    chunk_kb = Fraction(size_bytes, gpus * chunks * 1000)
    ends = [(link.tail, link.head) for link in topology.links]
    times = [
        link.latency_us + chunk_kb / carriers[pair].bandwidth_gb_s
        for pair, link in zip(ends, topology.links, strict=True)
    ]
    if not times:
        return TimedLinks.of([]), Fraction(1)
    tick_us = Fraction(
        math.gcd(*(taken.numerator for taken in times)),
        math.lcm(*(taken.denominator for taken in times)),
    )
    most = gpus * (gpus - 1) * chunks * max(times)  # if never two links are busy at once
    if most / tick_us >= _TICKS:
        tick_us = min(times) / 2**20
    if most / tick_us >= _TICKS:
        raise CapacityOverflowError(
            f"{topology.name}: links take from {float(min(times)):g} to {float(max(times)):g} us "
            f"for a chunk, too far apart for exact 64-bit times"
        )
    links = TimedLinks.of(
        (*pair, math.ceil(taken / tick_us)) for pair, taken in zip(ends, times, strict=True)
    )
    return links, tick_us


@dataclass(frozen=True, slots=True)
class _Phase:
    """An allgather, or one on reversed links that runs backwards in time."""

    topology: Topology
    links: TimedLinks
    chunks: int
    maximum: bool
    reduction: bool

    def bound(self) -> int:
        """Return a lower bound on the makespan, in ticks."""
        return least_ticks(self.topology.num_compute, self._ways(), self.chunks)

    def attempt(self, seed: int, deadline: float | None) -> Trial:
        """Make a trial; TimeoutError if the deadline passes."""
        trial = run_trial(
            self.topology.num_compute,
            self._ways(),
            self.chunks,
            seed,
            maximum=self.maximum,
            deadline=deadline,
        )
        if not trial.is_complete:
            gpu, chunk = trial.lacking()
            ends = [self.topology.nodes[rank].name for rank in (chunk // self.chunks, gpu)]
            tail, head = reversed(ends) if self.reduction else ends
            raise UnsupportedError(
                f"unsupported: on {self.topology.name} no links lead from {tail} to {head}"
            )
        return trial

    def _ways(self) -> TimedLinks:
        return self.links.reversed_links() if self.reduction else self.links


def _best(
    phases: Sequence[_Phase], seeds: Iterable[int], limits: Limits, tick_us: Fraction
) -> list[Trial]:
    deadline = None if limits.seconds is None else time.monotonic() + limits.seconds
    bounds = [phase.bound() for phase in phases]
    best: list[Trial] = []
    for seed in seeds:
        try:
            found = [phase.attempt(seed, deadline) for phase in phases]
        except TimeoutError:
            if not best:
                raise TimeLimitError(
                    f"tacos: {limits.seconds} s are too few for one trial",
                    bound=sum(bounds) * tick_us,
                ) from None
            break
        best = [
            min(pair, key=lambda trial: trial.finish)
            for pair in zip(best or found, found, strict=True)
        ]
        if [trial.finish for trial in best] == bounds:
            break
    return best


def _sends(
    phases: Sequence[_Phase], trials: Sequence[Trial]
) -> tuple[Sends, npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """List the transfers of all phases in sequence, with their starts and ends."""
    columns, begin = [], 0
    for phase, trial in zip(phases, trials, strict=True):
        links, start = phase.links, trial.start
        if phase.reduction:
            start = trial.finish - start - links.ticks[trial.link]
        ends = (ranks[trial.link] for ranks in (links.tail, links.head, links.ticks))
        reduce = np.full(len(start), phase.reduction)
        columns.append((begin + start, trial.chunk, *ends, reduce))
        begin += trial.finish
    start, chunk, tail, head, ticks, reduce = map(np.concatenate, zip(*columns, strict=True))
    order = np.lexsort((head, tail, chunk, start))
    start, end = start[order], (start + ticks)[order]
    step = np.unique(start, return_inverse=True)[1].astype(np.int32)
    return Sends(step, chunk[order], tail[order], head[order], reduce[order]), start, end


def _routes(
    carriers: Mapping[_Ends, _Carrier], phases: Sequence[_Phase], trials: Sequence[Trial]
) -> Routes:
    used: set[_Ends] = set()
    for phase, trial in zip(phases, trials, strict=True):
        which = np.unique(trial.link)
        ends = (ranks[which].tolist() for ranks in (phase.links.tail, phase.links.head))
        used.update(zip(*ends, strict=True))
    return Routes.from_paths({link: carriers[link].paths for link in used})


METHODS = (
    Method(
        name="tacos",
        summary="chunks and links matched at random along a time-expanded network",
        source="Won et al., TACOS (MICRO 2024)",
        generate=generate,
        collectives=GATHERING,
        notes="switches unwound; matchings made maximum unless greedy ones are asked for",
    ),
)
