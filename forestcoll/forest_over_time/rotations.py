"""Symmetries that carry one root to all others, so that one tree makes one of each root.

Problem: the program of a forest over time has a column for each tree; a symmetric network needs
         only those of one root of each orbit, carried to the others. Of a root alone, symmetries
         that fix it carry one tree to others, which together load links equally.
Input:   a network with latencies, the weight of each GPU.
Output:  orbits of roots; for each root of an orbit where a symmetry moves nodes and links.
Cost:    one comparison of all links for each product of cyclic groups; else a search for
         automorphisms.
Source:  ours. With a group that carries every root to every other in one way only, the trees load
         the links of an orbit equally. Candidates are the products of cyclic groups on GPUs that
         are numbered row by row, as for vertex-transitive packings (docs/mathematics/
         tree-packing.md). Other symmetries serve, too, but loads may be uneven. Around a root
         the candidates move, of each digit, the values that are not the root's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from forestcoll.forest_over_time.priced_hops import Ints
from forestcoll.problem.over_time.timed_links import TimedLinks
from forestcoll.topology.model import Topology
from forestcoll.topology.symmetry.automorphism import find_orbits
from forestcoll.topology.symmetry.stabilizer import bringing

__all__ = ["Orbit", "link_classes", "root_orbits"]

_MOST_FACTORS = 6
_MOST_ELEMENTS = 256  # of a group of which all elements are looked at


@dataclass(frozen=True, slots=True, eq=False)
class Orbit:
    """Roots that symmetries carry the first of them to.

    Parameters
    ----------
    roots : tuple of int
        Ranks; or the rank of a root alone, once for each symmetry that fixes it.
    nodes, links : int arrays, one row a root
        Where each node and each link goes if the first root goes to this one.
    """

    roots: tuple[int, ...]
    nodes: Ints = field(repr=False)
    links: Ints = field(repr=False)

    @property
    def images(self) -> int:
        """How many images of a tree each root has, which share its data equally."""
        return len(self.roots) // len(set(self.roots))


def root_orbits(topology: Topology, links: TimedLinks, weights: Sequence[int]) -> list[Orbit]:
    """Return orbits of all GPUs of positive weight, in the order of their first roots."""
    network = _Network(topology, links)
    if len(set(weights)) == 1:
        for group in network.translations():
            return [network.orbit(dict(enumerate(group)))]
    gpus = [gpu for gpu, weight in zip(topology.compute, weights, strict=True) if weight]
    if len(gpus) == 1 and (group := network.turns(topology.rank_of[gpus[0]])):
        return [network.around(gpus[0], group)]
    marks = [0] * links.nodes
    for gpu, weight in zip(topology.compute, weights, strict=True):
        marks[gpu] = weight
    found = find_orbits(topology, of_links=False, marks=marks).generators
    generators = [one for one in found if network.moved_links(one) is not None]
    if len(gpus) == 1:
        return [network.around(gpus[0], _group(generators, links.nodes))]
    generators = _free_generators(generators, gpus) or generators
    orbits: list[Orbit] = []
    known: set[int] = set()
    for rank, weight in enumerate(weights):
        if weight and rank not in known:
            bring = bringing(generators, topology.compute[rank], links.nodes)
            moves = {topology.rank_of[node]: moved for node, moved in bring.items()}
            known |= moves.keys()
            orbits.append(network.orbit(moves))
    return orbits


def link_classes(orbits: Sequence[Orbit]) -> Ints:
    """Return the class of each link: the links that all trees of all orbits load equally.

    A tree of the first root of an orbit is carried to all others, and what it loads, too. If that
    is not the same for all links that moves carry to each other, each link is its own class.
    """
    moved = np.concatenate([orbit.links for orbit in orbits])
    links = moved.shape[1]
    graph = sp.csr_array((np.ones(moved.size), _carried(moved)), shape=(links, links))
    _, classes = connected_components(graph, directed=False)
    size = np.bincount(classes)[classes]
    for orbit in orbits:
        # How often each link is carried to each: equally often to all of its class.
        where = sp.coo_array((np.ones(orbit.links.size), _carried(orbit.links)), graph.shape)
        often = where.tocsr()
        if often.nnz != size.sum() or (often.data * size[often.indices] != len(orbit.roots)).any():
            return np.arange(links)
    return np.asarray(classes, dtype=np.int64)


def _carried(moved: Ints) -> tuple[Ints, Ints]:
    return np.tile(np.arange(moved.shape[1]), len(moved)), moved.reshape(-1)


def _free_generators(generators: Sequence[Ints], gpus: Sequence[int]) -> list[Ints]:
    """Return generators of a subgroup with the same orbits in which only the identity fixes a GPU.

    Then there is one way to carry a root to another, and the loads are even. Elements are tried in
    order, so a subgroup may be missed. Nothing is returned then, nor if the group is large.
    """
    elements = _elements(generators)
    if elements is None:
        return []
    taken: list[Ints] = []
    wanted, group = _orbit_count(elements, gpus), elements[:1]
    for element in elements[1:]:
        larger = _elements([*taken, element]) or []
        is_free = all((one[gpus] != gpus).all() for one in larger[1:])
        if is_free and _orbit_count(larger, gpus) < _orbit_count(group, gpus):
            taken.append(element)
            group = larger
            if _orbit_count(group, gpus) == wanted:
                return taken
    return []


def _group(generators: Sequence[Ints], nodes: int) -> list[Ints]:
    """Return the group of some generators; of many elements the powers of one that uses all."""
    found = _elements(generators)
    if found is None and generators:
        product = np.arange(nodes)
        for generator in generators:
            product = generator[product]
        found = _elements([product])
    return found or [np.arange(nodes)]


def _elements(generators: Sequence[Ints]) -> list[Ints] | None:
    """Return all elements of a group, the identity first; None if they are many."""
    if not generators:
        return None
    found = [np.arange(len(generators[0]))]
    known = {found[0].tobytes()}
    for element in found:
        for generator in generators:
            product = generator[element]
            if product.tobytes() not in known:
                known.add(product.tobytes())
                found.append(product)
        if len(found) > _MOST_ELEMENTS:
            return None
    return found


def _orbit_count(elements: Sequence[Ints], gpus: Sequence[int]) -> int:
    return len({min(int(one[gpu]) for one in elements) for gpu in gpus})


class _Network:
    """Links with capacities, latencies and shared capacities, to compare moves with."""

    def __init__(self, topology: Topology, links: TimedLinks) -> None:
        self._topology, self._links = topology, links
        self._place = {ends: i for i, ends in enumerate(zip(links.tail, links.head, strict=True))}
        self._kind = list(zip(links.capacity, links.latency, strict=True))
        self._groups = Counter(
            (frozenset(places), limit) for places, limit in topology.shared_places
        )

    def orbit(self, moves: dict[int, Ints]) -> Orbit:
        """Return the orbit of moves by the rank that the first root goes to."""
        ends = [self.moved_links(moved) for moved in moves.values()]
        return Orbit(tuple(moves), np.array(list(moves.values())), np.array(ends, dtype=np.int64))

    def around(self, root: int, group: Sequence[Ints]) -> Orbit:
        """Return the orbit of a root alone, under the elements of a group that fix it."""
        ends = [self.moved_links(moved) for moved in group]
        roots = (self._topology.rank_of[root],) * len(group)
        return Orbit(roots, np.array(group), np.array(ends, dtype=np.int64))

    def moved_links(self, moved: Sequence[int] | Ints) -> list[int] | None:
        """Return where each link goes; None if it has no equal there."""
        to = [int(node) for node in moved]
        found = []
        for i, ends in enumerate(zip(self._links.tail, self._links.head, strict=True)):
            place = self._place.get((to[ends[0]], to[ends[1]]))
            if place is None or self._kind[place] != self._kind[i]:
                return None
            found.append(place)
        groups = Counter(
            (frozenset(found[i] for i in places), limit)
            for places, limit in self._topology.shared_places
        )
        return found if groups == self._groups else None

    def translations(self) -> Iterator[list[Ints]]:
        """Yield groups of moves of all nodes, the move to rank r at place r."""
        size = self._topology.num_compute
        for radices in _factors(size):
            digits = _digits(radices)
            units = [prod(radices[i + 1 :]) for i in range(len(radices))]
            steps = [self._whole(_moved_by(digits, radices, unit)) for unit in units]
            if all(step is not None and self.moved_links(step) is not None for step in steps):
                moves = [self._whole(_moved_by(digits, radices, by)) for by in range(size)]
                yield [np.array(one, dtype=np.int64) for one in moves if one is not None]

    def turns(self, root: int) -> list[Ints]:
        """Return the largest group found that changes digits in which ranks differ from a root's.

        Nothing is returned if only the identity is found.
        """
        best: list[Ints] = []
        for radices in sorted(
            _factors(self._topology.num_compute), key=_most_rotations, reverse=True
        ):
            if _most_rotations(radices) <= max(1, len(best)):
                break
            found = [self._whole(_rotated_about(root, radices, i)) for i in range(len(radices))]
            steps = [np.array(one) for one in found if one and self.moved_links(one) is not None]
            group = _elements(steps) or []
            if len(group) > max(1, len(best)):
                best = group
        return best

    def _whole(self, ranks: Ints) -> list[int] | None:
        """Extend a move of the GPUs to switches, by the nodes that they are linked with."""
        gpus, nodes = self._topology.compute, self._links.nodes
        to = [-1] * nodes
        for gpu, rank in zip(gpus, ranks.tolist(), strict=True):
            to[gpu] = gpus[rank]
        around: list[list[tuple[int, bool, tuple[int, int]]]] = [[] for _ in range(nodes)]
        for i, (tail, head) in enumerate(zip(self._links.tail, self._links.head, strict=True)):
            around[tail].append((head, True, self._kind[i]))
            around[head].append((tail, False, self._kind[i]))
        free = [node for node in range(nodes) if to[node] < 0]
        left = set(free)
        while free:
            waiting = []
            for node in free:
                known = {(to[v], out, kind) for v, out, kind in around[node] if to[v] >= 0}
                fits = (one for one in sorted(left) if known and known <= set(around[one]))
                image = next(fits, None)
                if image is None:
                    waiting.append(node)
                else:
                    to[node] = image
                    left.discard(image)
            if len(waiting) == len(free):
                return None
            free = waiting
        return to


def _factors(size: int, most: int = _MOST_FACTORS) -> Iterator[tuple[int, ...]]:
    """Yield ordered factorisations, those of few factors first."""
    for count in range(1, most + 1):
        yield from _split(size, count)


def _split(size: int, count: int) -> Iterator[tuple[int, ...]]:
    if count == 1:
        if size > 1:
            yield (size,)
        return
    for first in range(2, size // 2 + 1):
        if size % first == 0:
            for rest in _split(size // first, count - 1):
                yield (first, *rest)


def _digits(radices: Sequence[int]) -> Ints:
    """Return the digits of all numbers in mixed radix, the last digit fastest."""
    return np.stack(np.unravel_index(np.arange(prod(radices)), radices)).astype(np.int64)


def _moved_by(digits: Ints, radices: Sequence[int], by: int) -> Ints:
    moved = (digits + digits[:, by : by + 1]) % np.array(radices)[:, None]
    ranks = np.ravel_multi_index(tuple(moved), tuple(radices))
    return np.asarray(ranks, dtype=np.int64)


def _most_rotations(radices: Sequence[int]) -> int:
    return prod(radix - 1 for radix in radices)


def _rotated_about(root: int, radices: Sequence[int], place: int) -> Ints:
    """Return where ranks go if the values of a digit that the root does not have change in turn."""
    digits = _digits(radices)
    radix, own = radices[place], int(digits[place, root])
    others = [value for value in range(radix) if value != own]
    turn = np.arange(radix)
    turn[others] = others[1:] + others[:1]
    digits[place] = turn[digits[place]]
    return np.asarray(np.ravel_multi_index(tuple(digits), tuple(radices)), dtype=np.int64)
