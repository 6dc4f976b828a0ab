"""Rates of the rings and trees that a run of NCCL chose, on the network that is there.

Problem: are NCCL's channels the best that its algorithms can have here, and how far is the bound?
Input:   the channels of a log or a graph file; the network.
Output:  the rate of the rings, and of the trees for an allreduce, each channel with an equal share
         of the data, verified; pipelined, without latencies.
Cost:    a tree for each ring and GPU.
Source:  NCCL's logs name ranks; those of a graph file are the devices of one machine. Its ring
         allreduce runs both phases in the direction of the ring, its tree sums up and sends down.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from baselines.building.equal_trees import forest_of
from baselines.networks.switch_paths import router_of
from forestcoll.errors import InvalidParameterError, UnsupportedError
from forestcoll.schedule import cost, verify
from forestcoll.schedule.allreduce import Allreduce, AnySchedule
from forestcoll.schedule.forest import Forest
from forestcoll.schedule.transform.reversal import transposed
from forestcoll.topology import Topology
from forestcoll.topology.importers.channels.channel_files import read_channels
from forestcoll.topology.importers.channels.chosen_channels import Channels, Tree

__all__ = ["ChannelRate", "channel_rates"]

_COLLECTIVES = ("allgather", "reduce-scatter", "allreduce")
_MOST_PARENTS = 20_000_000
"""Of all trees together: a few hundred MB."""


@dataclass(frozen=True, slots=True)
class ChannelRate:
    """The algbw of the rings or the trees of a file, and how many channels there are."""

    what: str
    channels: int
    algbw_gb_s: Fraction


def channel_rates(path: Path, topology: Topology, collective: str) -> list[ChannelRate]:
    """Rate the channels of a file on a network.

    Parameters
    ----------
    path : Path
        Of NCCL_GRAPH_DUMP_FILE, or a log of all ranks with NCCL_DEBUG=INFO.
    topology : Topology
        Its GPUs are the ranks in their order.
    collective : str
        One of "allgather", "reduce-scatter", "allreduce".

    Raises
    ------
    InvalidTopologyError
        If the file is not right.
    InvalidParameterError
        If its ranks are not the GPUs of the network.
    UnsupportedError
        For another collective, or if the network does not join two neighbours of a channel.
    """
    if collective not in _COLLECTIVES:
        raise UnsupportedError(
            f"unsupported: channels are rated for {', '.join(_COLLECTIVES)}, not {collective}"
        )
    channels = read_channels(path)
    made: list[tuple[str, int, AnySchedule]] = []
    if channels.rings:
        schedule = _rings(path, topology, channels, collective)
        made.append(("rings", len(channels.rings), schedule))
    if channels.trees and collective == "allreduce":
        rows = Counter(_tree_parents(path, topology, tree) for tree in channels.trees)
        down = _forest(topology, rows)
        up = transposed(_forest(topology.reversed(), rows), topology)
        made.append(("trees", len(channels.trees), Allreduce(up, down)))
    if not made:
        raise UnsupportedError(f"unsupported: {path} has no rings, and trees only for an allreduce")
    for _, _, schedule in made:
        verify(schedule)
    return [ChannelRate(what, count, cost(one).algbw_gb_s) for what, count, one in made]


def _rings(path: Path, topology: Topology, channels: Channels, collective: str) -> AnySchedule:
    """Return the schedule of the rings: data and sums both run in their direction."""
    for ring in channels.rings:
        _expect_ranks(path, f"ring {ring.channel}", ring.gpus, topology)
    rings = [_from_first(ring.gpus) for ring in channels.rings]
    different, gpus = len(set(rings)), topology.num_compute
    if different * gpus**2 > _MOST_PARENTS:
        raise UnsupportedError(
            f"unsupported: {different} different rings of {gpus} GPUs are too many; rate a group "
            f"of the GPUs"
        )
    if collective == "allgather":
        return _forest(topology, _around(rings))
    backwards = _around([ring[::-1] for ring in rings])
    sums = transposed(_forest(topology.reversed(), backwards), topology)
    if collective == "reduce-scatter":
        return sums
    return Allreduce(sums, _forest(topology, _around(rings)))


def _from_first(ring: tuple[int, ...]) -> tuple[int, ...]:
    """Return a ring from rank 0 on, so that equal rings are counted together."""
    start = ring.index(0)
    return ring[start:] + ring[:start]


def _forest(topology: Topology, rows: Mapping[tuple[int, ...], int]) -> Forest:
    return forest_of(router_of(topology), "nccl-channels", rows)


def _around(rings: Iterable[tuple[int, ...]]) -> Counter[tuple[int, ...]]:
    """Count the paths around rings from each rank, as the parent of each rank."""
    rows: Counter[tuple[int, ...]] = Counter()
    for ring, copies in Counter(rings).items():
        before = dict(zip(ring, (ring[-1], *ring[:-1]), strict=True))
        for root in ring:
            rows[tuple(-1 if v == root else before[v] for v in range(len(ring)))] += copies
    return rows


def _tree_parents(path: Path, topology: Topology, tree: Tree) -> tuple[int, ...]:
    parents = dict(tree.parents)
    _expect_ranks(path, f"tree {tree.channel}", list(parents), topology)
    if tree.root() is None:
        raise InvalidParameterError(
            f"{path}: tree {tree.channel} has no single root; give the log of all ranks"
        )
    above = (parents[rank] for rank in range(topology.num_compute))
    return tuple(-1 if parent is None else parent for parent in above)


def _expect_ranks(path: Path, what: str, gpus: Sequence[int], topology: Topology) -> None:
    if sorted(gpus) != list(range(topology.num_compute)):
        raise InvalidParameterError(
            f"{path}: {what} has {len(gpus)} GPUs, and the network {topology.num_compute}; name "
            f"the network of the run, or its GPUs with --group, and give the log of all ranks"
        )
