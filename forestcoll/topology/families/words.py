"""Graphs of words: de Bruijn, modified de Bruijn, Kautz and generalized Kautz.

A GPU is a word. Its links lead to the words that drop its first letter and add one at the end. So
the distance between two words is at most the number of letters. The generalized Kautz graph does
the same with numbers, for any size.

Source: Efficient Direct-Connect Topologies for Collective Communications (NSDI 2025), appendix F,
definition 16 (generalized Kautz) and figure 20 (modified de Bruijn; only the figure shows its
links, see the function).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.families.family import family
from forestcoll.topology.families.values import Count
from forestcoll.topology.families.wiring import (
    Degree,
    LinkBandwidth,
    check_links,
    check_size,
    directed,
)

__all__ = ["de_bruijn", "generalized_kautz", "kautz", "modified_de_bruijn"]

Letters = Annotated[int, Count("letters, and links out of each GPU", minimum=2, maximum=64)]
WordLength = Annotated[int, Count("length of the words that name the GPUs", maximum=16)]


@family
def kautz(
    degree: Degree,
    length: Annotated[
        int, Count("length of the words that name the GPUs, less one", minimum=0, maximum=16)
    ],
    bandwidth: LinkBandwidth = 1,
) -> TopologyBuilder:
    """Kautz graph: words of length + 1 out of degree + 1 letters, no letter twice in a row.

    GPUs are in the order of their words, which makes it link for link the line graph, taken
    ``length`` times, of the complete network of degree + 1 GPUs.
    """
    made_of = f"kautz: words of {length + 1} out of {degree + 1} letters"
    nodes = check_size((degree + 1) * degree**length, made_of)
    letters = range(degree + 1)
    words: list[tuple[int, ...]] = [(letter,) for letter in letters]
    for _ in range(length):
        words = [(*word, letter) for word in words for letter in letters if letter != word[-1]]
    place = {word: i for i, word in enumerate(words)}
    arcs = (
        (place[word], place[(*word[1:], letter)])
        for word in words
        for letter in letters
        if letter != word[-1]
    )
    return directed(nodes, arcs, bandwidth)


@family
def generalized_kautz(
    degree: Degree,
    nodes: Annotated[int, Count("GPUs, more than the degree", minimum=2)],
    bandwidth: LinkBandwidth = 1,
) -> TopologyBuilder:
    """Generalized Kautz graph: from x to -d x - a, modulo the nodes, for a from 1 to d."""
    if nodes <= degree:
        raise InvalidTopologyError(
            f"generalized_kautz: nodes is {nodes}; it must be more than the degree, {degree}"
        )
    check_links(nodes, degree, "generalized_kautz")
    arcs = ((x, (-degree * x - a) % nodes) for x in range(nodes) for a in range(1, degree + 1))
    return directed(nodes, arcs, bandwidth)


@family
def de_bruijn(degree: Letters, length: WordLength, bandwidth: LinkBandwidth = 1) -> TopologyBuilder:
    """De Bruijn graph: from each word to those that drop its first letter and add one at the end.

    The self-loops of the words of one letter are left out.
    """
    nodes = _words(degree, length, "de_bruijn")
    return directed(nodes, _de_bruijn_arcs(degree, nodes), bandwidth)


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
    return directed(nodes, [*sorted(rest), *closing], bandwidth)


def _words(degree: int, length: int, family_name: str) -> int:
    made_of = f"{family_name}: {degree} letters in words of {length}"
    return check_size(degree**length, made_of)


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
