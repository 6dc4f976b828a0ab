"""NCCL's trees: a chain in each box, a binary tree or a pair of them between the boxes.

Problem: an allreduce in few steps: sums go up a tree to its root and come down again.
Input:   a topology; the number of rails R; one tree a rail or two.
Output:  an allreduce of 2 R trees (R if single) with equal shares of the data.
Cost:    linear in the trees' edges, and the Hamiltonian paths of a box with direct links; equal
         boxes are searched once.
Source:  NCCL 2.4 and later: Sanders, Speck and Traff, "Two-tree algorithms for full bandwidth
         broadcast, reduction and scan" (2009), as NVIDIA's "Massively Scale Your Deep Learning
         Training with NCCL 2.4" and the comments of its trees.cc describe it. Reimplemented from
         descriptions and from the trees that NCCL prints; no code of it.

The trees between boxes are those of ``binary_trees``. Within a box, rail r begins at GPU r, which
uses its NIC. It continues as a chain through GPUs r + 1, r + 2 and so on or, where direct links
make chains, through the chain over the least loaded links. The first GPU of a chain sends to the
box above. Data from below arrives at the first GPU (second child) and the second GPU (first child)
in "balanced", both at the second in "split", or both at the first in "tree". The default is
"balanced", unless the NIC of some second GPU would have more load than the others: then "tree".

GPUs outside boxes are boxes of one; ``generate_flat`` treats every GPU so.

Left out: NCCL's choice of the number of channels, NVLink SHARP (see ``nccl_nvls``), and that both
GPUs of a pattern use one NIC. Rails with dead NICs, and rates: docs/baselines/nccl.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache, partial
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from baselines.building.binary_trees import BoxTree, binary_tree, double_binary_tree
from baselines.building.composing import collect
from baselines.building.equal_trees import forest_of_rows
from baselines.interface.method import Method
from baselines.interface.parameters import check_choice
from baselines.interface.supported import check_supported
from baselines.networks.boxes import gpus_by_box
from baselines.networks.hamiltonian import find_paths
from baselines.networks.nic_attachment import find_nic_attachments
from baselines.networks.ports import Ports, has_direct_links
from baselines.networks.rails import Starts, rails_of
from baselines.networks.switch_paths import check_size, router_of
from forestcoll.errors import InvalidParameterError, UnsupportedError
from forestcoll.schedule.allreduce import Allreduce
from forestcoll.schedule.cost_model.measures import cost
from forestcoll.schedule.forest import Forest
from forestcoll.topology.model import Topology

__all__ = ["METHODS", "PATTERNS", "generate", "generate_flat"]

PATTERNS = {"balanced": (1, 0), "split": (1, 1), "tree": (0, 0)}
"""Where in a box's chain its first and second child come in."""

Chain = tuple[int, ...]
"""The GPUs of a box by position, each above the next."""


def generate(
    topology: Topology,
    collective: str = "allreduce",
    *,
    double: bool = True,
    rails: int | None = None,
    pattern: str | None = None,
) -> Forest | Allreduce[Forest]:
    """Build the trees of all rails.

    Parameters
    ----------
    collective : str
        "allreduce".
    double : bool
        Two trees a rail, or the first alone.
    rails : int, optional
        R, one per GPU of the largest box if not given.
    pattern : str, optional
        One of ``PATTERNS``; if not given, "balanced" or "tree", as said above.

    Raises
    ------
    InvalidParameterError
        If there is no such pattern, or R is not positive.
    UnsupportedError
        If neither links nor switches lead from some GPU to the next, or no GPU of some box both
        reaches other boxes and is reached by them.
    """
    check_supported("nccl-tree", collective, ("allreduce",))
    if pattern is not None:
        check_choice("pattern", pattern, PATTERNS)
    if rails is not None and rails < 1:
        raise InvalidParameterError(f"rails is {rails}; it takes at least one")
    check_size(topology)
    boxes = _boxes(topology)
    made: list[Forest | Allreduce[Forest]] = []
    refused: list[UnsupportedError] = []
    for starts in rails_of(boxes, find_nic_attachments(router_of(topology), boxes), rails):
        trees = partial(
            _on_rails, method="nccl-tree", starts=starts, double=double, pattern=pattern
        )
        try:
            made.append(collect(trees, topology, collective))
        except UnsupportedError as error:
            refused.append(error)
    if not made:
        raise refused[0]
    return made[0] if len(made) == 1 else min(made, key=lambda way: cost(way).time_s_per_gb)


def generate_flat(topology: Topology, collective: str = "allreduce") -> Forest | Allreduce[Forest]:
    """Build the double binary tree over all GPUs in the order of their boxes and numbers.

    Parameters
    ----------
    collective : str
        "allreduce".

    Raises
    ------
    UnsupportedError
        If neither a link nor switches join two GPUs that are neighbours in a tree.
    """
    check_supported("double-binary-tree", collective, ("allreduce",))
    return collect(_flat, topology, collective)


def _boxes(topology: Topology) -> list[list[int]]:
    boxes = gpus_by_box(topology)
    if all(topology.nodes[gpu].box is None for gpu in topology.compute):
        return [[gpu] for box in boxes for gpu in box]
    return boxes


