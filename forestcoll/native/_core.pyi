"""
The exact core: optimality, switch removal, tree packing and routing on arrays.
"""

from collections.abc import Callable
from typing import Annotated

import numpy
from numpy.typing import NDArray


def bottleneck(num_nodes: int, tail: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], head: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], capacity: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], target: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int = 1, progress: Callable[[int, int], None] | None = None) -> tuple[int, int, Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C')], int]:
    """
    Return p, q, the cut and the Newton steps: 1/x* = p / q in units of 1/capacity.
    """

def violated_cut(num_nodes: int, tail: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], head: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], capacity: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], trees: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], target: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], passed: int = 0, threads: int = 1, progress: Callable[[int, int], None] | None = None) -> tuple[int, Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C')]]:
    """
    Return the number of targets, in order, that all trees can reach, and the cut before the next one: 1 for the nodes whose trees lack capacity to leave; empty if all are reached.
    """

def decompose(num_nodes: int, tail: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], head: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], capacity: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], trees: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], target: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int = 1, progress: Callable[[int, int], None] | None = None) -> tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')]]:
    """
    Return the smallest tight set around each node, the parent of each set (-1: none), and the trimmed capacities.
    """

def split_off_switches(num_nodes: int, tail: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], head: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], capacity: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], trees: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], target: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], set_of: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], set_parent: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], sparse_exchange: bool = False, progress: Callable[[int, int], None] | None = None) -> tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')]]:
    """
    Return logical links (tail, head, capacity) and splits (via, from, to, amount).

    Links join targets, numbered among themselves; splits join nodes.
    """

def pack_sets(tail: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], head: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], capacity: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], trees: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], set_of: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], set_parent: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], thorough: bool = False, rotated_from: int = 2147483647, progress: Callable[[int, int], None] | None = None) -> tuple[tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')]] | None, Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')]]:
    """
    Return the factored forest: links (tail, head) and their loads, the shape of each set, items and batches of each shape, root, multiplicity and parents of the batches, and the digits and radices of shapes whose batches are rotated.

    Links are None if they are those given: sorted, each once, and all of them carry trees.
    """

class Expansion:
    """Trees of a factored forest, one batch after the other."""

    def __init__(self, trees: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], tail: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], head: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], load: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], set_of: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], set_parent: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], shape_of: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], items: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], batches: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], root: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], multiplicity: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], parent: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def take(self, most: int, progress: Callable[[int, int], None] | None = None) -> tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C')]]:
        """
        Return up to so many of the next batches: root, multiplicity and rows of parents.
        """

    @property
    def is_one_packing(self) -> bool:
        """
        Whether all nodes are one set of plain items: its batches are the trees.
        """

    def take_batches(self, progress: Callable[[int, int], None] | None = None) -> tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')]]:
        """
        Return all batches of one packing: root, multiplicity, and their numbers in it.
        """

    def take_depths(self, most: int, progress: Callable[[int, int], None] | None = None) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')]]:
        """
        Return up to so many of the next batches: multiplicity and depth of the trees.
        """

def route_loads(num_nodes: int, tail: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], head: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], capacity: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], via: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], from_node: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], to_node: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], amount: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], load_tail: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], load_head: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], load: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')]]:
    """
    Return paths of each load in compressed rows: first_path, multiplicity, first_hop, hop.
    """

def paper_optimality(num_nodes: int, tail: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], head: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], capacity: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], is_compute: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], progress: Callable[[int, int], None] | None = None) -> tuple[int, int, Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C')], int]:
    """
    Algorithm 1: return p, q, the cut and the probes: 1/x* = p / q in units of 1/capacity.
    """

def paper_split_off_switches(num_nodes: int, tail: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], head: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], capacity: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], trees: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], target: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], progress: Callable[[int, int], None] | None = None) -> tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')]]:
    """
    Algorithm 3: return logical links (tail, head, capacity) and splits (via, from, to, amount).
    """

def paper_pack_trees(num_nodes: int, tail: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], head: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], capacity: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], trees: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], progress: Callable[[int, int], None] | None = None) -> tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')]]:
    """
    Algorithm 4: return batches of spanning out-trees (root, multiplicity, parents) and each link's load.

    Links must be sorted by (tail, head).
    """

class Simulator:
    """Transfers, to be simulated."""

    def __init__(self, kind_of_resource: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], first_resource: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], resource: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], delay_of_way: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], way: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], amount: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], adder: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], step: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], gate: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], first_need: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], need: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], critical_path: bool = False) -> None: ...

    def classes(self, by_class: bool = True, progress: Callable[[int, int], None] | None = None) -> tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')]]:
        """Return the class of each transfer and of each resource."""

    def fair_shares(self, rate: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], latency: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], pipeline_chunks: int, lockstep: bool, tick: float, bins: int, window: int, chunk_cost: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], message_cost: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], timeline: bool, by_class: bool, progress: Callable[[int, int], None] | None = None) -> tuple[int, int, Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], int, Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')], Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C')]]:
        """
        Return the ticks to the end, the lanes that events examined, the last arrival of each class, and the usage: ticks of a bin, and the amount in each bin of a resource of each class; with `timeline` the ticks at which each pipeline chunk of a class starts, flows, arrives and ends.
        """

    def first_come(self, rate: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], latency: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], pipeline_chunks: int, lockstep: bool, tick: float, bins: int, window: int, chunk_cost: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], message_cost: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], timeline: bool, progress: Callable[[int, int], None] | None = None) -> tuple[int, int, Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], int, Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C')], Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C')]]:
        """Return the same for each transfer and resource."""

    def in_rounds(self, rate: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], latency: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], pipeline_chunks: int, lockstep: bool, window: int, chunk_cost: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], message_cost: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], by_class: bool, progress: Callable[[int, int], None] | None = None) -> float | None:
        """
        Return the seconds of fair shares if the streams go round by round, else None.
        """

def depth_bounded_trees(num_nodes: int, tail: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], head: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], capacity: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], is_target: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], root: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], multiplicity: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], parent: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], tree_depth: int, bound_trees: int, bound_capacity: int, looks: int, progress: Callable[[int, int], None] | None = None) -> tuple[Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C')], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')]]:
    """
    Search for depth-bounded trees of little congestion, from given parents (ranks; if empty, trees are grown), until a bound or a number of examined links is reached. Return their parents, and the paths of their links: tail, head, first path, trees, first hop, hops.
    """

def grown_tree(prices: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], root: int, gap: int) -> tuple[float, Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')]] | None:
    """
    Grow a tree by cheapest paths, by prices of shape (slots, senders, receivers). Return its price, parents and slots; None if there are too few slots.
    """

def best_slots(prices: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], parent: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], gap: int) -> tuple[float, Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')]] | None:
    """
    Return the least price of given parents, the parents, and the slots that attain it.
    """

def cheaper_slots(prices: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], parent: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], gap: int) -> tuple[float, Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')]] | None:
    """Improve a tree by moves of GPUs. Return its price, parents and slots."""

def shortcut_names() -> tuple[str, ...]:
    """Return the names of the shortcuts, by number."""

def block_shortcuts(bits: int) -> None:
    """
    Block the shortcuts whose bits are set, open all others. For tests: results are the same.
    """
