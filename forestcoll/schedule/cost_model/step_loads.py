"""Link loads of every step of a schedule.

Problem: the load of every physical link in every step, and the time of the slowest link.
Input:   a step schedule with its own steps; or a forest that goes hop by hop.
Output:  exact loads and times.
Cost:    one pass over the transfers or tree edges, and over the paths in use in every step.
Source:  the step model of the baselines: sum over the steps of max load(e) / b(e); a transfer is
         divided over the paths of its logical link as a fluid.

A forest is measured without making the steps of :func:`forestcoll.schedule.lockstep`: the trees
over each logical link are counted depth by depth.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from forestcoll.errors import VerificationError
from forestcoll.schedule.exact_sums import exact
from forestcoll.schedule.forest import Forest, Routes
from forestcoll.schedule.steps import StepSchedule
from forestcoll.topology.model import Topology

__all__ = ["Traffic", "measure_hops", "measure_steps"]

_CELLS = 2**24
"""Entries of the table of trees, depth by link, that is held at once."""

_EDGES = 2**20
"""Entries of the trees that are processed together."""

_Amounts = npt.NDArray[Any]
"""int64 where sums of them fit, else Python ints."""


@dataclass(frozen=True, slots=True)
class Traffic:
    """Link loads of a schedule and the time of its steps.

    Parameters
    ----------
    time_s_per_gb : Fraction
        The sum over the steps of the time of their slowest links (or shared capacities), for one
        gigabyte of data.
    steps : int
        Number of steps; for a forest, hops of the deepest tree.
    loads : tuple of int
        The load of each link of the topology in all steps: ``loads[i] / whole`` of the data.
    """

    time_s_per_gb: Fraction
    steps: int
    loads: tuple[int, ...]
    whole: int


def measure_steps(schedule: StepSchedule) -> Traffic:
    """Add up the loads of each step, and the times of the slowest links.

    Raises VerificationError if a path uses a link that the topology does not have.
    """
    amount = exact(schedule.intervals.amount, len(schedule.sends))
    most = int(amount.max(initial=0)) * len(schedule.sends)
    sent = _sent_synchronous(schedule, amount)
    return _measure(schedule.topology, schedule.routes, sent, schedule.chunks.whole, most)


def measure_hops(forest: Forest) -> Traffic:
    """Add up the loads of each hop of all trees; in a reduction all trees end together.

    A reduction performs the hops of the matching broadcast in reverse order, so the loads of the
    hops are the same in reverse order. Raises VerificationError if a path uses a link that the
    topology does not have.
    """
    trees = exact(forest.multiplicity, forest.parent.size)
    most = int(trees.max(initial=0)) * forest.parent.size
    whole = sum(forest.weights) * forest.k
    return _measure(forest.topology, forest.routes, _sent_by_hop(forest, trees), whole, most)


def _sent_synchronous(schedule: StepSchedule, amount: _Amounts) -> Iterator[_Amounts]:
    """Yield what each step sends over each logical link, and then over each path that is named."""
    sends, routes, nodes = schedule.sends, schedule.routes, len(schedule.topology.nodes)
    known = routes.tail.astype(np.int64) * nodes + routes.head
    wanted = sends.tail.astype(np.int64) * nodes + sends.head
    way = np.searchsorted(known, wanted)
    if schedule.num_steps > len(sends) or not np.array_equal(np.append(known, -1)[way], wanted):
        raise VerificationError(
            "a transfer of this schedule has no route, or its steps have gaps; verify it before "
            "costing it"
        )
    ways = len(known)
    if sends.path is not None:
        way = np.where(sends.path >= 0, ways + sends.path, way)
        ways += len(routes.multiplicity)
    ends = np.searchsorted(sends.step, np.arange(schedule.num_steps + 1)).tolist()
    for start, end in pairwise(ends):
        sent = np.zeros(ways, dtype=amount.dtype)
        np.add.at(sent, way[start:end], amount[start:end])
        yield sent


def _sent_by_hop(forest: Forest, trees: _Amounts) -> Iterator[_Amounts]:
    links, gpus = len(forest.routes.tail), forest.topology.num_compute
    number = np.zeros((gpus, gpus), dtype=np.int64)
    number[forest.routes.tail, forest.routes.head] = np.arange(links)
    if forest.reduction:
        number = number.T  # by parent and child
    depth = forest.depths()
    tree_depth, many = int(depth.max(initial=0)), max(1, _CELLS // max(links, 1))
    rows = max(1, _EDGES // gpus)
    for low in range(1, tree_depth + 1, many):
        high = min(low + many, tree_depth + 1)
        table = np.zeros((high - low, links), dtype=trees.dtype)
        for start in range(0, len(depth), rows):
            some = depth[start : start + rows]
            tree, child = np.nonzero((low <= some) & (some < high))
            link = number[forest.parent[start : start + rows][tree, child], child]
            np.add.at(table, (some[tree, child] - low, link), trees[start : start + rows][tree])
        yield from table


def _measure(
    topology: Topology, routes: Routes, sent: Iterable[_Amounts], whole: int, most: int
) -> Traffic:
    """Divide what is sent over each logical link among its paths, and add it up.

    Parameters
    ----------
    sent : iterable of arrays
        The amount that each step sends over each logical link; behind these, the amount over each
        path that transfers name. ``whole`` is all of the data.
    most : int
        Upper limit of the amount over all steps and links together.
    """
    hops = routes.links_on(topology)
    shares, common = _shares(routes)
    rows = routes.first_hop - np.arange(len(routes.first_hop))  # of ``hops``, path by path
    share = np.repeat(shares, np.diff(rows))
    links = len(routes.tail)
    link_of_hop = np.repeat(np.arange(links), np.diff(rows[routes.first_path]) if links else 0)
    path_of_hop = np.repeat(np.arange(len(rows) - 1), np.diff(rows))
    slowness, of_groups, per = _slowness(topology)
    often = int(np.diff(rows).max(initial=1))  # a path may use a link, or its group, repeatedly
    greatest = max([1, *slowness.tolist(), *of_groups.tolist()])
    kind = np.int64 if most * common * often * greatest < 2**63 else object
    share, slowness, of_groups = (each.astype(kind) for each in (share, slowness, of_groups))
    members = [np.array(places) for places, _ in topology.shared_places]

    total, slowest, steps = np.zeros(len(topology.links), dtype=kind), 0, 0
    for amounts in sent:
        load = np.zeros(len(topology.links), dtype=kind)
        divided, named = np.split(amounts.astype(kind), [links])
        np.add.at(load, hops, divided[link_of_hop] * share)
        if len(named):
            np.add.at(load, hops, named[path_of_hop] * common)
        total += load
        together = np.array([load[places].sum() for places in members], dtype=kind)
        busiest = (load * slowness).max(initial=0), (together * of_groups).max(initial=0)
        slowest += int(max(busiest))
        steps += 1
    whole *= common
    return Traffic(Fraction(slowest, whole * per), steps, tuple(total.tolist()), whole)


def _shares(routes: Routes) -> tuple[_Amounts, int]:
    """Return the share of each path in the traffic of its link, and the sum of the shares."""
    if not len(routes.multiplicity):
        return routes.multiplicity.astype(object), 1
    starts, many = routes.first_path[:-1], np.diff(routes.first_path)
    least = routes.multiplicity // np.repeat(np.gcd.reduceat(routes.multiplicity, starts), many)
    trees = least.astype(object)
    of_link = np.add.reduceat(trees, starts)
    common = math.lcm(*set(of_link.tolist()))
    return trees * np.repeat(common // of_link, many), common


def _slowness(topology: Topology) -> tuple[_Amounts, _Amounts, int]:
    """Return whole numbers in proportion to 1 / bandwidth, and the number for 1 s per GB.

    The links come first, then the shared capacities.
    """
    widths = [link.bandwidth_gb_s for link in topology.links]
    limits = [limit for _, limit in topology.shared_places]
    per = math.lcm(*(width.numerator for width in widths + limits))
    of_links, of_groups = (
        np.array([int(per / width) for width in each], dtype=object) for each in (widths, limits)
    )
    return of_links, of_groups, per
