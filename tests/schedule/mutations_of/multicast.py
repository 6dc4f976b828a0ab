"""Ways to spoil a forest in which switches multicast, each with what the message must name.

They apply to the one box of :func:`box`, whose trees are alike: each root sends to the switch, and
the switch to the other three GPUs. In a reduction all of this runs the other way.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np

from forestcoll.generation import generate
from forestcoll.in_network.pruning import multicast
from forestcoll.schedule import MulticastForest, Walks
from tests.hand_networks import network_of

Rows = list[list[tuple[int, ...]]]
Walk = Callable[..., tuple[int, ...]]


def box(reduction: bool = False) -> MulticastForest:
    """GPUs a to d on a switch w that can copy and on one, x, that cannot; 9 and 1 GB/s."""
    topology = network_of("a b c d [w*] [x]", "a b c d - w: 9, a b c d - x", "box")
    forest = generate(topology, collective="reduce-scatter" if reduction else "allgather").schedule
    return multicast(forest)


def star(reduction: bool = False) -> MulticastForest:
    """The box with the trees a -> w -> b, c, d and so on, and nothing claimed but U = 1/3."""
    forest = box(reduction)
    gpus, w = range(4), 4
    rows: Rows = [[(r, w), *((w, v) for v in gpus if v != r)] for r in gpus]
    if reduction:
        rows = [[walk[::-1] for walk in row] for row in rows]
    return with_rows(replace(forest, k=1, congestion=Fraction(1, 3), optimum=None), rows)


def with_rows(forest: MulticastForest, rows: Rows) -> MulticastForest:
    """A forest of a batch for each row of walks; row r is rooted at rank r."""
    walks = sorted({walk for row in rows for walk in row})
    number = {walk: i for i, walk in enumerate(walks)}
    return replace(
        forest,
        root=np.arange(len(rows), dtype=np.int32),
        multiplicity=np.ones(len(rows), dtype=np.int64),
        first_walk=np.cumsum([0, *map(len, rows)], dtype=np.int64),
        walk=np.array([number[walk] for row in rows for walk in row], dtype=np.int32),
        walks=Walks(
            np.cumsum([0, *map(len, walks)], dtype=np.int64),
            np.array([v for walk in walks for v in walk], dtype=np.int32),
        ),
    )


def rows_of(forest: MulticastForest) -> Rows:
    """The walks of each batch, as lists to change."""
    return [list(tree.walks) for tree in forest.trees()]


def _changed(
    change: Callable[[Rows, Walk], None],
) -> Callable[[MulticastForest], MulticastForest]:
    """Turn a change of the rows into a mutation; ``walk`` writes a walk from the root outwards."""

    def spoil(forest: MulticastForest) -> MulticastForest:
        rows = rows_of(forest)
        change(rows, lambda *nodes: nodes[::-1] if forest.reduction else nodes)
        return with_rows(forest, rows)

    spoil.__doc__ = change.__doc__
    spoil.__name__ = change.__name__
    return spoil


A, B, C, D, W, X = range(6)


@_changed
def dropped_delivery(rows: Rows, walk: Walk) -> None:
    """The switch does not deliver to d in the tree of a."""
    rows[0].remove(walk(W, D))


@_changed
def second_delivery(rows: Rows, walk: Walk) -> None:
    """B gets the data of a from the switch, and from a too."""
    rows[0].append(walk(A, X, B))


@_changed
def same_walk_twice(rows: Rows, walk: Walk) -> None:
    """The switch sends to b twice."""
    rows[0].append(walk(W, B))


@_changed
def second_arrival(rows: Rows, walk: Walk) -> None:
    """B sends into the switch what the switch sent to b."""
    rows[0].append(walk(B, W))


@_changed
def missing_arrival(rows: Rows, walk: Walk) -> None:
    """The switch multicasts, but a does not send to it."""
    rows[0].remove(walk(A, W))


@_changed
def cycle(rows: Rows, walk: Walk) -> None:
    """The switch gets the data from b, which gets them from c, which gets them from the switch."""
    rows[0] = [walk(A, X, D), walk(B, W), walk(W, C), walk(C, X, B)]


@_changed
def loopback_alone(rows: Rows, walk: Walk) -> None:
    """The switch gets the data from b, which gets them from the switch alone: as loopback."""
    rows[0][rows[0].index(walk(A, W))] = walk(B, W)


@_changed
def back_to_the_root(rows: Rows, walk: Walk) -> None:
    """B sends them on to the root, past the switch that multicasts."""
    rows[0].append(walk(B, X, A))


@_changed
def useless_arrival(rows: Rows, walk: Walk) -> None:
    """B passes on to c and d through x, so that the switch in the tree of a serves nobody."""
    rows[0] = [walk(A, W), walk(A, X, B), walk(B, X, C), walk(B, X, D)]


@_changed
def copy_at_x(rows: Rows, walk: Walk) -> None:
    """The switch that cannot multicast does so."""
    rows[0] = [walk(A, X), walk(X, B), walk(X, C), walk(X, D)]


@_changed
def through_a_gpu(rows: Rows, walk: Walk) -> None:
    """A walk leads through b to c, and b has its own."""
    rows[0][rows[0].index(walk(W, C))] = walk(W, B, X, C)


@_changed
def no_such_link(rows: Rows, walk: Walk) -> None:
    """A sends to b, to which no link leads."""
    rows[0][rows[0].index(walk(W, B))] = walk(A, B)


@_changed
def swapped_shards(rows: Rows, walk: Walk) -> None:
    """The trees of a and b carry each other's shard."""
    rows[0], rows[1] = rows[1], rows[0]


