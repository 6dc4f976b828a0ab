"""Collectives in rounds of exchanges: in each round every place sends all it has to its peers.

Problem: butterflies, such as those of Swing, Bine and Trivance, differ only in who the peers are.
Input:   for each round one or more maps from places to peers; each map is a permutation.
Output:  an allgather, in which every place sends what its peers lack: the data doubles with one
         peer a round and triples with two, while nobody has any of it. Or an allreduce of whole
         vectors, in which every place adds the sums of its peers to its own.
Cost:    linear in the transfers: N (N - 1), or N times all maps.
Source:  recursive doubling (Thakur et al., IJHPCA 2005), with other peers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from baselines.building.composing import collect_steps, in_step, joined, routed
from baselines.interface.parameters import check_choice
from baselines.networks.boxes import Ranks
from baselines.networks.switch_paths import check_size
from forestcoll.errors import UnsupportedError
from forestcoll.schedule.sends import Chunks, Sends
from forestcoll.schedule.steps import StepSchedule
from forestcoll.topology.model import Topology

__all__ = ["FORMS", "Exchange", "Rounds", "exchange", "gathered", "rho", "summed"]

FORMS = ("bandwidth", "latency")
"""A reduce-scatter and an allgather, or sums of whole vectors."""

Rounds = Sequence[Sequence[Ranks]]
"""For each round its maps: ``map[place]`` is the peer that the place sends to."""


class Exchange(NamedTuple):
    """The rank at each place, and the rounds of each equal part of the data."""

    ranks: Ranks
    courses: Sequence[Rounds]


def rho(turn: int) -> int:
    """Return the signed distance of the peers in a turn along a dimension: the sum of (-2)^i.

    Swing has these distances on tori, and Bine trees on all networks.

    Examples
    --------
    >>> [rho(turn) for turn in range(5)]
    [1, -1, 3, -5, 11]
    """
    return int((1 - (-2) ** (turn + 1)) // 3)


def exchange(
    find: Callable[[Topology], Exchange],
    method: str,
    topology: Topology,
    collective: str,
    form: str,
) -> StepSchedule:
    """Make a collective of a method that finds its rounds on a network.

    The "bandwidth" form is a reduce-scatter with these rounds, and an allgather with the same
    rounds backwards.

    Raises
    ------
    UnsupportedError
        If the method finds no rounds, or for another collective than an allreduce in the "latency"
        form.
    InvalidParameterError
        If there is no such form.
    """
    check_size(topology)
    check_choice("form", form, FORMS)
    if form == "bandwidth":
        return collect_steps(lambda network: _gather(find, method, network), topology, collective)
    if collective != "allreduce":
        raise UnsupportedError(f"unsupported: {method} has no {collective} of its latency form")
    ranks, courses = find(topology)
    parts = [sends for part, rounds in enumerate(courses) for sends in summed(rounds, ranks, part)]
    chunks = Chunks.equal(np.full(len(courses), -1), whole=len(courses))
    return routed(topology, method, collective, chunks, joined(parts))


def _gather(find: Callable[[Topology], Exchange], method: str, topology: Topology) -> StepSchedule:
    ranks, courses = find(topology)
    size = len(ranks)
    parts = [
        sends
        for part, rounds in enumerate(courses)
        for sends in gathered(rounds[::-1], ranks, size * part)
    ]
    chunks = Chunks.equal(np.tile(np.arange(size), len(courses)), whole=size * len(courses))
    return routed(topology, method, "allgather", chunks, joined(parts))


def gathered(rounds: Rounds, ranks: Ranks, first_chunk: int = 0) -> list[Sends]:
    """Return the transfers of an allgather, one entry for each step.

    Parameters
    ----------
    ranks : int32 array
        The rank at each place. Its chunk is ``first_chunk`` plus the rank.
    """
    # Of each chunk that a place has: the place, and the one whose chunk it is; in order of arrival.
    places = owners = np.arange(len(ranks), dtype=np.int32)
    has = np.eye(len(ranks), dtype=np.bool_)
    steps: list[Sends] = []
    for step, peers in enumerate(rounds):
        parts = [(places, owners)]
        for peer in peers:
            lacking = ~has[peer[places], owners]
            tail, owner = places[lacking], owners[lacking]
            head = peer[tail]
            steps.append(in_step(step, first_chunk + ranks[owner], ranks[tail], ranks[head]))
            has[head, owner] = True
            parts.append((head, owner))
        places, owners = (np.concatenate(column) for column in zip(*parts, strict=True))
        order = np.argsort(places, kind="stable")
        places, owners = places[order], owners[order]
    return steps


def summed(rounds: Rounds, ranks: Ranks, chunk: int) -> list[Sends]:
    """Return the transfers of an allreduce of a single chunk, one entry for each map."""
    what = np.full(len(ranks), chunk)
    steps = [
        in_step(step, what, ranks, ranks[peer])
        for step, peers in enumerate(rounds)
        for peer in peers
    ]
    return [replace(one, reduce=np.ones(len(one), dtype=np.bool_)) for one in steps]
