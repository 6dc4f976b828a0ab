"""Schedules in which switches copy and add, for every collective.

Problem: a collective in the least time where switches marked ``multicast`` copy data and add sums.
Input:   a topology and a collective, as of :func:`forestcoll.generate.generate`.
Output:  physical trees; of an allreduce with a bound on all whose switches do so.
Cost:    that of the schedule without, and a pass over its trees; of an allreduce that its cuts do
         not prove optimal that of two or three linear programs
         (:mod:`forestcoll.core.best_allreduce`), too.
Source:  ForestColl section 5.6. Data that goes one way gains no time, as it must cross the
         bottleneck cut, whoever copies: only traffic falls. An allreduce does gain time: in a box
         the switch adds up what the GPUs send and copies the sum to all, so each sends and gets
         the data once, not nearly twice.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple, Unpack

from forestcoll.core.best_allreduce import PROGRAM_S, PROGRAM_STAGE, best_allreduce
from forestcoll.generate import Options, generate, generate_timed
from forestcoll.multicast.pruning import Traffic, multicast, traffic
from forestcoll.problem.weights import weights_for
from forestcoll.schedule.allreduce import Allreduce
from forestcoll.schedule.forest import Forest
from forestcoll.schedule.multicast import MulticastForest
from forestcoll.topology.model import Topology

__all__ = ["InNetwork", "generate_multicast"]

MULTICAST_STAGE = "multicast"


class InNetwork(NamedTuple):
    """What came of letting switches copy and add.

    Parameters
    ----------
    schedule : MulticastForest or Allreduce of two
    seconds : dict
        Of each stage.
    saved : dict
        "traffic" of one phase, "traffic_of_reduce" and "traffic_of_gather" of two: what runs over
        each class of links without and with; empty where other trees were made.
    """

    schedule: MulticastForest | Allreduce[MulticastForest]
    seconds: dict[str, float]
    saved: dict[str, tuple[Traffic, ...]]


def generate_multicast(
    topology: Topology, *, collective: str = "allgather", **options: Unpack[Options]
) -> InNetwork:
    """Generate a schedule in which the switches marked ``multicast`` copy and add.

    Parameters
    ----------
    topology, collective, **options
        As of :func:`forestcoll.generate.generate`; an allreduce takes about three times
        ``program_s`` at most: for a bound and trees that reach the switches that copy, for
        switches that forward, and for single roots one by one.

    Raises
    ------
    ForestCollError
        As of :func:`forestcoll.generate.generate`.

    Examples
    --------
    Sums made by an NVSwitch of 450 GB/s to every GPU; without it 8/14 of that.

    >>> from forestcoll.topology import load_topology
    >>> box = load_topology("dgx_h100:boxes=1")
    >>> made = generate_multicast(box, collective="allreduce").schedule
    >>> float(made.algbw_gb_s), made.optimal
    (450.0, True)
    """
    copying = any(node.multicast for node in topology.nodes)
    alone: Options = {**options, "program_s": 0.0} if copying else options
    plain, seconds = generate_timed(topology, collective=collective, **alone)
    began = time.perf_counter()
    if isinstance(plain, Forest):
        single = multicast(plain)
        seconds[MULTICAST_STAGE] = time.perf_counter() - began
        return InNetwork(single, seconds, {"traffic": traffic(plain, single)})
    both = multicast(plain)
    seconds[MULTICAST_STAGE] = time.perf_counter() - began
    best = _best(both, collective, options, seconds) if copying else both
    saved = {
        "traffic_of_reduce": traffic(plain.reduce, both.reduce),
        "traffic_of_gather": traffic(plain.gather, both.gather),
    }
    kept = best.gather is both.gather
    return InNetwork(best, seconds, saved if kept else {})


def _best(
    both: Allreduce[MulticastForest],
    collective: str,
    options: Options,
    seconds: dict[str, float],
) -> Allreduce[MulticastForest]:
    """Return the fastest of this, of what programs make, and of sums at a single GPU.

    The program for switches that copy makes trees that reach all of them, which those for switches
    that forward need not; nor do trees of a single root.
    """
    root, weights = options.get("root"), options.get("weights")
    whole = weights_for(both.topology, collective, root=root, weights=weights)
    fixed = options.get("k") is not None or options.get("method", "forestcoll") != "forestcoll"
    allowed = 0.0 if fixed else options.get("program_s", PROGRAM_S)
    began = time.perf_counter()
    best = best_allreduce(
        both,
        weights=None if root is None and weights is None else whole,
        copying=True,
        seconds=allowed,
    )
    others = _others(both.topology, options, roots=root is None and weights is None)
    while allowed > 0 and not best.optimal and time.perf_counter() < began + 3 * allowed:
        other = next(others, None)
        if other is None:
            break
        if other.time_s_per_gb < best.time_s_per_gb:
            best = replace(other, bound=best.bound)
    seconds[PROGRAM_STAGE] = time.perf_counter() - began
    return best


def _others(
    topology: Topology, options: Options, *, roots: bool
) -> Iterator[Allreduce[MulticastForest]]:
    """Yield allreduces of switches that forward, which then copy: the best, and of single roots."""
    yield _copied(topology, options, "best for switches that forward; then they copy")
    for rank in range(topology.num_compute) if roots else ():
        at: Options = {**options, "root": rank, "program_s": 0.0}
        name = topology.nodes[topology.compute[rank]].name
        yield _copied(topology, at, f"sums at {name}, over switches that forward; then they copy")


def _copied(topology: Topology, options: Options, remark: str) -> Allreduce[MulticastForest]:
    made = generate(topology, collective="allreduce", **options)
    assert isinstance(made, Allreduce)
    return replace(multicast(made), remark=remark)