def _flat(topology: Topology) -> Forest:
    """Return the out-trees over all GPUs."""
    check_size(topology)
    gpus = [[gpu] for box in gpus_by_box(topology) for gpu in box]
    return _over(topology, gpus, ((0,) * len(gpus),), "double-binary-tree", True, None)


def _on_rails(
    topology: Topology, *, method: str, starts: Starts, double: bool, pattern: str | None
) -> Forest:
    """Return the out-trees of all rails."""
    return _over(topology, _boxes(topology), starts, method, double, pattern)


def _over(
    topology: Topology,
    boxes: Sequence[Sequence[int]],
    starts: Starts,
    method: str,
    double: bool,
    pattern: str | None,
) -> Forest:
    ports = Ports(topology)
    free = [_is_free(ports, box) for box in boxes]
    chains = [
        [
            (*box[start:], *box[:start]) if is_free else _chain(ports, box, start)
            for box, start, is_free in zip(boxes, rail, free, strict=True)
        ]
        for rail in starts
    ]
    between = double_binary_tree(len(boxes)) if double else (binary_tree(len(boxes)),)
    if pattern is None:
        near = all(_as_near(ports, chains_of, tree) for chains_of in chains for tree in between)
        pattern = "balanced" if near and _seconds_are_apart(chains) else "tree"
    rows = _parents(topology, chains, between, PATTERNS[pattern])
    return forest_of_rows(ports.router, method, rows, [1] * len(rows))


def _is_free(ports: Ports, gpus: Sequence[int]) -> bool:
    """Whether switches alone join the GPUs, so that a chain may start at any of them."""
    around = zip(gpus, (*gpus[1:], gpus[0]), strict=True)
    return not any(ports.direct(gpus)) and all(ports.router.next_hops(*hop) for hop in around)


def _chain(ports: Ports, gpus: Sequence[int], start: int) -> Chain:
    """The GPUs of a box from the one at a place on."""
    around = (*range(start, len(gpus)), *range(start))
    found = find_paths(ports.direct(gpus), start) or (around,)

    @cache
    def penalty(hop: tuple[int, int]) -> int:
        return ports.penalty(ports.port(gpus[hop[0]], gpus[hop[1]]))

    lightest = found[0]
    if len(found) > 1:
        lightest = min(found, key=lambda path: sum(map(penalty, pairwise(path))))
    best = tuple(gpus[place] for place in lightest)
    for hop in pairwise(best):
        ports.add(ports.port(*hop), 1)
    return best


def _as_near(ports: Ports, chains: Sequence[Chain], tree: BoxTree) -> bool:
    """Whether the second GPU of each chain is as near to the boxes below as the first."""
    hops = ports.router.hops
    for box, above in enumerate(tree.above):
        if above >= 0:
            child, (first, second) = chains[box][0], (chains[above] * 2)[:2]
            one, other = hops(first, child), hops(second, child)
            if other is None or (one is not None and one < other):
                return False
    return True


def _seconds_are_apart(chains: Sequence[Sequence[Chain]]) -> bool:
    """Whether in every box no GPU is second on more rails than one is first."""
    for of_box in zip(*chains, strict=True):
        first, second = (Counter((chain * 2)[place] for chain in of_box) for place in (0, 1))
        if max(second.values()) > max(first.values()):
            return False
    return True


def _parents(
    topology: Topology,
    chains: Sequence[Sequence[Chain]],
    trees: Sequence[BoxTree],
    places: tuple[int, int],
) -> npt.NDArray[np.int32]:
    """Return the parent of each rank, a row for each rail and tree."""
    rank = np.argsort(topology.ends).astype(np.int32)
    size = np.array([len(chain) for chain in chains[0]])
    start = np.cumsum(size) - size
    order = rank[[[gpu for chain in rail for gpu in chain] for rail in chains]]
    rows = np.empty((len(chains), len(trees), topology.num_compute), dtype=np.int32)
    rail = np.arange(len(chains))[:, None]
    for number, tree in enumerate(trees):
        above, place = np.array(tree.above), np.where(tree.first, *places)
        rows[rail, number, order] = np.roll(order, 1, axis=1)
        entry = order[:, start[above] + np.minimum(place, size[above] - 1)]
        rows[rail, number, order[:, start]] = np.where(above < 0, np.int32(-1), entry)
    return rows.reshape(-1, topology.num_compute)


METHODS = (
    Method(
        name="nccl-tree",
        summary="a chain in each box, a double binary tree between them, per NIC",
        source="NCCL tree, after Sanders, Speck and Traff (2009)",
        generate=generate,
        collectives=("allreduce",),
        notes="direct links (xGMI): chains are searched for",
        noted=has_direct_links,
        libraries=("networkx",),
    ),
    Method(
        name="double-binary-tree",
        summary="two binary trees over all GPUs, leaves of the one inner in the other",
        source="Sanders, Speck and Traff (2009), as in NCCL and BFB (NSDI 2025)",
        generate=generate_flat,
        collectives=("allreduce",),
        notes="boxes are ignored",
    ),
)
