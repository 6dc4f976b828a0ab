"""Distribution of physical trees of merged planes over the real planes.

Problem: trees run through a merged switch that represents several; each tree must take one of them,
         so that every plane carries its share.
Input:   an allreduce of physical trees on the merged network.
Output:  one on the real network, as fast.
Cost:    linear in the entries of the trees, times the planes where whole batches do not divide
         evenly.
Source:  ours; :mod:`.parallel_planes` of symmetries explains why equal shares are as fast.

At first, each whole batch takes one plane: the plane with the least load for its share. If some
link then carries more than its part, each batch is divided over all planes; the number of trees
grows by the same factor.

Merged switches of one *layer* have no links with one another, so a tree may take the same plane, or
planes of the same place, in all of them. A link between two merged switches has the product of
their shares, so layers are divided independently.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import numpy.typing as npt

from forestcoll.errors import CapacityOverflowError
from forestcoll.in_network.numbering import distinct
from forestcoll.schedule.allreduce import Allreduce
from forestcoll.schedule.multicast import MulticastForest, Walks
from forestcoll.topology.symmetry.parallel_planes import Planes

__all__ = ["over_planes"]

_Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Layer:
    """Merged switches without links to one another.

    ``member`` holds, for each piece of the whole, the real node of each merged node; -1 for nodes
    outside the layer. ``weight`` holds the size of each piece.
    """

    member: _Ints
    weight: tuple[int, ...]

    @property
    def inside(self) -> npt.NDArray[np.bool_]:
        return np.asarray(self.member[0] >= 0)


def over_planes(schedule: Allreduce[MulticastForest], planes: Planes) -> Allreduce[MulticastForest]:
    """Convert a schedule of the merged network to one of the real network.

    Raises CapacityOverflowError if there are more trees than 63 bits count.

    Parameters
    ----------
    schedule : Allreduce of MulticastForest
        A schedule on ``planes.merged``.

    Returns
    -------
    Allreduce of MulticastForest
        A schedule on ``planes.topology`` with the same time, without a bound.
    """
    if planes.is_trivial:
        return schedule
    layers = [_layer(planes, switches) for switches in planes.layers()]
    # Whole batches keep the trees few; shares fit always.
    for lay in (_whole, _shared):
        reduce, gather = (lay(forest, planes, layers) for forest in schedule.phases)
        made = Allreduce(reduce, gather, None, schedule.remark)
        if made.time_s_per_gb <= schedule.time_s_per_gb:
            break
    return made


# --- layers ------------------------------------------------------------------------------------


def _layer(planes: Planes, switches: Sequence[int]) -> _Layer:
    """Return the layer of some switches, with the whole cut wherever one of their planes ends."""
    ends = {switch: _ends(planes, switch) for switch in switches}
    cuts = sorted({Fraction(0), *(end for row in ends.values() for end in row)})
    under = math.lcm(*(cut.denominator for cut in cuts))
    weight = [int((end - start) * under) for start, end in pairwise(cuts)]
    member = np.full((len(weight), len(planes.members)), -1, dtype=np.int64)
    for switch in switches:
        plane = 0
        for piece, start in enumerate(cuts[:-1]):
            while ends[switch][plane] <= start:
                plane += 1
            member[piece, switch] = planes.members[switch][plane]
    divisor = math.gcd(*weight)
    return _Layer(member, tuple(one // divisor for one in weight))


def _ends(planes: Planes, switch: int) -> list[Fraction]:
    """Return the end of each plane's share, with the shares one behind the other."""
    ends, upto = [], Fraction(0)
    for member in planes.members[switch]:
        upto += planes.share[member]
        ends.append(upto)
    return ends


# --- whole batches -----------------------------------------------------------------------------


def _whole(forest: MulticastForest, planes: Planes, layers: Sequence[_Layer]) -> MulticastForest:
    return _laid(forest, planes, layers, _chosen(forest, layers))


