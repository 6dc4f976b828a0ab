"""Direct-connect networks: GPUs of equal degree, linked to each other without switches.

Every link of one network has the same bandwidth; a GPU of degree d that has B GB/s in all has
links of B / d. Two links between the same pair are one of twice the bandwidth. Self-loops, which
some of the definitions have, carry nothing and are left out: those ports stay unused, and the GPU
has less bandwidth than the others.

Rings with parallel links are the family ``ring`` with more bandwidth: d links of b GB/s from each
GPU to the next are ``ring(n, d * b, bidirectional=False)``, d / 2 each way ``ring(n, d * b / 2)``.

Source: Efficient Direct-Connect Topologies for Collective Communications (NSDI 2025), appendices A
to F: definitions 16 (generalized Kautz) and 18 (circulant), figures 19 (diamond) and 20 (modified
de Bruijn), of whose links the figures alone tell; see the two functions.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Annotated

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.families.fabrics import LinkBandwidth
from forestcoll.topology.families.family import family
from forestcoll.topology.families.values import Count, Offsets

__all__ = [
    "circulant",
    "complete_bipartite",
    "de_bruijn",
    "diamond",
    "generalized_kautz",
    "modified_de_bruijn",
]

_MOST_NODES = 100_000

Degree = Annotated[int, Count("links out of each GPU", maximum=1024)]
Letters = Annotated[int, Count("letters, and links out of each GPU", minimum=2, maximum=64)]
WordLength = Annotated[int, Count("length of the words that name the GPUs", maximum=16)]


@family
def complete_bipartite(degree: Degree, bandwidth: LinkBandwidth = 1) -> TopologyBuilder:
    """Two sides of as many GPUs as the degree; every GPU linked to all of the other side."""
    builder = _gpus(2 * degree)
    for a in range(degree):
        for b in range(degree, 2 * degree):
            builder.link(f"gpu{a}", f"gpu{b}", bandwidth)
    return builder


@family
def generalized_kautz(
    degree: Degree,
    nodes: Annotated[int, Count("GPUs, more than the degree", minimum=2)],
    bandwidth: LinkBandwidth = 1,
) -> TopologyBuilder:
    """Generalized Kautz graph: from x to -d x - a, modulo the nodes, for a from 1 to d."""
    if nodes <= degree:
        raise InvalidTopologyError(
            f"generalized_kautz: {nodes} nodes of degree {degree}; there must be more nodes than "
            f"the degree"
        )
    arcs = ((x, (-degree * x - a) % nodes) for x in range(nodes) for a in range(1, degree + 1))
    return _directed(nodes, arcs, bandwidth)


@family
def circulant(
    nodes: Annotated[int, Count("GPUs", minimum=2)],
    offsets: Annotated[tuple[int, ...], Offsets("how far on and back each GPU's links go")],
    bandwidth: LinkBandwidth = 1,
) -> TopologyBuilder:
    """Circulant graph: GPU i linked to i + a and i - a, modulo the nodes, for each offset a.

    An offset may be given twice, for twice the bandwidth. Half the nodes as an offset leads to the
    same GPU on and back: two links, which is one of twice the bandwidth.
    """
    if wrong := [a for a in offsets if a % nodes == 0]:
        raise InvalidTopologyError(
            f"circulant: an offset of {wrong[0]} leads from each of {nodes} GPUs to itself"
        )
    arcs = ((i, (i + a) % nodes) for i in range(nodes) for b in offsets for a in (b, -b))
    return _directed(nodes, arcs, bandwidth)


@family
def de_bruijn(degree: Letters, length: WordLength, bandwidth: LinkBandwidth = 1) -> TopologyBuilder:
    """De Bruijn graph: from each word to those that drop its first letter and add one at the end.

    The self-loops of the words of one letter are left out.
    """
    nodes = _words(degree, length, "de_bruijn")
    return _directed(nodes, _de_bruijn_arcs(degree, nodes), bandwidth)


@family
def modified_de_bruijn(
    degree: Annotated[int, Count("letters, and links out of each GPU", minimum=2, maximum=16)],
    length: Annotated[int, Count("length of the words that name the GPUs", minimum=2, maximum=16)],
    bandwidth: LinkBandwidth = 1,
) -> TopologyBuilder:
    """De Bruijn graph with its self-loops and 2-cycles replaced by one cycle through their words.

    The paper shows the cycle in a figure only. Here it is the first one, in the order of the words,
    that repeats no link of the rest of the graph. (Each word of one letter, or of two in turn, has
    lost one link in and one out; there are as many as letters squared.)
    """
    nodes = _words(degree, length, "modified_de_bruijn")
    arcs = set(_de_bruijn_arcs(degree, nodes))
    short = {(x, y) for x, y in arcs if (y, x) in arcs}
    rest = arcs - short
    cycle = _cycle(sorted({x for x, _ in short}), rest)
    closing = zip(cycle, [*cycle[1:], cycle[0]], strict=True)
    return _directed(nodes, [*sorted(rest), *closing], bandwidth)


@family
def diamond(bandwidth: LinkBandwidth = 1) -> TopologyBuilder:
    """The diamond, 8 GPUs of degree 2 in a pattern of diameter 3.

    The paper shows it in a figure whose links the text does not list. This is the one simple
    digraph of 8 nodes, degree 2 and diameter 3, up to turning all links round, whose all-to-all
    throughput is that of its table 7 (0.15 of a link per pair).
    """
    heads = ((3, 7), (0, 4), (5, 7), (1, 2), (5, 6), (0, 6), (1, 2), (3, 4))
    return _directed(8, ((x, y) for x, ends in enumerate(heads) for y in ends), bandwidth)


def _gpus(nodes: int) -> TopologyBuilder:
    builder = TopologyBuilder()
    for i in range(nodes):
        builder.gpu(f"gpu{i}", index=i)
    return builder


def _directed(
    nodes: int,
    arcs: Iterator[tuple[int, int]] | list[tuple[int, int]],
    bandwidth: int | str | Fraction,
) -> TopologyBuilder:
    """GPUs and links from number to number; self-loops are left out."""
    builder = _gpus(nodes)
    for tail, head in arcs:
        if tail != head:
            builder.arc(f"gpu{tail}", f"gpu{head}", bandwidth)
    return builder


def _words(degree: int, length: int, family_name: str) -> int:
    if degree**length > _MOST_NODES:
        raise InvalidTopologyError(
            f"{family_name}: {degree} letters in words of {length} make {degree**length} GPUs; at "
            f"most {_MOST_NODES} are allowed"
        )
    return int(degree**length)


def _de_bruijn_arcs(degree: int, nodes: int) -> Iterator[tuple[int, int]]:
    return ((x, (degree * x + a) % nodes) for x in range(nodes) for a in range(degree))


def _cycle(words: list[int], taken: set[tuple[int, int]]) -> list[int]:
    """Find the first cycle through all words, in their order, without any of the links taken."""
    path, choices = [words[0]], [iter(words[1:])]
    while True:
        word = next(choices[-1], None)
        if word is None:
            path.pop()
            choices.pop()
        elif word not in path and (path[-1], word) not in taken:
            path.append(word)
            if len(path) < len(words):
                choices.append(iter(words[1:]))
            elif (word, words[0]) not in taken:
                return path
            else:
                path.pop()
