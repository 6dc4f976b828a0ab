"""Proof that a forest can keep to the times of its plan.

Problem: do all hops wait for their data, is no link or shared capacity above its bandwidth at any
         time, and have all data arrived at the time stated?
Input:   a forest whose trees and paths are proved, with a plan; nothing in the plan is trusted.
Output:  nothing, or the first violation, by name.
Cost:    a pass over the tree edges, for each row of slots; some additions for each link and slot.
Source:  the fluid model of docs/mathematics/forests-over-time.md: what starts on a link is at its
         head a latency later; a GPU that sends adds alpha. Shares no code with what makes plans.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from forestcoll.schedule.exact_sums import Ints, first
from forestcoll.schedule.forest import Forest
from forestcoll.schedule.time_plan import PARTS, Slots, TimePlan
from forestcoll.schedule.verification.arrays import check_array, length
from forestcoll.schedule.verification.naming import arrows, fail, gpu_name, tree_name

__all__ = ["Use", "bytes_of_a_part", "check_plan", "check_rates_of", "limits_of"]

_MOST_SLOTS = 2**20
_MOST = 2**62  # of sums in 64 bits
_BYTES_IN_A_US = 1000  # of 1 GB/s

_Whole = npt.NDArray[np.int64]

Limit = tuple[str, list[int], Fraction]
"""The name, the links and the bandwidth of a link or shared capacity."""

Loads = dict[int, list[tuple[tuple[int, Fraction], int]]]
"""The parts of trees over each link, by slot and the time before the link."""


def check_plan(forest: Forest, plan: TimePlan, hops: Ints) -> None:
    """Prove the times of a plan.

    Parameters
    ----------
    hops : int array
        The physical link of every hop of the paths, path by path.

    Raises
    ------
    VerificationError
        At the first violation.
    """
    _check_numbers(forest, plan)
    use = Use.of(forest, plan, hops)
    if plan.slots is None:
        _check_rates(forest, plan, use)
    else:
        _check_arrays(forest, plan.slots)
        _check_slots(forest, plan, plan.slots, use)


@dataclass(frozen=True, eq=False)
class Use:
    """What the hops of trees put on paths, and when data pass the links of paths.

    ``amount`` trees of ``batch`` take ``path`` for the hop to, or in a reduction from, ``child``.
    ``links`` are the links of each path with the time before each, ``late`` the time of the path.
    """

    batch: _Whole
    child: _Whole
    path: _Whole
    amount: _Whole
    links: list[list[tuple[int, Fraction]]]
    late: list[Fraction]

    @classmethod
    def of(cls, forest: Forest, plan: TimePlan, hops: Ints) -> Use:
        """Return the use of a forest, whose paths have these physical links."""
        links = _timed_paths(forest, plan.alpha_us, hops.tolist())
        late = [path.pop()[1] for path in links]
        return cls(*_filled(forest), links, late)

    def slowest(self, forest: Forest) -> tuple[_Whole, list[Fraction]]:
        """Return the slowest path of each hop, shape (B, N), as a place among sorted latencies."""
        values = sorted(set(self.late))
        number = {late: place for place, late in enumerate(values)}
        of_path = np.array([number[late] for late in self.late], dtype=np.int64)
        found = np.zeros(forest.parent.shape, dtype=np.int64)
        np.maximum.at(found, (self.batch, self.child), of_path[self.path])
        return found, values

    def carried(self, slots: Slots) -> Loads:
        """Return what each link carries."""
        order = np.argsort(self.batch, kind="stable")
        start, stop = (
            np.searchsorted(self.batch[order], slots.tree, side=side) for side in ("left", "right")
        )
        many = stop - start
        row = np.repeat(np.arange(len(many)), many)
        piece = order[np.arange(len(row)) - np.repeat(np.cumsum(many) - many, many) + start[row]]
        amount = self.amount[piece] * slots.parts[row]
        slot = slots.slot[row, self.child[piece]].astype(np.int64)
        path = self.path[piece]
        cells, cell = np.unique(path * (_MOST_SLOTS + 1) + slot, return_inverse=True)
        loads = np.zeros(len(cells), dtype=np.int64)
        np.add.at(loads, cell.reshape(-1), amount)
        found: dict[int, dict[tuple[int, Fraction], int]] = defaultdict(lambda: defaultdict(int))
        for key, load in zip(cells.tolist(), loads.tolist(), strict=True):
            number, at = divmod(key, _MOST_SLOTS + 1)
            for link, before in self.links[number]:
                found[link][at, before] += load
        return {link: list(each.items()) for link, each in found.items()}


def _check_numbers(forest: Forest, plan: TimePlan) -> None:
    if type(plan.size_bytes) is not int or plan.size_bytes < 1:
        fail(f"the plan is for {plan.size_bytes!r} bytes; it must be a positive int")
    for what, number in (("alpha", plan.alpha_us), ("time", plan.time_us)):
        if not isinstance(number, Fraction) or number < 0:
            fail(f"the {what} of the plan is {number!r}; it must be a Fraction from 0 up")
    trees, topology = sum(forest.weights) * forest.k, forest.topology
    if trees * PARTS * topology.num_compute * len(topology.nodes) >= _MOST:
        fail(f"the plan shares out {trees} trees, too many to add up; leave the plan out")


def _timed_paths(
    forest: Forest, alpha_us: Fraction, hops: Sequence[int]
) -> list[list[tuple[int, Fraction]]]:
    """Return the links of each path with the latency before each; the last entry is its end."""
    topology, found = forest.topology, list[list[tuple[int, Fraction]]]()
    starts = (forest.routes.first_hop - np.arange(len(forest.routes.first_hop))).tolist()
    for begin, end in pairwise(starts):
        late, path = Fraction(0), list[tuple[int, Fraction]]()
        for place in hops[begin:end]:
            path.append((place, late))
            link = topology.links[place]
            late += link.latency_us + (alpha_us if topology.nodes[link.tail].is_gpu else 0)
        found.append([*path, (-1, late)])
    return found


def _filled(forest: Forest) -> tuple[_Whole, _Whole, _Whole, _Whole]:
    """Return batch, child, path and trees of each piece: trees fill the paths of a link in order.

    All links are one line of trees. On it, trees end and paths end; a piece lies between two ends.
    """
    batch, child = np.nonzero(forest.parent >= 0)
    ends = (forest.parent[batch, child].astype(np.int64), child.astype(np.int64))
    tail, head = ends[::-1] if forest.reduction else ends
    order = np.lexsort((batch, head, tail))  # links in the order of the routes
    batch, child = batch[order], child[order]
    of_trees = np.cumsum(forest.multiplicity[batch])
    of_paths = np.cumsum(forest.routes.multiplicity)
    end = np.union1d(of_trees, of_paths)
    edge, path = np.searchsorted(of_trees, end), np.searchsorted(of_paths, end)
    return batch[edge], child[edge], path, np.diff(end, prepend=0)


# --- constant rates ------------------------------------------------------------------------------


def _check_rates(forest: Forest, plan: TimePlan, use: Use) -> None:
    """Check that trees that send in all the time that their latency leaves suffice for all links.

    A tree is on a link from some time on for that long, so rates add up to less than all of them.
    """
    latency = _tree_latencies(forest, use)
    slowest = max(latency)
    if slowest >= plan.time_us:
        fail(
            f"the plan ends at {plan.time_us} us, but "
            f"{tree_name(forest, latency.index(slowest))} has a latency of {slowest} us"
        )
    loads: dict[tuple[int, Fraction], int] = defaultdict(int)
    for batch, path, amount in zip(
        use.batch.tolist(), use.path.tolist(), use.amount.tolist(), strict=True
    ):
        for link, _ in use.links[path]:
            loads[link, latency[batch]] += amount
    tree = Fraction(plan.size_bytes, sum(forest.weights) * forest.k * _BYTES_IN_A_US)
    rates: dict[int, Fraction] = defaultdict(Fraction)
    for (link, late), trees in loads.items():
        rates[link] += trees * tree / (plan.time_us - late)
    for name, members, limit in limits_of(forest):
        rate = sum((rates[link] for link in members if link in rates), Fraction(0))
        if rate > limit:
            fail(f"{name} carries {rate} GB/s by the plan; its bandwidth is {limit} GB/s")


def _tree_latencies(forest: Forest, use: Use) -> list[Fraction]:
    """Return the latency of each tree, by the slowest path of each hop."""
    hop: dict[tuple[int, int], Fraction] = {}
    for batch, child, path in zip(
        use.batch.tolist(), use.child.tolist(), use.path.tolist(), strict=True
    ):
        hop[batch, child] = max(use.late[path], hop.get((batch, child), Fraction(0)))
    found = []
    for tree, each in enumerate(forest.trees()):
        arrive = {each.root: Fraction(0)}
        for parent, child in each.edges:
            arrive[child] = arrive[parent] + hop[tree, child]
        found.append(max(arrive.values()))
    return found


# --- slots ---------------------------------------------------------------------------------------


def _check_arrays(forest: Forest, slots: Slots) -> None:
    """Check arrays, that every tree's parts are all, and that hops have slots and roots none."""
    rows, ranks = length("plan.tree", slots.tree), forest.topology.num_compute
    check_array("plan.tree", slots.tree, (rows,), 0, forest.num_batches - 1)
    check_array("plan.parts", slots.parts, (rows,), 1, PARTS)
    check_array("plan.slot", slots.slot, (rows, ranks), -1, _MOST_SLOTS)
    if not isinstance(slots.width_us, Fraction) or slots.width_us <= 0:
        fail(f"the width of a slot is {slots.width_us!r}; it must be a positive Fraction")
    parts = np.zeros(forest.num_batches, dtype=np.int64)
    np.add.at(parts, slots.tree, slots.parts)
    if (tree := first(parts != PARTS)) is not None:
        fail(
            f"the plan sends {parts[tree]} parts of {tree_name(forest, tree)}; all of its data are "
            f"{PARTS} parts"
        )
    at_root = forest.parent[slots.tree] < 0
    if (place := first((slots.slot < 0) != at_root)) is not None:
        row, rank = divmod(place, ranks)
        due = "no slot, as the root" if at_root[row, rank] else "a slot"
        fail(f"row {row} of the plan: {gpu_name(forest, rank)} must have {due}")


