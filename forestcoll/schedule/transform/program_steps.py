"""Conversion of programs to step schedules.

Problem: prove a program, or show it step by step.
Input:   a program.
Output:  a step schedule that sends every transfer in the step after its last dependency.
Cost:    linear in the dependencies, once for each round of delays for a switch or a sum.
Source:  ours.

Three kinds of transfers are delayed: a transfer to a switch without storage, so that the switch can
pass it on at once; a transfer to a sender whose later sum must not include it; and a transfer that
repeats another.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from forestcoll.errors import VerificationError
from forestcoll.schedule.forest import Routes
from forestcoll.schedule.program import Program
from forestcoll.schedule.sends import Intervals, Sends
from forestcoll.schedule.steps import StepSchedule
from forestcoll.schedule.transform.dependencies import met
from forestcoll.schedule.transform.timed_transfers import Transfers

__all__ = ["stepwise"]

_Numbers = npt.NDArray[np.int64]


def stepwise(program: Program) -> StepSchedule:
    """Convert a program to a step schedule without a clock; every transfer names its path.

    Raises VerificationError if a dependency does not come before its transfer, or no order of steps
    keeps later additions out of a sum that was sent before.
    """
    step = _steps(program)
    routes, path = _routes(program)
    sends = Sends.sorted(
        step,
        program.chunk,
        program.tail,
        program.head,
        program.reduce,
        interval=Intervals(program.first, program.amount),
        path=path,
    )
    return StepSchedule(
        topology=program.topology,
        method=program.method,
        collective=program.collective,
        chunks=program.chunks,
        sends=sends,
        routes=routes,
        weights=program.weights,
    )


def _steps(program: Program) -> _Numbers:
    count, many = program.num_transfers, np.diff(program.first_need)
    late, early = np.repeat(np.arange(count), many), program.need.astype(np.int64)
    if (early >= late).any():
        raise VerificationError("a transfer of this program needs one that does not come before it")
    keeps, stores = _ends(program)
    passing = ~stores[program.head[early]]
    sent_on, come_in = late[passing], early[passing]
    out, besides = _without(program, late, early, keeps)
    once, again = _repeated(program)
    along = ~keeps[program.tail]  # may send what comes in in the same step
    least = np.zeros(count, dtype=np.int64)
    # Steps only rise, so this ends at the least steps that meet all rules, if any do.
    while True:
        step = _after_needs(program, late, early, least)
        raised = step.copy()
        np.maximum.at(raised, come_in, step[sent_on] - 1)
        np.maximum.at(raised, besides, step[out] + along[out])
        np.maximum.at(raised, again, step[once] + 1)
        if np.array_equal(raised, step):
            return np.unique(step, return_inverse=True)[1].reshape(-1).astype(np.int64)
        if int(raised.max()) > count:
            raise VerificationError("this program has sums that no order of steps brings about")
        least = raised


def _after_needs(program: Program, late: _Numbers, early: _Numbers, least: _Numbers) -> _Numbers:
    """Return the first steps after all dependencies, from ``least`` up; wave by wave."""
    step, open_needs = least.copy(), np.diff(program.first_need)
    users = late[np.argsort(early, kind="stable")]
    first_user = np.concatenate([[0], np.cumsum(np.bincount(early, minlength=len(step)))])
    ready = np.flatnonzero(open_needs == 0)
    while len(ready):
        many = first_user[ready + 1] - first_user[ready]
        place = np.repeat(first_user[ready] - (np.cumsum(many) - many), many)
        user = users[place + np.arange(len(place))]
        np.maximum.at(step, user, np.repeat(step[ready], many) + 1)
        np.subtract.at(open_needs, user, 1)
        user = np.unique(user)
        ready = user[open_needs[user] == 0]
    return step


def _ends(program: Program) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Return whether each end may send its data any number of times, and whether later."""
    nodes = [program.topology.nodes[position] for position in program.topology.ends]
    stores = np.array([not node.is_switch or node.stores for node in nodes], dtype=np.bool_)
    copies = np.array([not node.is_switch or node.multicast for node in nodes], dtype=np.bool_)
    return stores & copies, stores


def _repeated(program: Program) -> tuple[_Numbers, _Numbers]:
    """Return pairs of transfers of the same units to the same end; they need separate steps."""
    keys = (program.first, program.head, program.tail, program.chunk)
    order = np.lexsort(keys)
    same = np.ones(max(len(order) - 1, 0), dtype=np.bool_)
    for key in keys:
        same &= key[order][1:] == key[order][:-1]
    return order[:-1][same], order[1:][same]


def _without(
    program: Program, late: _Numbers, early: _Numbers, keeps: npt.NDArray[np.bool_]
) -> tuple[_Numbers, _Numbers]:
    """Return pairs of a transfer and one to its sender that must not be part of it.

    For a sum of a GPU, these are transfers of the same units that are not its dependencies. For a
    transfer of a switch, these are all later ones.
    """
    count = program.num_transfers
    alone = np.zeros(count, dtype=np.int64)
    transfers = Transfers(
        program.chunk,
        program.first,
        program.amount,
        program.tail,
        program.head,
        program.path,
        program.reduce,
        alone,
        alone,
        program.message,
    )
    needed = np.sort(late * count + early)
    sent, besides = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for out, into in met(transfers, np.flatnonzero(program.reduce | ~keeps[program.tail])):
        key = out * count + into
        place = np.minimum(np.searchsorted(needed, key), max(len(needed) - 1, 0))
        other = needed[place] != key if len(needed) else np.ones(len(key), dtype=np.bool_)
        other &= keeps[program.tail[out]] | (into > out)
        sent.append(out[other])
        besides.append(into[other])
    return np.concatenate(sent), np.concatenate(besides)


def _routes(program: Program) -> tuple[Routes, npt.NDArray[np.int32]]:
    """Return the paths in use, by their ends, and the index of each transfer's path."""
    used, which = np.unique(program.path, return_index=True)
    order = np.lexsort((used, program.head[which], program.tail[which]))
    used, which = used[order], which[order]
    paths = program.paths.taken(used.astype(np.int64))
    tail, head = program.tail[which], program.head[which]
    new = np.ones(len(used), dtype=np.bool_)
    new[1:] = (tail[1:] != tail[:-1]) | (head[1:] != head[:-1])
    place = np.zeros(len(program.paths), dtype=np.int32)
    place[used] = np.arange(len(used))
    routes = Routes(
        tail=tail[new],
        head=head[new],
        first_path=np.append(np.flatnonzero(new), len(used)).astype(np.int64),
        multiplicity=np.ones(len(used), dtype=np.int64),
        first_hop=paths.first_node,
        hop=paths.node,
    )
    return routes, place[program.path]