def unmarked(forest: MulticastForest) -> MulticastForest:
    """The switch cannot multicast after all."""
    nodes = tuple(replace(node, multicast=False) for node in forest.topology.nodes)
    return replace(forest, topology=replace(forest.topology, nodes=nodes))


def overloaded(forest: MulticastForest) -> MulticastForest:
    """Less congestion is claimed than there is."""
    return replace(forest, congestion=forest.congestion / 2)


def short_multiplicity(forest: MulticastForest) -> MulticastForest:
    """Two trees a root are claimed."""
    return replace(forest, k=2)


def no_trees_of_a_root(forest: MulticastForest) -> MulticastForest:
    """D roots no tree."""
    return replace(with_rows(forest, rows_of(forest)[:3]))


def unused_walk(forest: MulticastForest) -> MulticastForest:
    """The last walk belongs to no tree."""
    walks = forest.walks
    return replace(
        forest,
        walks=Walks(
            np.append(walks.first_node, len(walks.node) + 2),
            np.append(walks.node, walks.node[:2]),
        ),
    )


def stray_walk(forest: MulticastForest) -> MulticastForest:
    """A batch names a walk that is not there."""
    return replace(forest, walk=forest.walk + np.int32(1))


def empty_walk(forest: MulticastForest) -> MulticastForest:
    """A walk has a single node."""
    first = forest.walks.first_node.copy()
    first[1] = 1
    return replace(forest, walks=replace(forest.walks, first_node=first))


def no_rows(forest: MulticastForest) -> MulticastForest:
    """Not even the start of the first walk is given."""
    return replace(forest, walks=Walks(np.zeros(0, np.int64), np.zeros(0, np.int32)))


def wrong_rows(forest: MulticastForest) -> MulticastForest:
    """The rows of the batches end before the walks do."""
    first = forest.first_walk.copy()
    first[-1] -= 1
    return replace(forest, first_walk=first)


MUTATIONS: dict[Callable[[MulticastForest], MulticastForest], tuple[str, str]] = {
    dropped_delivery: (
        "tree 0, rooted at a: d never gets the data",
        "tree 0, rooted at a: d never sends its part",
    ),
    second_delivery: (
        "tree 0, rooted at a: b gets the data 2 times",
        "tree 0, rooted at a: b sends its sum 2 times",
    ),
    same_walk_twice: ("b gets the data 2 times", "b sends its sum 2 times"),
    second_arrival: ("w gets the data 2 times", "w sends its sum 2 times"),
    missing_arrival: ("w copies what it never gets", "w adds up but sends nothing"),
    cycle: ("b -> w -> c -> b is a cycle", "b -> c -> w -> b is a cycle"),
    loopback_alone: ("b never gets the data", "b never sends its part"),
    back_to_the_root: (
        "a is the root and gets the data back",
        "a is the root and sends its sum on",
    ),
    useless_arrival: ("w gets data that it passes to none", "w sends a sum of nothing"),
    copy_at_x: ("at x, a switch that is not marked", "at x, a switch that is not marked"),
    through_a_gpu: ("passes through b, which is a GPU", "passes through b, which is a GPU"),
    no_such_link: ("a to b, but box has no such link", "b to a, but box has no such link"),
    swapped_shards: ("a is the root and gets the data back", "a is the root and sends its sum on"),
    unmarked: ("at w, a switch that is not marked", "at w, a switch that is not marked"),
    overloaded: ("is overloaded", "is overloaded"),
    short_multiplicity: ("they must add up to k = 2", "they must add up to k = 2"),
    no_trees_of_a_root: ("d is the root of no tree", "d is the root of no tree"),
    unused_walk: ("belongs to no tree", "belongs to no tree"),
    stray_walk: ("array walk holds 8", "array walk holds 8"),
    empty_walk: ("array walks.first_node gives row 0", "array walks.first_node gives row 0"),
    no_rows: ("array walk holds 0", "array walk holds 0"),
    wrong_rows: ("array first_walk runs from 0 to", "array first_walk runs from 0 to"),
}
"""What names the fault, in an allgather and in a reduce-scatter."""
