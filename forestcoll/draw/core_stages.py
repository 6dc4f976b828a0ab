"""Drawings of the stages of the core on a small network, as in figures 5 to 8 of the paper.

Problem: what does each stage make of a network: trees that links carry, splits, logical links,
         trees, paths?
Input:   a network and the name of a stage.
Output:  a figure.
Cost:    of ``auxiliary``, two max-flows for each GPU.
Source:  ForestColl sections 5.2 to 5.4, figures 5 to 8 and 15 to 17. The stages are those of
         :mod:`forestcoll.core.paper`, which split one pair of links at a time.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import networkx as nx
import numpy as np
from matplotlib.figure import Figure

from forestcoll.core import paper
from forestcoll.core.edge_splitting import LogicalTopology
from forestcoll.core.optimality import optimum
from forestcoll.core.path_recovery import find_routes
from forestcoll.core.problem import Problem
from forestcoll.draw.canvas import CROSSING, Line
from forestcoll.draw.layouts.places import Pair
from forestcoll.draw.topology import Marks, draw_marked
from forestcoll.errors import InvalidParameterError, UnsupportedError
from forestcoll.problem.optimum import Optimum
from forestcoll.schedule.forest import Path
from forestcoll.topology.describe import counted
from forestcoll.topology.model import Link, Node, NodeKind, Topology
from forestcoll.topology.spec import Network, as_topology

__all__ = ["STAGES", "draw_stage"]

_MOST_NODES = 80
_NEW = "#0072b2"
_INFINITE = "#009e73"
_DASHED = (0.0, (4.0, 2.0))
_TREE = Line(colour=CROSSING, width=2.2, head=True, above=True)
_SPLIT = Line(colour=CROSSING, width=2.6, head=True, above=True)
_LOGICAL = Line(colour=_NEW, width=2.2, dash=_DASHED, head=True, above=True)
_ENDLESS = Line(colour=_INFINITE, width=1.8, dash=_DASHED, head=True, above=True)
_ROOTED = Line(colour="#9e9e9e", width=0.8, head=True)


def draw_stage(topology: Network, stage: str, number: int = 0) -> Figure:
    """Draw a stage of an allgather on a small network.

    Parameters
    ----------
    topology : Topology, or its specification, path or networkx graph
    stage : str
        "scaled" (the trees that each link may carry), "split" (a pair of links and the logical
        link that replaces it), "auxiliary" (the network whose minimum cut limits that split),
        "logical" (the network without switches), "tree" (a tree over the network) or "paths" (the
        physical paths of a logical link).
    number : int
        Of the split, the tree, or the logical link, from 0.

    Raises
    ------
    InvalidParameterError
        For an unknown stage, or a number beyond the last.
    UnsupportedError
        If the network has more than 80 nodes.
    ForestCollError
        If the network has no forest.
    """
    topology = as_topology(topology)
    if stage not in STAGES:
        known = ", ".join(STAGES)
        raise InvalidParameterError(f"there is no stage {stage!r}; the stages are {known}")
    if len(topology.nodes) > _MOST_NODES:
        raise UnsupportedError(
            f"{topology.name} has {len(topology.nodes)} nodes; stages are drawn on networks of at "
            f"most {_MOST_NODES}"
        )
    return STAGES[stage](_Stages(topology), number)


@dataclass(frozen=True)
class _Stages:
    """The stages of the paper on a network, each made when it is first asked for."""

    topology: Topology

    @cached_property
    def best(self) -> Optimum:
        return optimum(self.topology)

    @cached_property
    def problem(self) -> Problem:
        trees = np.full(self.topology.num_compute, self.best.k, dtype=np.int64)
        return Problem.of(self.best, trees)

    @cached_property
    def logical(self) -> LogicalTopology:
        return paper.remove_switches(self.problem)

    @cached_property
    def batches(self) -> paper.Batches:
        return paper.pack_trees(self.logical, self.problem.trees)

    @cached_property
    def paths(self) -> Mapping[tuple[int, int], tuple[Path, ...]]:
        """The physical paths of each logical link, by the ranks of its ends."""
        return find_routes(self.problem, self.logical, self.batches.links).paths()

    @cached_property
    def splits(self) -> list[_Step]:
        """The splits in order, each with what the links may carry before it."""
        table = self.logical.splits
        columns = (table.from_node, table.via, table.to_node, table.amount)
        rows = list(zip(*(one.tolist() for one in columns), strict=True))
        left, steps = dict(self.carried), []
        for via in dict.fromkeys(row[1] for row in rows):
            for far in sorted(head for tail, head in left if tail == via):
                for split in self._towards(far, via, left[via, far], rows):
                    if split.near != split.far:
                        steps.append(_Step(split, dict(left)))
                    split.apply(left)
        return steps

    @staticmethod
    def _towards(
        far: int, via: int, capacity: int, rows: Sequence[tuple[int, int, int, int]]
    ) -> list[_Split]:
        """Return the splits of an egress link; the table omits the one from a node to itself."""
        found = [_Split(*row) for row in rows if row[1:3] == (via, far)]
        own = capacity - sum(split.amount for split in found)
        if own:
            found.append(_Split(far, via, far, own))
        return sorted(found, key=lambda split: split.near)

    @cached_property
    def carried(self) -> dict[Pair, int]:
        """The trees that each link may carry before any split."""
        links, trees = self.topology.links, self.problem.capacity.tolist()
        carried = zip(links, trees, strict=True)
        return {(link.tail, link.head): some for link, some in carried if some}

    def step(self, number: int) -> _Step:
        return self.splits[self.chosen(number, len(self.splits), "split")]

    def name(self, v: int) -> str:
        return self.topology.nodes[v].name

    def chosen(self, number: int, of: int, what: str) -> int:
        """Check a number."""
        if not 0 <= number < of:
            known = f"they are 0 to {of - 1}" if of else "there are none"
            raise InvalidParameterError(f"{self.topology.name} has no {what} {number}; {known}")
        return number


@dataclass(frozen=True, slots=True)
class _Split:
    """Trees over near -> via -> far that use a logical link from now on."""

    near: int
    via: int
    far: int
    amount: int

    @property
    def links(self) -> tuple[Pair, Pair]:
        return (self.near, self.via), (self.via, self.far)

    def apply(self, left: dict[Pair, int]) -> None:
        """Move its trees; a logical link from a node to itself is dropped."""
        for pair in self.links:
            left[pair] -= self.amount
            if not left[pair]:
                del left[pair]
        if self.near != self.far:
            left[self.near, self.far] = left.get((self.near, self.far), 0) + self.amount


@dataclass(frozen=True, slots=True)
class _Step:
    """A split, and the trees that each link may carry before it."""

    split: _Split
    before: Mapping[Pair, int]


# --- what the links may carry -------------------------------------------------------------------


def _scaled(stages: _Stages, _: int) -> Figure:
    best = stages.best
    return draw_marked(
        _carrying(stages.topology, stages.carried),
        Marks(
            title=f"{stages.topology.name}, scaled: what each link may carry",
            caption=f"{counted(best.k, 'tree')} of each GPU; a link carries "
            f"{best.congestion} for each GB/s",
            unit="trees",
        ),
    )


def _logical(stages: _Stages, _: int) -> Figure:
    gpus = stages.topology.compute
    logical = stages.logical
    links = tuple(
        Link(tail, head, Fraction(trees))
        for tail, head, trees in zip(
            logical.tail.tolist(), logical.head.tolist(), logical.capacity.tolist(), strict=True
        )
    )
    nodes = tuple(stages.topology.nodes[v] for v in gpus)
    network = Topology(stages.topology.name, nodes, links)
    boxes = Topology(stages.topology.name, nodes, ())
    title = f"{stages.topology.name} without switches: logical links"
    boxed = boxes if any(node.box is not None for node in nodes) else None
    return draw_marked(network, Marks(title=title, unit="trees", placed_as=boxed))


def _carrying(topology: Topology, trees: Mapping[Pair, int]) -> Topology:
    """Return a network whose bandwidths are numbers of trees."""
    links = tuple(Link(tail, head, Fraction(some)) for (tail, head), some in trees.items())
    return Topology(topology.name, topology.nodes, links)


# --- a split and its limit ----------------------------------------------------------------------


def _split(stages: _Stages, number: int) -> Figure:
    step = stages.step(number)
    split, (first, second) = step.split, step.split.links
    near, via, far = (stages.name(v) for v in (split.near, split.via, split.far))
    title = f"{stages.topology.name}, split {number} of {len(stages.splits)}: trees on each link"
    marks = Marks(
        title=title,
        lines={first: _SPLIT, second: _SPLIT, (split.near, split.far): _LOGICAL},
        legend=[
            (_SPLIT, f"{near} -> {via} and {via} -> {far}: {split.amount} less"),
            (_LOGICAL, f"{near} -> {far}: {split.amount} more"),
        ],
        unit="trees",
        placed_as=stages.topology,
    )
    return draw_marked(_carrying(stages.topology, step.before), marks)


def _auxiliary(stages: _Stages, number: int) -> Figure:
    step = stages.step(number)
    split, (first, second) = step.split, step.split.links
    limit = _tightest(stages, step)
    nodes = (*stages.topology.nodes, Node("s", NodeKind.SWITCH))
    source, gpus, k = len(stages.topology.nodes), stages.topology.compute, stages.best.k
    rooted = tuple(Link(source, v, Fraction(k)) for v in gpus)
    links = (*_carrying(stages.topology, step.before).links, *rooted)
    near, via, far = (stages.name(v) for v in (split.near, split.via, split.far))
    marks = Marks(
        title=f"{stages.topology.name}, auxiliary network of split {number}",
        caption=(
            f"{near} -> {via} carries {step.before[first]}, {via} -> {far} {step.before[second]}; "
            f"the cut to {stages.name(limit.towards)} has {limit.flow} for {len(gpus) * k} trees, "
            f"so it spares {limit.spare}\nthe least of these is split off: {split.amount}"
        ),
        lines={
            **{(source, v): _ROOTED for v in gpus},
            **dict.fromkeys(limit.endless, _ENDLESS),
            first: _SPLIT,
            second: _SPLIT,
        },
        legend=[
            (_SPLIT, "links to be split"),
            (_ENDLESS, "links of any capacity"),
            (_ROOTED, f"{counted(k, 'tree')} rooted at each GPU"),
        ],
        shaded=limit.side,
        unit="trees",
        placed_as=Topology(stages.topology.name, nodes, (*stages.topology.links, *rooted)),
    )
    return draw_marked(Topology(stages.topology.name, nodes, links), marks)


@dataclass(frozen=True, slots=True)
class _Limit:
    """The cut that leaves the least for a split, among those that both links cross."""

    towards: int
    flow: int
    spare: int
    side: frozenset[int]
    endless: tuple[Pair, ...]


def _tightest(stages: _Stages, step: _Step) -> _Limit:
    """Return the tightest cut of the auxiliary networks of a split (Theorem 6)."""
    split, gpus, source = step.split, stages.topology.compute, len(stages.topology.nodes)
    base = {**step.before, **{(source, v): stages.best.k for v in gpus}}
    due = len(gpus) * stages.best.k
    found = []
    for v in gpus:
        first = ((split.near, source), (split.near, split.far), (v, split.via))
        second = ((split.via, source), (split.near, split.far), (v, split.far))
        for start, end, endless in ((split.near, split.via, first), (split.via, split.far, second)):
            kept = tuple(pair for pair in endless if pair[0] != pair[1])
            joined = nx.DiGraph([*kept, (start, start), (end, end)])
            if nx.has_path(joined, start, end):  # no cut of a size has the link across it
                continue
            flow, side = _least_cut(base, kept, start, end)
            found.append(_Limit(v, flow, flow - due, side, kept))
    return min(found, key=lambda one: one.flow)


def _least_cut(
    carried: Mapping[Pair, int], endless: tuple[Pair, ...], start: int, end: int
) -> tuple[int, frozenset[int]]:
    graph: nx.DiGraph[int] = nx.DiGraph()
    for (tail, head), trees in carried.items():
        graph.add_edge(tail, head, capacity=trees)
    for tail, head in endless:  # networkx reads a missing capacity as unlimited
        graph.add_edge(tail, head)
        graph[tail][head].pop("capacity", None)
    flow, (side, _) = nx.minimum_cut(graph, start, end)
    return int(flow), frozenset(side)


# --- trees and paths ----------------------------------------------------------------------------


def _tree(stages: _Stages, number: int) -> Figure:
    batches, gpus = stages.batches, stages.topology.compute
    at = stages.chosen(number, len(batches.root), "tree")
    parents = batches.parent[at].tolist()
    lines: dict[Pair, Line] = {}
    for rank, parent in enumerate(parents):
        if parent >= 0:
            hops = stages.paths[parent, rank][0].nodes
            lines |= dict.fromkeys(itertools.pairwise(hops), _TREE)
    root = gpus[int(batches.root[at])]
    trees = counted(int(batches.multiplicity[at]), "tree")
    marks = Marks(
        title=f"{stages.topology.name}, tree {number} of {len(batches.root)} over the network",
        caption=f"root {stages.name(root)}; {trees}",
        lines=lines,
        legend=[(_TREE, counted(len(lines), "link") + " of the tree")],
        shaded=frozenset({root}),
    )
    return draw_marked(stages.topology, marks)


def _paths(stages: _Stages, number: int) -> Figure:
    links, gpus = stages.batches.links, stages.topology.compute
    at = stages.chosen(number, len(links.tail), "logical link")
    tail, head = int(links.tail[at]), int(links.head[at])
    near, far = gpus[tail], gpus[head]
    paths = stages.paths[tail, head]
    lines = {pair: _TREE for path in paths for pair in itertools.pairwise(path.nodes)}
    lines[near, far] = _LOGICAL
    words = [
        f"{counted(path.multiplicity, 'tree')}: {' -> '.join(map(stages.name, path.nodes))}"
        for path in paths
    ]
    marks = Marks(
        title=f"{stages.topology.name}, paths of logical link {number} of {len(links.tail)}",
        caption="\n".join(words),
        lines=lines,
        legend=[
            (_LOGICAL, f"logical link {stages.name(near)} -> {stages.name(far)}"),
            (_TREE, "its physical paths"),
        ],
        shaded=frozenset({near, far}),
    )
    return draw_marked(stages.topology, marks)


STAGES: Mapping[str, Callable[[_Stages, int], Figure]] = {
    "scaled": _scaled,
    "split": _split,
    "auxiliary": _auxiliary,
    "logical": _logical,
    "tree": _tree,
    "paths": _paths,
}
"""How each stage is drawn, in the order of the stages."""
