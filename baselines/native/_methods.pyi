"""
Baselines on arrays: balanced broadcasts of BFB, trees of MultiTree, trials of TACOS.
"""

from collections.abc import Callable
from typing import Annotated

import numpy
from numpy.typing import NDArray


def broadcast_times(num_nodes: int, tail: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], head: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], capacity: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], delay: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], size: int, representative: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], image: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int = 1, progress: Callable[[int, int], None] | None = None) -> tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')]]:
    """
    Return the nodes that represent others, and for each, step by step, the least time of a breadth-first broadcast: numerators and denominators.
    """

def broadcast(num_nodes: int, tail: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], head: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], capacity: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], delay: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], size: int, representative: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], image: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], pieces: int, threads: int = 1, progress: Callable[[int, int], None] | None = None) -> tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')]]:
    """
    Return the transfers of a breadth-first broadcast, every shard cut into so many pieces: step, source, tail, head, first piece and number of pieces, sorted in this order; the last two are empty if shards are not cut.
    """

def grow(num_nodes: int, tail: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], head: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], units: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], narrowness: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], gpu: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], per_hop: int, per_width: int, onward: bool, progress: Callable[[int, int], None] | None = None) -> tuple[int, Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C')], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')]]:
    """
    Grow MultiTree's trees over arcs of so many units a step, with GPUs in the order of preference. Return the number of steps, the parents (ranks; -1 also for GPUs that a tree cannot reach), and the paths: tail, head, first path, trees, first hop, hops.
    """

def match_chunks(gpus: int, tail: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], head: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], ticks: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], chunks: int, maximum: bool, words: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], progress: Callable[[int, int], None] | None = None) -> tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C')]]:
    """
    Make a random trial of TACOS over links between GPUs, with the words of Python's newly seeded generator. Return the transfers that brought lacking chunks, in the order of arrival: chunk, index of the link, start.
    """
