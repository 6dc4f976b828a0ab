"""Hamming graphs, twisted hypercubes and twisted tori.

Sources: Hamming graphs, Efficient Direct-Connect Topologies for Collective Communications (NSDI
2025), table 9. That paper uses a twisted hypercube and names a twisted torus. It gives only their
sources: Esfahanian, Ni and Sagan, The Twisted N-Cube with Application to
Multiprocessing (IEEE Transactions on Computers 40, 1991); Camara et al., Twisted Torus Topologies
for Enhanced Interconnection Networks (IEEE Transactions on Parallel and Distributed Systems 21,
2010), used by Jouppi et al., TPU v4 (ISCA 2023).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Annotated

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.families.family import family
from forestcoll.topology.families.values import Count, Either, Sizes
from forestcoll.topology.families.wiring import (
    MOST_NODES,
    LinkBandwidth,
    check_size,
    cube,
    grid,
    undirected,
)

__all__ = ["hamming", "twisted_hypercube", "twisted_torus"]

_HALF = "half"


@family
def hamming(
    dimensions: Annotated[int, Count("letters in the word that names a GPU", maximum=16)],
    letters: Annotated[int, Count("letters there are", minimum=2, maximum=1024)],
    bandwidth: LinkBandwidth = 1,
) -> TopologyBuilder:
    """Hamming graph: GPUs are words, linked where they differ in one letter.

    It is the Cartesian power of a complete network, GPU by GPU: of two letters the hypercube.
    """
    words = f"hamming: words of {dimensions} out of {letters} letters"
    nodes = check_size(letters**dimensions, words)
    return undirected(nodes, _one_letter_apart(nodes, dimensions, letters), bandwidth)


def _one_letter_apart(nodes: int, dimensions: int, letters: int) -> Iterator[tuple[int, int]]:
    for word, place in itertools.product(range(nodes), range(dimensions)):
        step = letters**place
        for more in range(1, letters - word // step % letters):
            yield word, word + more * step


@family
def twisted_hypercube(
    dimension: Annotated[int, Count("2 to this power GPUs", minimum=3, maximum=16)],
    bandwidth: LinkBandwidth = 1,
) -> TopologyBuilder:
    """Hypercube in which two links of one square are exchanged; its diameter is one less.

    Of the square 0, 1, 3, 2 the links 0 - 1 and 2 - 3 give way to its diagonals, 0 - 3 and 1 - 2.
    All else is as in the hypercube. This is the twisted n-cube of Esfahanian, Ni and Sagan, who
    exchange two links in all, not two at every dimension (other twisted cubes do, and are lower).
    """
    untwisted = (pair for pair in cube(dimension) if pair not in ((0, 1), (2, 3)))
    return undirected(2**dimension, itertools.chain(untwisted, ((0, 3), (1, 2))), bandwidth)


@family
def twisted_torus(
    dims: Annotated[
        tuple[int, ...], Sizes("length of each dimension, of two lengths", maximum=MOST_NODES)
    ],
    twist: Annotated[
        int | str,
        Either(_HALF, Count("how far the links round the shorter dimensions are shifted")),
    ] = _HALF,
    bandwidth: LinkBandwidth = 1,
) -> TopologyBuilder:
    """Twisted torus: links round a shorter dimension arrive some way along the longer ones.

    In a dimension of the greater length the last GPU is linked to the first, as in a torus. In one
    of the smaller length the last GPU of a line is linked to the first GPU of the line which
    stands ``twist`` farther on, modulo their length, in every longer dimension; by default, half
    their length. With one length twice the other these are the twisted tori k x 2k of Camara et
    al. and k x k x 2k, k x 2k x 2k of TPU v4, in which no dimension is worse off than another.
    """
    shifts = _shifts(dims, twist)
    builder, names = grid(dims)
    for place, axis in itertools.product(names, range(len(dims))):
        builder.link(names[place], names[_next(place, axis, dims, shifts)], bandwidth)
    return builder


def _shifts(dims: tuple[int, ...], twist: int | str) -> tuple[int, ...]:
    """Return the shift in each dimension of a wrap-around link of a shorter dimension."""
    shorter, longer = min(dims), max(dims)
    if shorter < 2 or {shorter, longer} != {*dims} or shorter == longer:
        raise InvalidTopologyError(
            f"twisted_torus: dims is {'x'.join(map(str, dims))}; it must have two different "
            f"lengths from 2, such as 4x8 or 4x4x8"
        )
    if isinstance(twist, str) and longer % 2:
        raise InvalidTopologyError(
            f"twisted_torus: half of the longer dimension, {longer}, is not a whole number; give "
            f"twist, such as twist={longer // 2}"
        )
    shift = longer // 2 if isinstance(twist, str) else twist
    if shift >= longer:
        raise InvalidTopologyError(
            f"twisted_torus: twist is {shift}; it must be less than the longer dimension, {longer}"
        )
    return tuple(shift if length == longer else 0 for length in dims)


def _next(
    place: tuple[int, ...], axis: int, dims: tuple[int, ...], shifts: tuple[int, ...]
) -> tuple[int, ...]:
    if place[axis] + 1 == dims[axis] and not shifts[axis]:
        place = tuple((x + s) % length for x, s, length in zip(place, shifts, dims, strict=True))
    return (*place[:axis], (place[axis] + 1) % dims[axis], *place[axis + 1 :])
