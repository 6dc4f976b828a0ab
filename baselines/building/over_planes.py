"""Schedules on parallel planes, from schedules on the network with merged planes.

Problem: a method sees parallel switches as one; divide its traffic over all of them.
Output:  the same schedule on the network itself, in exact proportions, at the same rates.
Source:  none. A schedule on the merged network becomes a mixture: one copy for each selection, with
         the selection's share of the data.

A path becomes one path for each selection with other switches. Trees are duplicated only where
switches multicast them. Chunks are cut, one part for each selection, only where transfers end at
merged switches or name paths over them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import wraps
from math import lcm
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from baselines.networks.planes import Planes, find_planes
from forestcoll.errors import CapacityOverflowError, UnsupportedError
from forestcoll.schedule.allreduce import Allreduce
from forestcoll.schedule.clock import Clock
from forestcoll.schedule.factored import FactoredForest
from forestcoll.schedule.flows import FlowSchedule
from forestcoll.schedule.forest import Forest, Routes
from forestcoll.schedule.multicast import MulticastForest, Walks
from forestcoll.schedule.sends import Chunks, Intervals
from forestcoll.schedule.steps import StepSchedule
from forestcoll.topology.model import Topology

__all__ = ["on_planes", "over_planes"]

S = TypeVar("S")
_Places = npt.NDArray[np.int64]


def on_planes(generate: Callable[..., S]) -> Callable[..., S]:
    """Run a method on the network with merged planes, and spread its schedule over the planes.

    Parameters
    ----------
    generate : callable
        Called as ``generate(topology, ...)``.
    """

    @wraps(generate)
    def generate_on_planes(topology: Topology, *arguments: Any, **parameters: Any) -> S:
        planes = find_planes(topology)
        return over_planes(generate(planes.merged, *arguments, **parameters), planes)

    return generate_on_planes


def over_planes(made: S, planes: Planes) -> S:
    """Spread a schedule on the merged network over the planes.

    Raises
    ------
    UnsupportedError
        For a factored forest.
    CapacityOverflowError
        If the proportions need numbers beyond 64 bits.
    """
    if planes.merged is planes.topology:
        return made
    return cast(S, _spread(made, _Mixture.of(planes)))


@dataclass(frozen=True)
class _Mixture:
    """The selections with shares as whole numbers.

    Parameters
    ----------
    units : int64 array
        The share of each selection, in parts of ``whole``.
    node : int32 array
        By selection and position in the merged network, the position in the topology.
    """

    topology: Topology
    merged: Topology
    units: npt.NDArray[np.int64]
    whole: int
    node: npt.NDArray[np.int32]

    @classmethod
    def of(cls, planes: Planes) -> _Mixture:
        shares = [each.share for each in planes.selections]
        whole = lcm(*(share.denominator for share in shares))
        if whole >= 2**63:
            raise _too_fine(planes.topology, whole)
        units = np.array([int(share * whole) for share in shares], dtype=np.int64)
        node = np.array([each.node for each in planes.selections], dtype=np.int32)
        return cls(planes.topology, planes.merged, units, whole, node)

    def times(self, amounts: npt.NDArray[np.int64], by: Any) -> npt.NDArray[np.int64]:
        if int(amounts.max(initial=0)) * self.whole >= 2**63:
            raise _too_fine(self.topology, self.whole)
        return np.asarray(amounts * by, dtype=np.int64)

    @property
    def ends(self) -> npt.NDArray[np.int32]:
        """By selection and end of the merged network, the end in the topology."""
        number = np.argsort(np.array(self.topology.ends))
        return number[self.node[:, np.array(self.merged.ends)]].astype(np.int32)

    @property
    def is_merged(self) -> npt.NDArray[np.bool_]:
        """Whether each node of the merged network stands for several."""
        return np.asarray((self.node != self.node[0]).any(axis=0))


def _too_fine(topology: Topology, whole: int) -> CapacityOverflowError:
    return CapacityOverflowError(
        f"{topology.name}: its planes have shares of 1/{whole} of the data, beyond exact 64-bit "
        f"arithmetic; give them bandwidths in simpler proportions"
    )


def _spread(made: object, mixture: _Mixture) -> object:
    if isinstance(made, Allreduce):
        return replace(
            made, reduce=_spread(made.reduce, mixture), gather=_spread(made.gather, mixture)
        )
    if isinstance(made, Forest):
        return _forest(made, mixture)
    if isinstance(made, MulticastForest):
        return _multicast(made, mixture)
    if isinstance(made, StepSchedule):
        return _steps(made, mixture)
    if isinstance(made, FlowSchedule):
        routes, _ = _routes(made.routes, mixture)
        whole = made.whole * mixture.whole
        return replace(made, topology=mixture.topology, routes=routes, whole=whole)
    kind = "a factored forest" if isinstance(made, FactoredForest) else type(made).__name__
    raise UnsupportedError(f"unsupported: {kind} is not spread over parallel planes; expand it")


def _forest(forest: Forest, mixture: _Mixture) -> Forest:
    """Multiply the trees as the shares need; divide each link's trees over the planes."""
    routes, _ = _routes(forest.routes, mixture)
    trees = mixture.times(forest.multiplicity, mixture.whole)
    often = int(np.gcd.reduce(np.concatenate([trees, routes.multiplicity])))
    return replace(
        forest,
        topology=mixture.topology,
        k=forest.k * mixture.whole // often,
        congestion=forest.congestion * mixture.whole / often,
        multiplicity=trees // often,
        routes=replace(routes, multiplicity=routes.multiplicity // often),
    )


def _multicast(forest: MulticastForest, mixture: _Mixture) -> MulticastForest:
    """Repeat each batch of trees once for each selection."""
    batches, many = forest.num_batches, len(mixture.units)
    number: dict[tuple[int, ...], int] = {}
    walk = np.concatenate(
        [
            np.array(
                [
                    number.setdefault(tuple(row[list(forest.walks.nodes(i))].tolist()), len(number))
                    for i in range(len(forest.walks))
                ],
                dtype=np.int32,
            )[forest.walk]
            for row in mixture.node
        ]
    )
    length = np.array([0, *map(len, number)], dtype=np.int64)
    nodes = np.array([node for row in number for node in row], dtype=np.int32)
    entries = np.tile(np.diff(forest.first_walk), many)
    units = np.repeat(mixture.units, batches)
    return replace(
        forest,
        topology=mixture.topology,
        k=forest.k * mixture.whole,
        congestion=forest.congestion * mixture.whole,
        root=np.tile(forest.root, many),
        multiplicity=mixture.times(np.tile(forest.multiplicity, many), units),
        first_walk=np.concatenate([[0], np.cumsum(entries)]),
        walk=walk,
        walks=Walks(np.cumsum(length), nodes),
    )


def _steps(schedule: StepSchedule, mixture: _Mixture) -> StepSchedule:
    routes, place = _routes(schedule.routes, mixture)
    sends, gpus = schedule.sends, mixture.topology.num_compute
    between_gpus = max(int(sends.tail.max(initial=0)), int(sends.head.max(initial=0))) < gpus
    if sends.path is None and between_gpus:
        return replace(schedule, topology=mixture.topology, routes=routes)
    return _cut(schedule, routes, place, mixture)


def _cut(schedule: StepSchedule, routes: Routes, place: _Places, mixture: _Mixture) -> StepSchedule:
    """Cut every chunk, and every transfer, into one part for each selection."""
    chunks, sends, interval = schedule.chunks, schedule.sends, schedule.sends.interval
    many, units = len(mixture.units), mixture.units
    by_chunk, by_send = np.tile(units, len(chunks)), np.tile(units, len(sends))
    of_chunk, of_send = (np.repeat(np.arange(len(each)), many) for each in (chunks, sends))
    selection = np.tile(np.arange(many), len(sends))
    rows, ends, path = sends.taken(of_send), mixture.ends, sends.paths[of_send]
    if interval is not None:
        first, amount = interval.first[of_send], interval.amount[of_send]
        interval = Intervals(mixture.times(first, by_send), mixture.times(amount, by_send))
    named = None if sends.path is None else np.where(path < 0, -1, place[selection, path])
    return replace(
        schedule,
        topology=mixture.topology,
        chunks=Chunks(
            mixture.times(chunks.size[of_chunk], by_chunk),
            chunks.whole * mixture.whole,
            chunks.root[of_chunk],
            chunks.target[of_chunk],
        ),
        sends=replace(
            rows,
            chunk=(rows.chunk * many + selection).astype(np.int32),
            tail=ends[selection, rows.tail],
            head=ends[selection, rows.head],
            interval=interval,
            path=None if named is None else named.astype(np.int32),
        ),
        routes=routes,
        clock=None if schedule.clock is None else _times(schedule.clock, of_send, selection, many),
    ).in_short()


def _times(clock: Clock, of_send: _Places, selection: _Places, many: int) -> Clock:
    """Give each part of a transfer its times; parts over the same planes stay one message."""
    message = None if clock.message is None else clock.message[of_send].astype(np.int64)
    if message is not None:
        message = np.where(message < 0, -1, message * many + selection)
    return replace(
        clock,
        start=clock.start[of_send],
        end=clock.end[of_send],
        left=None if clock.left is None else clock.left[of_send],
        message=None if message is None else message.astype(np.int32),
    )


def _routes(routes: Routes, mixture: _Mixture) -> tuple[Routes, _Places]:
    """Give each path one of its own for each selection that leads it over other switches.

    Returns
    -------
    Routes
    int64 array
        By selection and path, the place of the new path.
    """
    length = np.diff(routes.first_hop)
    images, which = _images(routes, mixture)
    many = np.array([len(image.selection) for image in images], dtype=np.int64)[which]
    path = np.repeat(np.arange(len(length)), many)
    nth = np.arange(len(path)) - np.repeat(np.cumsum(many) - many, many)
    start = np.cumsum([0, *(len(image.selection) for image in images)])[which][path] + nth
    selection = np.concatenate([np.zeros(0, np.int64), *(each.selection for each in images)])[start]
    units = np.concatenate([np.zeros(0, np.int64), *(each.units for each in images)])[start]
    link = np.repeat(np.arange(len(routes.tail)), np.diff(routes.first_path))[path]
    tail = mixture.ends[selection, routes.tail[link]]
    head = mixture.ends[selection, routes.head[link]]
    order = np.lexsort((head, tail))
    new = np.ones(len(order), dtype=np.bool_)
    tail, head, path, selection = tail[order], head[order], path[order], selection[order]
    new[1:] = (np.diff(tail) != 0) | (np.diff(head) != 0)
    first_hop = np.concatenate([[0], np.cumsum(length[path])]).astype(np.int64)
    hop = np.arange(first_hop[-1]) + np.repeat(
        routes.first_hop[path] - first_hop[:-1], length[path]
    )
    found = Routes(
        tail=tail[new],
        head=head[new],
        first_path=np.append(np.flatnonzero(new), len(tail)).astype(np.int64),
        multiplicity=mixture.times(routes.multiplicity[path], units[order]),
        first_hop=first_hop,
        hop=mixture.node[np.repeat(selection, length[path]), routes.hop[hop]],
    )
    place = np.argsort(order)  # places of the new paths before the sort by their ends
    begin = np.cumsum(many) - many
    image = np.array([each.of_selection for each in images], dtype=np.int64)
    return found, place[begin[None, :] + image[which].T] if len(length) else image


@dataclass(frozen=True, slots=True)
class _Image:
    """The paths that replace a path over merged switches.

    Parameters
    ----------
    selection : int64 array
        A selection for each of the ways over the switches themselves.
    units : int64 array
        The share of each way.
    of_selection : int64 array
        The way of each selection.
    """

    selection: _Places
    units: npt.NDArray[np.int64]
    of_selection: _Places


def _images(routes: Routes, mixture: _Mixture) -> tuple[list[_Image], _Places]:
    """Return the distinct images of paths, and the image of each path."""
    length = np.diff(routes.first_hop)
    path = np.repeat(np.arange(len(length)), length)
    over = mixture.is_merged[routes.hop]
    many = np.bincount(path[over], minlength=len(length))
    nth = np.arange(over.sum()) - np.repeat(np.cumsum(many) - many, many)
    visited = np.full((len(length), int(many.max(initial=0))), -1, dtype=np.int64)
    visited[path[over], nth] = routes.hop[over]
    rows, which = np.unique(visited, axis=0, return_inverse=True)
    return [_image(row[row >= 0], mixture) for row in rows], which.reshape(-1)


def _image(merged: _Places, mixture: _Mixture) -> _Image:
    switches = mixture.node[:, merged]
    _, first, which = np.unique(switches, axis=0, return_index=True, return_inverse=True)
    units = np.zeros(len(first), dtype=np.int64)
    np.add.at(units, which.reshape(-1), mixture.units)
    return _Image(first.astype(np.int64), units, which.reshape(-1))
