"""What the steps of a step schedule put on the links of the network.

Problem: the load of every physical link in every step, and how long the slowest takes.
Input:   a step schedule, the logical link of each transfer, the physical link of each hop.
Output:  exact loads and times.
Cost:    one pass over the hops of the paths in use, step by step.
Source:  the step model of the peers: sum over the steps of max load(e) / b(e); a transfer is
         divided over the paths of its logical link as a fluid.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from forestcoll.schedule.exactly import Ints
from forestcoll.schedule.forest import Routes
from forestcoll.schedule.steps import StepSchedule

__all__ = ["Traffic", "measure"]

_Amounts = npt.NDArray[Any]
"""int64 where sums of them fit, else Python ints."""


@dataclass(frozen=True, slots=True)
class Traffic:
    """What a schedule loads the links with.

    Parameters
    ----------
    time_s_per_gb : Fraction
        The sum over the steps of the time of their slowest links, for one gigabyte of data.
    busiest_link : tuple of str, optional
        Tail and head of the (first) link that is busy for longest in all.
    loads : tuple of int
        Over each link of the topology, in all steps: ``loads[i] / whole`` of the data.
    whole : int
    """

    time_s_per_gb: Fraction
    busiest_link: tuple[str, str] | None
    loads: tuple[int, ...]
    whole: int


def measure(schedule: StepSchedule, link: Ints, hops: Ints) -> Traffic:
    """Add up the loads of each step, and the times of the slowest links.

    Parameters
    ----------
    schedule : StepSchedule
        With paths over links of its topology, as ``verify`` proves.
    link : int array of length T
        The logical link of every transfer, by its place in the routes.
    hops : int array
        The physical link of every hop of the paths, by its place in the topology.
    """
    topology, routes = schedule.topology, schedule.routes
    shares, common = _shares(routes)
    rows = routes.first_hop - np.arange(len(routes.first_hop))  # of ``hops``, path by path
    share = np.repeat(shares, np.diff(rows))
    link_of_hop = np.repeat(
        np.arange(len(routes.tail)), np.diff(rows[routes.first_path]) if len(rows) else 0
    )
    slowness, per = _slowness(schedule)
    size = schedule.chunks.size.astype(object) * common
    most = int(size.sum()) * max(len(schedule.sends), 1) * int(max(slowness, default=1))
    kind = np.int64 if most < 2**63 else object
    size, share, slowness = (a.astype(kind) for a in (size // common, share, slowness))

    total, slowest = np.zeros(len(topology.links), dtype=kind), 0
    ends = np.searchsorted(schedule.sends.step, np.arange(schedule.num_steps + 1)).tolist()
    for start, end in pairwise(ends):
        sent = np.zeros(len(routes.tail), dtype=kind)
        np.add.at(sent, link[start:end], size[schedule.sends.chunk[start:end]])
        load = np.zeros(len(topology.links), dtype=kind)
        np.add.at(load, hops, sent[link_of_hop] * share)
        total += load
        slowest += int((load * slowness).max(initial=0))
    whole = schedule.chunks.whole * common
    busiest = None
    if len(schedule.sends):
        one = topology.links[int((total * slowness).argmax())]
        busiest = topology.nodes[one.tail].name, topology.nodes[one.head].name
    return Traffic(Fraction(slowest, whole * per), busiest, tuple(total.tolist()), whole)


def _shares(routes: Routes) -> tuple[_Amounts, int]:
    """Return the share of each path in the traffic of its link, and what the shares add up to."""
    trees = routes.multiplicity.astype(object)
    if not len(trees):
        return trees, 1
    of_link = np.add.reduceat(trees, routes.first_path[:-1])
    common = math.lcm(*of_link.tolist())
    return trees * np.repeat(common // of_link, np.diff(routes.first_path)), common


def _slowness(schedule: StepSchedule) -> tuple[_Amounts, int]:
    """Return whole numbers in proportion to 1 / bandwidth, and what 1 s per GB is among them."""
    widths = [link.bandwidth_gb_s for link in schedule.topology.links]
    per = math.lcm(*(width.numerator for width in widths))
    return np.array([int(per / width) for width in widths], dtype=object), per
