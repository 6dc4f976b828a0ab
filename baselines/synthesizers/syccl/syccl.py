"""SyCCL's symmetry sketches, as public descriptions have them: a reading, not SyCCL itself.

Problem: a collective on a cluster of equal boxes, from trees of one GPU and the symmetry.
Input:   a topology of equal boxes.
Output:  step schedules: a few sketches, rotated to every root, with shares that balance the links.
Cost:    the search (``sketch_search``), and N (N - 1) transfers for each distinct sketch found.
Source:  Cao et al., "SyCCL: Exploiting Symmetry for Efficient Collective Communication Scheduling"
         (SIGCOMM 2025); ForestColl section 6.5. Reimplemented from public descriptions
         without the paper's text; no code was used.

The sketches (``layers``, ``shapes``, ``sketch_search``) are rotated to every root (``rotation``).
An exact linear program shares the data among them, so that the busiest link takes least time
(``balancing``). TE-CCL's program solves sub-demands in boxes of direct links (``sub_demands``).

Departures: SyCCL combines sketches by thresholds that are not public, solves every sub-demand by a
MILP in two resolutions, and ranks the results for a size by a simulator with latencies. Here the
pipelined time ranks them, then the synchronous time. All readings: docs/baselines/syccl.md.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from itertools import combinations

from baselines.building.composing import collect_steps, routed
from baselines.interface.method import Method
from baselines.interface.supported import check_supported
from baselines.networks.forwarding import forwarded
from baselines.networks.switch_paths import check_size
from baselines.synthesizers.syccl.balancing import balance
from baselines.synthesizers.syccl.layers import Cluster, cluster_of
from baselines.synthesizers.syccl.rotation import pairs_of, rotated
from baselines.synthesizers.syccl.sketch_search import find_sketches
from baselines.synthesizers.syccl.sub_demands import DIRECT, Solved, solve
from baselines.synthesizers.syccl.symmetry_sketch import Sketch
from forestcoll.errors import InvalidParameterError, UnsupportedError
from forestcoll.schedule.cost_model.step_loads import Traffic, measure_steps
from forestcoll.schedule.steps import StepSchedule
from forestcoll.topology.model import Topology

__all__ = ["METHODS", "generate"]

COLLECTIVES = ("allgather", "reduce-scatter", "allreduce", "all-to-all")

MOST_CHOICES = 4
"""Choices of one or two sketches whose synchronous times are compared."""


def generate(
    topology: Topology,
    collective: str = "allgather",
    *,
    layers: int = 2,
    network: bool = False,
    work: float = 1.0,
) -> StepSchedule:
    """Combine rotated sketches.

    Parameters
    ----------
    collective : str
        One of ``COLLECTIVES``. A reduce-scatter is a reversed allgather on the reversed network; an
        allreduce is both as sequential phases.
    layers : int
        Most layers of a sketch.
    network : bool
        Whether all GPUs are a layer, besides boxes and rails.
    work : float
        CP-SAT's deterministic seconds for each phase of a sub-demand; 0 for greedy solutions.

    Raises
    ------
    UnsupportedError
        If there are no boxes, boxes differ in size, there is no path between GPUs, or no sketch of
        so few layers.
    InvalidParameterError
        If a parameter is out of its range.
    """
    check_supported("syccl", collective, COLLECTIVES)
    check_size(topology)
    if layers < 1:
        raise InvalidParameterError(f"layers is {layers}; a sketch takes at least one")
    if not 0 <= work < math.inf:
        raise InvalidParameterError(f"work is {work}; it must be a finite number from 0 up")
    spread = partial(_spread, most_layers=layers, network=network, work=work)
    if collective == "all-to-all":
        return spread(topology, kind="all-to-all")
    return collect_steps(partial(spread, kind="allgather"), topology, collective)


def _spread(
    topology: Topology, kind: str, most_layers: int, network: bool, work: float
) -> StepSchedule:
    """Make an allgather or an all-to-all."""
    cluster = cluster_of(topology, network=network)
    sketches = find_sketches(cluster, most_layers)
    if not sketches:
        raise UnsupportedError(
            f"unsupported: no sketch of {most_layers} layers reaches all GPUs of {topology.name}; "
            f"allow two layers, or set network=true"
        )
    solved = DIRECT if kind == "all-to-all" else solve(cluster, sketches, work)
    ways = [DIRECT, solved] if solved.trees else [DIRECT]
    drawn = [
        (sketch, way)
        for sketch in _distinct(cluster, sketches, kind == "all-to-all")
        for way in ways
    ]
    routes = forwarded(topology, pairs_of(cluster, drawn), direct=bool(solved.trees))

    def traffic_of(parts: Sequence[tuple[Sketch, Solved]], shares: Sequence[int]) -> Traffic:
        chunks, sends = rotated(cluster, parts, shares, kind)
        return measure_steps(StepSchedule(topology, "syccl", kind, chunks, sends, routes))

    found = sorted(
        ((traffic_of([part], [1]), part) for part in drawn), key=lambda one: one[0].time_s_per_gb
    )
    traffic, parts = [one for one, _ in found], [part for _, part in found]
    choices = [_whole(parts, shares) for shares in _choices(topology, traffic)]
    best = min(choices, key=lambda one: (traffic_of(*one).time_s_per_gb, len(one[0])))
    chunks, sends = rotated(cluster, *best, kind)
    return routed(topology, "syccl", kind, chunks, sends, direct=bool(solved.trees))


def _whole(
    drawn: Sequence[tuple[Sketch, Solved]], shares: Sequence[Fraction]
) -> tuple[list[tuple[Sketch, Solved]], list[int]]:
    """Return the sketches with a share, and their shares as whole numbers."""
    whole = math.lcm(*(share.denominator for share in shares))
    used = [(part, int(share * whole)) for part, share in zip(drawn, shares, strict=True) if share]
    return [part for part, _ in used], [share for _, share in used]


def _distinct(cluster: Cluster, sketches: Sequence[Sketch], scatter: bool) -> list[Sketch]:
    """Return one sketch of those with equal loads: the one of fewest steps."""
    found: dict[object, Sketch] = {}
    for sketch in sorted(sketches, key=lambda sketch: sketch.num_steps):
        shift = cluster.shifts(sketch.tail, sketch.head)
        loads: Counter[int] = Counter()
        for each, carried in zip(shift, sketch.carried(scatter=scatter).tolist(), strict=True):
            loads[each] += carried
        found.setdefault(frozenset(loads.items()), sketch)
    return list(found.values())


def _choices(topology: Topology, traffic: Sequence[Traffic]) -> list[tuple[Fraction, ...]]:
    """Return shares that keep the busiest link shortest: of one sketch, of two, the program's.

    A sketch that costs more than the least time at the prices of the links has no share in any
    optimum. Of the others those come first whose synchronous times, weighted by the shares, sum up
    to least; at most ``MOST_CHOICES`` besides the program's.
    """
    times = _times(topology, traffic)
    best = balance(times)
    useful = [
        place
        for place in range(len(traffic))
        if sum(y * row[place] for y, row in zip(best.prices, times, strict=True)) == best.time
    ]
    found: list[tuple[Fraction, tuple[Fraction, ...]]] = []
    for some in (*combinations(useful, 1), *combinations(useful, 2)):
        made = balance([[row[place] for place in some] for row in times])
        if made.time == best.time:
            share = dict(zip(some, made.shares, strict=True))
            shares = tuple(share.get(place, Fraction(0)) for place in range(len(traffic)))
            steps = sum(w * one.time_s_per_gb for w, one in zip(shares, traffic, strict=True))
            found.append((Fraction(steps), shares))
    fewest = [shares for _, shares in sorted(found)[:MOST_CHOICES]]
    return list(dict.fromkeys([*fewest, best.shares]))


def _times(topology: Topology, traffic: Sequence[Traffic]) -> list[list[Fraction]]:
    """Return the time of each link, or shared capacity, with each sketch alone, in s per GB.

    Rows that another row exceeds are left out.
    """
    loads = list(zip(*(one.loads for one in traffic), strict=True))
    widths = [link.bandwidth_gb_s for link in topology.links]
    for places, limit in topology.shared_places:
        loads.append(tuple(map(sum, zip(*(loads[place] for place in places), strict=True))))
        widths.append(limit)
    rows = dict.fromkeys(zip(widths, loads, strict=True))
    times = dict.fromkeys(
        tuple(Fraction(load, one.whole) / width for load, one in zip(row, traffic, strict=True))
        for width, row in rows
        if any(row)
    )
    kept: list[tuple[Fraction, ...]] = []
    for row in sorted(times, key=sum, reverse=True):
        if not any(all(a <= b for a, b in zip(row, other, strict=True)) for other in kept):
            kept.append(row)
    return [list(row) for row in kept]


METHODS = (
    Method(
        name="syccl",
        summary="rotated symmetry sketches, shared out by an exact program",
        source="Cao et al., SyCCL (SIGCOMM 2025), by public descriptions",
        generate=generate,
        collectives=COLLECTIVES,
        notes="a reading, not SyCCL's code: exact balance for its thresholds; no latencies",
        libraries=("ortools.sat.python.cp_model",),
    ),
)
