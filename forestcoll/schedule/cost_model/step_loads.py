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
    slowness, of_groups, per = _slowness(topology)
    greatest = max([1, *slowness.tolist(), *of_groups.tolist()])
    division = _division(topology, routes, most, greatest)
    kind = division.factor.dtype
    slowness, of_groups = slowness.astype(kind), of_groups.astype(kind)
    members = [np.array(places) for places, _ in topology.shared_places]

    total, slowest, steps = np.zeros(len(topology.links), dtype=kind), 0, 0
    for amounts in sent:
        load = division.loads(amounts)
        total += load
        together = np.array([load[places].sum() for places in members], dtype=kind)
        busiest = (load * slowness).max(initial=0), (together * of_groups).max(initial=0)
        slowest += int(max(busiest))
        steps += 1
    whole *= division.common
    return Traffic(Fraction(slowest, whole * per), steps, tuple(total.tolist()), whole)


@dataclass(frozen=True, slots=True)
class _Division:
    """Division of the amounts on logical links over the hops of their paths.

    Loads are summed in a table, so that 64 bits mostly are enough for the many hops: it has a row
    for each size of parts, and a last one for amounts on paths by name.

    Parameters
    ----------
    logical, links : int
        Numbers of logical links, and of physical links, which are the columns of the table.
    link_of_path : int array
        The logical link of each path.
    parts : array
        What each path carries of its logical link, in parts.
    many : int array
        Of each path, its hops.
    hop, cell : int arrays
        The physical link of each hop, and its place in the table.
    factor : array
        Of each row, the size of its parts: int64 if all loads fit, else Python ints.
    common : int
        Unit of the loads: they are in so many parts of the amounts.
    """

    logical: int
    links: int
    link_of_path: _Amounts
    parts: _Amounts
    many: _Amounts
    hop: _Amounts
    cell: _Amounts
    factor: _Amounts
    common: int

    def loads(self, amounts: _Amounts) -> _Amounts:
        """Return the load of each physical link, in parts."""
        kind = self.parts.dtype
        divided, named = np.split(amounts.astype(kind), [self.logical])
        table = np.zeros((len(self.factor), self.links), dtype=kind)
        carried = np.repeat(divided[self.link_of_path] * self.parts, self.many)
        np.add.at(table.reshape(-1), self.cell, carried)
        if len(named):
            np.add.at(table[-1], self.hop, np.repeat(named, self.many))
        loads: _Amounts = self.factor @ table.astype(self.factor.dtype)
        return loads


def _division(topology: Topology, routes: Routes, most: int, greatest: int) -> _Division:
    """Divide each logical link's amount among its paths, in 64 bits if they are enough.

    Parameters
    ----------
    most : int
        Upper limit of the amount over all steps and links together.
    greatest : int
        The largest number that loads are multiplied by.
    """
    hop, links, logical = routes.links_on(topology), len(topology.links), len(routes.tail)
    many = np.diff(routes.first_hop) - 1
    link_of_path = np.repeat(np.arange(logical), np.diff(routes.first_path))
    parts, of_link, common = _parts(routes)
    most *= int(many.max(initial=1))  # a path may use a link, or its group, repeatedly
    sizes, place = np.unique(common // of_link, return_inverse=True)
    if most * common * greatest < 2**63 or len(sizes) * links > len(hop):
        kind = np.int64 if most * common * greatest < 2**63 else object
        parts = parts.astype(kind) * (common // of_link).astype(kind)[link_of_path]
        factor, cell = np.array([1, common], dtype=kind), hop
    else:
        fits = most * int(parts.max(initial=1)) < 2**63
        parts, factor = parts.astype(np.int64 if fits else object), np.append(sizes, common)
        cell = np.repeat(place[link_of_path] * links, many) + hop
    return _Division(logical, links, link_of_path, parts, many, hop, cell, factor, common)


def _parts(routes: Routes) -> tuple[_Amounts, _Amounts, int]:
    """Return the parts of each path, the parts of each logical link, and a common multiple."""
    if not len(routes.multiplicity):
        return routes.multiplicity, np.ones(0, dtype=object), 1
    starts, many = routes.first_path[:-1], np.diff(routes.first_path)
    parts = routes.multiplicity // np.repeat(np.gcd.reduceat(routes.multiplicity, starts), many)
    of_link = np.add.reduceat(parts.astype(object), starts)
    return parts, of_link, math.lcm(*set(of_link.tolist()))


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