def _check_slots(forest: Forest, plan: TimePlan, slots: Slots, use: Use) -> None:
    """Check that hops wait for their data, links suffice, and the last data arrive in time."""
    late, values = use.slowest(forest)
    _check_order(forest, slots, late, values)
    ends = zip(slots.slot.ravel().tolist(), late[slots.tree].ravel().tolist(), strict=True)
    arrived = max(
        (slot + 1) * slots.width_us + values[number] for slot, number in set(ends) if slot >= 0
    )
    if arrived != plan.time_us:
        fail(f"the plan ends at {plan.time_us} us, but its last data arrive at {arrived} us")
    unit = bytes_of_a_part(forest, plan)
    check_rates_of(limits_of(forest), use.carried(slots), slots.width_us, unit)


def _check_order(forest: Forest, slots: Slots, late: _Whole, values: Sequence[Fraction]) -> None:
    """Check that every hop begins when the first data of the hop before it have arrived.

    Both take as long, at even rates, so later data are in time, too.
    """
    parent = forest.parent[slots.tree]
    row, rank = np.nonzero(parent >= 0)
    above = parent[row, rank]
    inner = slots.slot[row, above] >= 0
    row, rank, above = row[inner], rank[inner], above[inner]
    before, then = (rank, above) if forest.reduction else (above, rank)
    gap = slots.slot[row, then].astype(np.int64) - slots.slot[row, before]
    number = late[slots.tree[row], before]
    too_soon = {
        (slot, place)
        for slot, place in set(zip(gap.tolist(), number.tolist(), strict=True))
        if slot * slots.width_us < values[place]
    }
    for at, pair in enumerate(zip(gap.tolist(), number.tolist(), strict=True) if too_soon else ()):
        if pair in too_soon:
            verb = "from" if forest.reduction else "to"
            fail(
                f"row {row[at]} of the plan: the hop {verb} {gpu_name(forest, int(then[at]))} in "
                f"slot {slots.slot[row[at], then[at]]} begins before the first data that "
                f"{gpu_name(forest, int(above[at]))} gets in slot "
                f"{slots.slot[row[at], before[at]]} have arrived"
            )


