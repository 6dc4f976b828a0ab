"""Distribution of physical paths of merged planes over the real planes.

Problem: paths run through a merged switch that represents several; distribute them so that no link
         of a plane carries more trees than it may.
Input:   paths on the merged network, whose planes carry whole parts of the trees on every link.
Output:  paths on the real network.
Cost:    linear in the resulting paths; for trees that do not divide evenly, a max-flow for each
         plane beyond the first.
Source:  ours. A merged switch is a bipartite multigraph: a tree that comes from u and goes on to w
         is an edge (u, w). Planes of whole weights w_i without a common divisor, of sum W, split
         its edges into parts such that plane i has w_i / W of every degree, where this is a
         multiple of W: the same part of every edge is a fractional split, and such flows are whole.

Let u and w have a edges. First, floor(a / W) w_i of them go to plane i. Edges to an extra node then
make all remaining degrees multiples of W; they stay within the capacities, which are such
multiples. Then the planes are halved again and again. Each half takes its exact part of every
degree; of the edges between two nodes it takes its part rounded up or down. This is a max-flow.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from forestcoll.schedule.forest import Routes
from forestcoll.topology.symmetry.parallel_planes import Planes

__all__ = ["paths_over_planes", "split_edges"]

_Ints = npt.NDArray[np.int64]


def paths_over_planes(routes: Routes, planes: Planes) -> Routes:
    """Distribute the paths of a merged network over the planes.

    Parameters
    ----------
    routes : Routes
        Routes on ``planes.merged``. No link has more trees than a number of which each plane
        carries its share in whole trees (:func:`.symmetry.parallel_planes.merged_capacities`).

    Returns
    -------
    Routes
        Routes on ``planes.topology``: each link has as many trees, over as many paths or more.
    """
    if planes.is_trivial:
        return routes
    size = len(planes.topology.nodes)
    # Real positions; beyond them, merged switches that are not yet distributed.
    label = [
        members[0] if len(members) == 1 else size + v for v, members in enumerate(planes.members)
    ]
    paths = _Paths(
        np.repeat(np.arange(len(routes.tail)), np.diff(routes.first_path)),
        routes.multiplicity.astype(np.int64),
        routes.first_hop.astype(np.int64),
        np.array(label, dtype=np.int32)[routes.hop],
    )
    for switches in planes.layers(lambda switch: _weights(planes, switch)):
        paths = _laid(paths, planes, switches, size)
    counts = np.bincount(paths.link, minlength=len(routes.tail))
    return Routes(
        tail=routes.tail,
        head=routes.head,
        first_path=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        multiplicity=paths.trees,
        first_hop=paths.first,
        hop=paths.hop,
    )


@dataclass(frozen=True, slots=True)
class _Paths:
    """Paths in compressed rows: their logical links, their trees, their hops."""

    link: _Ints
    trees: _Ints
    first: _Ints
    hop: npt.NDArray[np.int32]


def _weights(planes: Planes, switch: int) -> tuple[int, ...]:
    """Return the planes' shares as whole numbers without a common divisor."""
    shares = [planes.share[plane] for plane in planes.members[switch]]
    under = math.lcm(*(share.denominator for share in shares))
    return tuple(int(share * under) for share in shares)


def _laid(paths: _Paths, planes: Planes, switches: Sequence[int], size: int) -> _Paths:
    """Distribute all passages through some merged switches over their planes; cut paths."""
    most = size + len(planes.members)
    is_merged = np.zeros(most, dtype=np.bool_)
    is_merged[np.array(switches) + size] = True
    is_passage = is_merged[paths.hop]
    at = np.flatnonzero(is_passage)
    if not len(at):
        return paths
    weights = _weights(planes, switches[0])
    row = np.repeat(np.arange(len(paths.trees)), np.diff(paths.first))[at]
    ends = np.stack([paths.hop[at - 1], paths.hop[at], paths.hop[at + 1]]).astype(np.int64)
    key = (ends[1] * most + ends[0]) * most + ends[2]
    order = np.argsort(key, kind="stable")
    start = np.zeros(len(at), dtype=np.int64)  # start of each passage, on a line of all of them
    start[order] = np.concatenate([[0], np.cumsum(paths.trees[row[order]])])[:-1]
    edge, first = np.unique(key[order], return_index=True)
    amount = np.add.reduceat(paths.trees[row[order]], first)
    near, far = edge // most, edge // most**2 * most + edge % most
    planes_of = split_edges(near, far, amount, weights)
    upto = np.cumsum(planes_of.ravel())  # where each plane's part of each edge ends on the line
    path, offset = _cuts(paths, row, start, upto)
    hop_of = _entries(paths.first, path)
    first_hop = np.concatenate([[0], np.cumsum(np.diff(paths.first)[path])]).astype(np.int64)
    place = np.zeros(len(paths.hop), dtype=np.int64)
    place[at] = start
    # All passages lie on one line of trees; the place of a tree gives its plane.
    passing = np.flatnonzero(is_passage[hop_of])
    passages = np.bincount(row, minlength=len(paths.trees))
    tree = place[hop_of[passing]] + np.repeat(offset, passages[path])
    plane = np.searchsorted(upto, tree, side="right") % len(weights)
    members = np.zeros((len(planes.members), len(weights)), dtype=np.int32)
    members[list(switches)] = [planes.members[v] for v in switches]
    hop = paths.hop[hop_of]
    hop[passing] = members[hop[passing] - size, plane]
    end = np.append(offset[1:], 0)
    last = np.diff(path, append=-1) != 0
    end[last] = paths.trees[path[last]]
    return _Paths(paths.link[path], end - offset, first_hop, hop)