def _chosen(forest: MulticastForest, layers: Sequence[_Layer]) -> list[_Ints]:
    """Choose a piece of each layer for each batch that passes it, in the order of the batches."""
    batch = np.repeat(np.arange(forest.num_batches), np.diff(forest.first_walk))
    chosen = []
    for layer in layers:
        passing = np.zeros(forest.num_batches, dtype=bool)
        passing[batch[_touching(forest.walks, layer)[forest.walk]]] = True
        piece = np.zeros(forest.num_batches, dtype=np.int64)
        used = [0] * len(layer.weight)
        total = math.lcm(*layer.weight)
        cost = [total // weight for weight in layer.weight]  # cost of a tree on each piece
        for at in np.flatnonzero(passing).tolist():
            trees = int(forest.multiplicity[at])
            best = min(range(len(used)), key=lambda i: (used[i] + trees * cost[i], i))
            used[best] += trees * cost[best]
            piece[at] = best
        chosen.append(piece)
    return chosen


def _touching(walks: Walks, layer: _Layer) -> npt.NDArray[np.bool_]:
    return np.asarray(np.logical_or.reduceat(layer.inside[walks.node], walks.first_node[:-1]))


def _laid(
    forest: MulticastForest, planes: Planes, layers: Sequence[_Layer], piece: Sequence[_Ints]
) -> MulticastForest:
    batch = np.repeat(np.arange(forest.num_batches), np.diff(forest.first_walk))
    code = forest.walk.astype(np.int64)
    for layer, chosen in zip(layers, piece, strict=True):
        touched = _touching(forest.walks, layer)[forest.walk]
        code = code * len(layer.weight) + np.where(touched, chosen[batch], 0)
    used, walk = distinct(code)
    made = replace(
        forest,
        topology=planes.topology,
        walk=walk.astype(np.int32),
        walks=_walks(forest.walks, planes, layers, used),
        optimum=None,
    )
    return made.measured()


def _walks(walks: Walks, planes: Planes, layers: Sequence[_Layer], code: _Ints) -> Walks:
    """Return the real walks of codes; a code holds the merged walk and a piece of each layer."""
    pieces = []
    for layer in reversed(layers):
        code, piece = np.divmod(code, len(layer.weight))
        pieces.append(piece)
    length = np.diff(walks.first_node)[code]
    first = np.concatenate([[0], np.cumsum(length)]).astype(np.int64)
    row = np.repeat(np.arange(len(code)), length)
    node = walks.node[walks.first_node[code][row] + np.arange(first[-1]) - first[row]]
    real = np.array([members[0] for members in planes.members], dtype=np.int64)[node]
    for layer, piece in zip(reversed(layers), pieces, strict=True):
        real = np.where(layer.inside[node], layer.member[piece[row], node], real)
    return Walks(first, real.astype(np.int32))


# --- batches in shares -------------------------------------------------------------------------


def _shared(forest: MulticastForest, planes: Planes, layers: Sequence[_Layer]) -> MulticastForest:
    """Return the forest with every batch divided over all pieces by their shares."""
    total = math.prod(sum(layer.weight) for layer in layers)
    if forest.num_trees * total >= 2**62:
        raise CapacityOverflowError(
            f"{forest.topology.name}: {forest.num_trees * total:.3g} trees over the planes are "
            f"beyond exact 64-bit arithmetic"
        )
    copies, piece = [], []
    for pieces, weight in _combinations(layers):
        copies.append(replace(forest, multiplicity=forest.multiplicity * weight))
        piece.append([np.full(forest.num_batches, one, dtype=np.int64) for one in pieces])
    entries = [len(one.walk) for one in copies]
    starts = np.cumsum([0, *entries])
    together = replace(
        forest,
        k=forest.k * total,
        root=np.concatenate([one.root for one in copies]),
        multiplicity=np.concatenate([one.multiplicity for one in copies]),
        first_walk=np.concatenate(
            [[0], *(one.first_walk[1:] + at for one, at in zip(copies, starts, strict=False))]
        ).astype(np.int64),
        walk=np.concatenate([one.walk for one in copies]),
        optimum=None,
    )
    chosen = [np.concatenate([row[layer] for row in piece]) for layer in range(len(layers))]
    return _laid(together, planes, layers, chosen)


def _combinations(layers: Sequence[_Layer]) -> Iterator[tuple[tuple[int, ...], int]]:
    for pieces in product(*(range(len(layer.weight)) for layer in layers)):
        weights = (layer.weight[piece] for layer, piece in zip(layers, pieces, strict=True))
        yield pieces, math.prod(weights)
