"""Exact allreduce schedule from the shares of a mixture of spans.

Problem: round the shares of every span, pack trees that reach its switches, and give each tree its
         part of the data.
Input:   the spans with their parts and shares, in floats.
Output:  an allreduce whose switches multicast and reduce.
Cost:    two exact optima for each span and image on each grid that passes a test of single nodes;
         then the core's forests.
Source:  as :mod:`forestcoll.allreduce.rounding`, which does the same for a single span. If every
         link has an equal reversed link, both phases become mirror images of each other: the mean
         of a solution and its mirror image is a solution, too.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from forestcoll.allreduce.result import AGREEMENT
from forestcoll.allreduce.rounding import GRIDS, natural_grids
from forestcoll.allreduce.shares import common_divisor, down, fitted, with_bandwidths
from forestcoll.core.balance import trim_to_balance
from forestcoll.core.optimality import optimum
from forestcoll.core.pipeline import forest_with
from forestcoll.errors import CapacityOverflowError, DisconnectedError, SolverError, TimeLimitError
from forestcoll.in_network.mixing import mirrored, mixed
from forestcoll.in_network.mixture_program import Ingredient
from forestcoll.in_network.multicast_nodes import as_gpus, from_spanning
from forestcoll.schedule.allreduce import Allreduce
from forestcoll.schedule.multicast import MulticastForest
from forestcoll.solver.linear_program import Vector
from forestcoll.topology.model import Topology

__all__ = ["mixture_forest"]


@dataclass(frozen=True, slots=True)
class _Kind:
    """Trees of one span, or of an image of it, with parts and shares in GB/s."""

    switches: tuple[int, ...]
    parts: Vector = field(repr=False)
    reduce: Vector = field(repr=False)
    gather: Vector = field(repr=False)


@dataclass(frozen=True, slots=True)
class _Whole:
    """Exact shares: the networks in which the trees are packed, and the rate of both phases."""

    weights: tuple[int, ...]
    reduce: Topology = field(repr=False)
    gather: Topology = field(repr=False)
    algbw_gb_s: Fraction


def mixture_forest(
    topology: Topology,
    found: Sequence[Ingredient],
    weights: tuple[int, ...] = (),
    deadline: float = math.inf,
) -> Allreduce[MulticastForest]:
    """Build a schedule with the rate of the mixture, or the nearest rate that a grid gives.

    Parameters
    ----------
    topology : Topology
    found : sequence of Ingredient
    weights : tuple of int
        Of each rank, if the parts must be in these proportions.
    deadline : float
        Of ``time.monotonic``: grids are tried until then.

    Raises
    ------
    SolverError
        If no grid leaves shares that connect all required nodes.
    TimeLimitError
        If the time is up before the first schedule.
    """
    is_mirrored = topology.reversed() == topology
    kinds = list(_kinds(topology, found, is_mirrored))
    whole = _rounded(topology, kinds, weights, is_mirrored, deadline)
    total = sum((one.algbw_gb_s for one in whole), start=Fraction(0))
    parts = [one.algbw_gb_s / total for one in whole]
    gather = mixed([_packed(topology, one) for one in whole], parts)
    if is_mirrored:
        return Allreduce(mirrored(gather), gather)
    reduce = mixed([_packed(topology, one, reduction=True) for one in whole], parts)
    return Allreduce(reduce, gather)


def _kinds(topology: Topology, found: Sequence[Ingredient], is_mirrored: bool) -> Iterator[_Kind]:
    """Yield every image of every span."""
    tail, head = (end.astype(np.int64) for end in topology.link_ends)
    size, back = len(topology.nodes), topology.reversed_places
    rank = np.array([topology.rank_of.get(v, 0) for v in range(len(topology.nodes))])
    for one in found:
        reduce, gather = one.reduce_gb_s, one.gather_gb_s
        if is_mirrored:
            gather = (gather + reduce[back]) / 2
            reduce = gather[back]
        for moves in one.span.images:
            links = np.searchsorted(tail * size + head, moves[tail] * size + moves[head])
            gpus = rank[moves[list(topology.compute)]]
            yield _Kind(
                tuple(sorted(int(moves[v]) for v in one.span.switches)),
                _moved(one.parts_gb_s, gpus),
                _moved(reduce, links),
                _moved(gather, links),
            )


def _moved(values: Vector, place: npt.NDArray[np.int64]) -> Vector:
    moved = np.zeros_like(values)
    moved[place] = values
    return moved


# --- shares ------------------------------------------------------------------------------------


def _rounded(
    topology: Topology,
    kinds: Sequence[_Kind],
    weights: tuple[int, ...],
    is_mirrored: bool,
    deadline: float,
) -> list[_Whole]:
    """Round down to the first grid that keeps the rate, or to the best there is.

    The values' own common denominators come first, as they mostly do.
    """
    wanted = Fraction(sum(float(one.parts.sum()) for one in kinds) * (1 - AGREEMENT))
    best: list[_Whole] = []
    reached = Fraction(0)
    for step in _steps(topology, kinds):
        if time.monotonic() > deadline:
            if not best:
                raise TimeLimitError("no time is left to round the mixture of trees")
            break
        try:
            made = _on_step(topology, kinds, step, weights, is_mirrored, reached)
        except CapacityOverflowError:
            continue
        rate = sum((one.algbw_gb_s for one in made), start=Fraction(0))
        if rate > reached:
            best, reached = made, rate
        if reached >= wanted:
            break
    if not best:
        raise SolverError(
            f"{topology.name}: rounded down, no shares are left that connect all GPUs"
        )
    return best


def _steps(topology: Topology, kinds: Sequence[_Kind]) -> list[Fraction]:
    unit = common_divisor([link.bandwidth_gb_s for link in topology.links])
    values = np.concatenate([np.concatenate([k.parts, k.reduce, k.gather]) for k in kinds])
    grids = [*sorted(natural_grids(values / float(unit))), *GRIDS]
    return [unit / grid for grid in dict.fromkeys(grids)]


def _on_step(
    topology: Topology,
    kinds: Sequence[_Kind],
    step: Fraction,
    weights: tuple[int, ...],
    is_mirrored: bool,
    least: Fraction,
) -> list[_Whole]:
    """Round down to one step; disconnected kinds are left out.

    Empty if single nodes prove that the rate is at most ``least``.
    """
    shares = np.stack([share for one in kinds for share in (one.gather, one.reduce)])
    rows = fitted(topology, shares, step)
    if is_mirrored:
        _mirror(topology, rows)
    pairs = [
        (kind, weights or tuple(down(kind.parts, step)), gather, reduce)
        for kind, gather, reduce in zip(kinds, rows[::2], rows[1::2], strict=True)
    ]
    pairs = [one for one in pairs if any(one[1])]
    most = (_most(topology, own, gather) * step for _, own, gather, _ in pairs)
    if sum(most, start=Fraction(0)) <= least:
        return []
    made = (_whole(topology, *one, step, is_mirrored) for one in pairs)
    return [one for one in made if one is not None]


def _mirror(topology: Topology, rows: list[list[int]]) -> None:
    """Give a link's gather share and its mirror's reduce share the smaller value of the two."""
    back = topology.reversed_places.tolist()
    for i in range(0, len(rows), 2):
        gather, reduce = rows[i], rows[i + 1]
        rows[i] = [min(one, reduce[b]) for one, b in zip(gather, back, strict=True)]
        rows[i + 1] = [rows[i][b] for b in back]


def _most(topology: Topology, weights: Sequence[int], gather: Sequence[int]) -> Fraction:
    """Return a bound on the rate, in steps: each GPU must receive all data rooted elsewhere."""
    into = [0] * len(topology.nodes)
    for head, share in zip(topology.link_ends[1].tolist(), gather, strict=True):
        into[head] += share
    total = sum(weights)
    received = {(into[v], own) for v, own in zip(topology.compute, weights, strict=True)}
    rates = [Fraction(most * total, total - own) for most, own in received if own < total]
    return min(rates, default=Fraction(0))


def _whole(
    topology: Topology,
    kind: _Kind,
    weights: tuple[int, ...],
    gather: list[int],
    reduce: list[int],
    step: Fraction,
    is_mirrored: bool,
) -> _Whole | None:
    wide = as_gpus(topology, kind.switches)
    # The mixture keeps to shared capacities.
    spanned = wide.like(wide.name, wide.nodes, wide.columns, shared=())
    trim_to_balance(spanned, gather)
    trim_to_balance(spanned, reduce, reduction=True)
    networks = [with_bandwidths(spanned, share, step) for share in (reduce, gather)]
    given = dict(zip(topology.compute, weights, strict=True))
    held = tuple(given.get(node, 0) for node in spanned.compute)
    divisor = math.gcd(*held)
    held = tuple(weight // divisor for weight in held)
    phases = ((1, False),) if is_mirrored else ((0, True), (1, False))
    try:
        times = [
            optimum(networks[i], weights=held, reduction=reduction).time_s_per_gb
            for i, reduction in phases
        ]
    except DisconnectedError:
        return None
    return _Whole(held, networks[0], networks[1], 1 / max(times))


# --- trees -------------------------------------------------------------------------------------


def _packed(topology: Topology, whole: _Whole, *, reduction: bool = False) -> MulticastForest:
    """Pack the trees of one phase."""
    network = whole.reduce if reduction else whole.gather
    forest = forest_with(whole.weights, network, reduction=reduction)
    return from_spanning(replace(forest, method="allreduce-lp"), topology)