def bytes_of_a_part(forest: Forest, plan: TimePlan) -> Fraction:
    """Return the size of a part of a tree's data."""
    return Fraction(plan.size_bytes, sum(forest.weights) * forest.k * PARTS)


def check_rates_of(
    limits: Iterable[Limit], carried: Loads, width_us: Fraction, part_bytes: Fraction
) -> None:
    """Check that no link or shared capacity is above its bandwidth at any time.

    Parameters
    ----------
    limits : iterable of Limit
    carried : Loads
    width_us : Fraction
        Of a slot.
    part_bytes : Fraction
        The size of what loads count.
    """
    unit = part_bytes / _BYTES_IN_A_US / width_us  # GB/s of a part
    for name, members, limit in limits:
        changes: dict[Fraction, int] = defaultdict(int)
        for (slot, offset), load in (one for link in members for one in carried.get(link, ())):
            changes[slot * width_us + offset] += load
            changes[(slot + 1) * width_us + offset] -= load
        rate = 0
        for time in sorted(changes):
            rate += changes[time]
            if rate * unit > limit:
                fail(
                    f"{name} carries {rate * unit} GB/s from {time} us on by the plan; its "
                    f"bandwidth is {limit} GB/s"
                )


def limits_of(forest: Forest) -> Iterable[Limit]:
    """Yield the name, the links and the bandwidth of each link and shared capacity."""
    topology = forest.topology
    for place, link in enumerate(topology.links):
        ends = arrows(topology.nodes[node].name for node in (link.tail, link.head))
        yield f"link {ends}", [place], link.bandwidth_gb_s
    number = {(link.tail, link.head): place for place, link in enumerate(topology.links)}
    for group in topology.shared:
        links = [number[ends] for ends in group.links]
        yield f"shared capacity {group.name!r}", links, group.bandwidth_gb_s