def _cuts(paths: _Paths, row: _Ints, start: _Ints, upto: _Ints) -> tuple[_Ints, _Ints]:
    """Return the parts of all paths, in order: the path and the first tree of each part."""
    near = np.searchsorted(upto, start, side="right")
    far = np.searchsorted(upto, start + paths.trees[row], side="left")
    count = far - near
    passage = np.repeat(np.arange(len(row)), count)
    first = np.concatenate([[0], np.cumsum(count)])[:-1]
    boundary = np.arange(len(passage)) - first[passage] + near[passage]
    path = np.concatenate([np.arange(len(paths.trees)), row[passage]])
    offset = np.concatenate(
        [np.zeros(len(paths.trees), dtype=np.int64), upto[boundary] - start[passage]]
    )
    order = np.lexsort((offset, path))
    path, offset = path[order], offset[order]
    new = np.ones(len(path), dtype=bool)
    new[1:] = (np.diff(path) != 0) | (np.diff(offset) != 0)
    return path[new], offset[new]


def _entries(first: _Ints, rows: _Ints) -> _Ints:
    length = np.diff(first)[rows]
    upto = np.cumsum(length)
    start: _Ints = np.repeat(first[rows] - upto + length, length)
    return start + np.arange(int(upto[-1]))


# --- edges of a bipartite multigraph -------------------------------------------------------------


def split_edges(near: _Ints, far: _Ints, amount: _Ints, weights: Sequence[int]) -> _Ints:
    """Split bundles of parallel edges into parts that each take their share of every degree.

    Parameters
    ----------
    near, far : int64 array, one entry a bundle
        The ends of each bundle, any numbers on either side; no two bundles have both in common.
    amount : int64 array
        Edges of each bundle.
    weights : sequence of int
        Weights of the parts, without a common divisor; W their sum.

    Returns
    -------
    int64 array, a row for each bundle and a column for each part
        A node of degree d has at most ceil(d / W) w_i edges in part i.

    Examples
    --------
    A cycle of four edges in two halves is two matchings.

    >>> ends = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    >>> parts = split_edges(*ends, np.ones(4, dtype=np.int64), (1, 1))
    >>> sorted(parts[:, 0].tolist()), int(parts[0, 0]) == int(parts[3, 0])
    ([0, 0, 1, 1], True)
    """
    total = sum(weights)
    found: _Ints = (amount // total)[:, None] * np.array(weights, dtype=np.int64)
    left = np.flatnonzero(amount % total)
    if len(left):
        at, to = (np.unique(side[left], return_inverse=True)[1].ravel() for side in (near, far))
        found[left] += _split_rest(at, to, amount[left] % total, weights)
    return found


def _split_rest(near: _Ints, far: _Ints, amount: _Ints, weights: Sequence[int]) -> _Ints:
    """Make all degrees multiples of W by edges to an extra node on either side, and halve."""
    total, rows, columns = sum(weights), int(near.max()) + 1, int(far.max()) + 1
    lacks = [
        -np.bincount(side, amount, minlength=size).astype(np.int64) % total
        for side, size in ((near, rows), (far, columns))
    ]
    ends = (
        np.concatenate([near, np.arange(rows), np.full(columns, rows), [rows]]),
        np.concatenate([far, np.full(rows, columns), np.arange(columns), [columns]]),
    )
    whole = np.concatenate([amount, *lacks, [int(amount.sum()) % total]])
    parts = np.zeros((len(whole), len(weights)), dtype=np.int64)
    _halve(*ends, whole, weights, parts)
    return parts[: len(amount)]


def _halve(near: _Ints, far: _Ints, amount: _Ints, weights: Sequence[int], parts: _Ints) -> None:
    """Fill the columns of ``parts``, given degrees that are multiples of the sum of the weights."""
    if len(weights) == 1:
        parts[:, 0] = amount
        return
    middle = len(weights) // 2
    first = _part(near, far, amount, sum(weights[:middle]), sum(weights))
    _halve(near, far, first, weights[:middle], parts[:, :middle])
    _halve(near, far, amount - first, weights[middle:], parts[:, middle:])


def _part(near: _Ints, far: _Ints, amount: _Ints, over: int, under: int) -> _Ints:
    """Return exactly over / under of every degree; for every bundle, rounded up or down."""
    import scipy.sparse as sp
    from scipy.sparse.csgraph import maximum_flow

    found, odd = np.divmod(amount * over, under)
    extra = np.flatnonzero(odd)
    if not len(extra):
        return found
    rows, columns = int(near.max()) + 1, int(far.max()) + 1
    wanted = [
        np.bincount(side, amount, minlength=size).astype(np.int64) * over // under
        - np.bincount(side, found, minlength=size).astype(np.int64)
        for side, size in ((near, rows), (far, columns))
    ]
    source, sink = rows + columns, rows + columns + 1
    tail = np.concatenate([np.full(rows, source), near[extra], np.arange(columns) + rows])
    head = np.concatenate([np.arange(rows), far[extra] + rows, np.full(columns, sink)])
    capacity = np.concatenate([wanted[0], np.ones(len(extra), dtype=np.int64), wanted[1]])
    used = capacity > 0
    shape = (sink + 1, sink + 1)
    graph = sp.csr_array((capacity[used].astype(np.int32), (tail[used], head[used])), shape=shape)
    flow = maximum_flow(graph, source, sink)
    # The fractional flow over / under saturates the source; by integrality a whole flow does too.
    assert flow.flow_value == int(wanted[0].sum())
    through = flow.flow.tocsr()[near[extra], far[extra] + rows]
    found[extra] += np.asarray(through).ravel()
    return found
