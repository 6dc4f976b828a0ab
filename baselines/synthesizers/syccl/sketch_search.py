"""Sketches of given shapes, step by step: phase C of the sketch search.

Problem: who sends to whom in which step, for the destinations of each layer.
Input:   a cluster and the shapes of its layers; a rule for the choice of destinations.
Output:  a sketch, or None if the shapes cannot be reached.
Cost:    N log N for each shape and rule; at most ``MOST_SHAPES`` shapes of each split of the
         destinations among the layers.
Source:  Cao et al., SyCCL (SIGCOMM 2025), by public descriptions of its search.

In a step only GPUs that received in the step before send (at first the root), on a layer other than
the one they received on, each group once. A layer uses as many groups as it can, those with most
sources first, and in each as many sources as divide its destinations. Destinations are the most
balanced over the groups of the other layers, or the most concentrated; the same in all steps of a
layer. A destination does not share a group of a lower layer with its source.

Departures: SyCCL branches over classes of GPUs and counts of destinations per source, with caps;
here each shape and rule has one outcome. The root sends in the first step only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heappush
from itertools import product

from baselines.synthesizers.syccl.layers import Cluster
from baselines.synthesizers.syccl.shapes import Shape, layer_sets, shapes_of
from baselines.synthesizers.syccl.symmetry_sketch import Sketch

__all__ = ["MOST_SHAPES", "MOST_STEPS", "find_sketches"]

MOST_STEPS = 5
"""Steps of a sketch, as in public runs of SyCCL."""

MOST_SHAPES = 2
"""Shapes that become sketches, of those with equal numbers of destinations in each layer."""

BALANCED, CONCENTRATED = "balanced", "concentrated"


def find_sketches(cluster: Cluster, most_layers: int = 2) -> list[Sketch]:
    """Return the sketches of all shapes, each once, in the order in which they are found."""
    found: dict[Sketch, None] = {}
    made: Counter[tuple[int, ...]] = Counter()
    for chosen in layer_sets(cluster, most_layers):
        for shapes in shapes_of(cluster, chosen):
            split = tuple(shape.total for shape in shapes)
            if made[chosen + split] >= MOST_SHAPES:
                continue
            drawn = [_Draft(cluster, shapes, rules).drawn() for rules in _rules(shapes)]
            new = [sketch for sketch in drawn if sketch is not None]
            made[chosen + split] += bool(new)
            found.update(dict.fromkeys(new))
    return list(found)


def _rules(shapes: Sequence[Shape]) -> Iterator[tuple[str, ...]]:
    return product((BALANCED, CONCENTRATED), repeat=len(shapes))


class _Draft:
    """A sketch as it grows."""

    def __init__(self, cluster: Cluster, shapes: Sequence[Shape], rules: Sequence[str]) -> None:
        self._layers = [cluster.layers[shape.layer] for shape in shapes]
        self._shapes, self._rules = shapes, rules
        self._over = [-1] * cluster.places  # the layer over which each place was reached
        self._over[0] = len(shapes)  # the root may send on any
        self._unused = [shape.others for shape in shapes]
        self._used: list[set[int]] = [{0} for _ in shapes]
        self._reached = [Counter({0: 1}) for _ in shapes]
        self._rows: list[tuple[int, int, int, int]] = []

    def drawn(self) -> Sketch | None:
        """Add steps until all places are reached, or no step is possible."""
        fresh, step = [0], 0
        while fresh and step < MOST_STEPS:
            before = len(self._rows)
            for number in range(len(self._shapes)):
                if not self._add(step, number, fresh):
                    return None
            fresh = [row[3] for row in self._rows[before:]]
            step += 1
        if len(self._rows) < len(self._over) - 1:
            return None
        return Sketch(*zip(*self._rows, strict=True))

    def _add(self, step: int, number: int, fresh: Sequence[int]) -> bool:
        """Use a layer in a step; False if its destinations are too few."""
        shape = self._shapes[number]
        if step == 0:
            return not shape.own or self._send(step, number, [0], shape.own)
        sources: dict[int, list[int]] = {}
        for place in fresh:
            group = self._layers[number].group[place]
            if self._over[place] != number and group not in self._used[number]:
                sources.setdefault(group, []).append(place)
        order = sorted(sources, key=lambda group: (-len(sources[group]), group))
        for group in order[: self._unused[number]]:
            senders = sources[group]
            count = max(n for n in range(1, len(senders) + 1) if shape.each % n == 0)
            if not self._send(step, number, senders[:count], shape.each):
                return False
            self._used[number].add(group)
            self._unused[number] -= 1
        return True

    def _send(self, step: int, number: int, sources: Sequence[int], count: int) -> bool:
        heads = self._destinations(number, sources[0], count)
        if len(heads) < count:
            return False
        quota = dict.fromkeys(sources, count // len(sources))
        for head in heads:
            tail = next((tail for tail in quota if self._apart(number, tail, head)), None)
            if tail is None:
                return False
            quota[tail] -= 1
            if not quota[tail]:
                del quota[tail]
            self._rows.append((step, self._shapes[number].layer, tail, head))
            self._over[head] = number
            for each, layer in enumerate(self._layers):
                self._reached[each][layer.group[head]] += 1
        return True

    def _apart(self, number: int, tail: int, head: int) -> bool:
        """Whether no lower layer joins the two."""
        return all(layer.group[tail] != layer.group[head] for layer in self._layers[:number])

    def _destinations(self, number: int, source: int, count: int) -> list[int]:
        """Choose places of the source's group that are not reached, by the rule of the layer."""
        layer = self._layers[number]
        kinds: dict[tuple[int, ...], list[int]] = {}
        others = [each for each in range(len(self._layers)) if each != number]
        for place in layer.members[layer.group[source]]:
            if self._over[place] < 0 and self._apart(number, source, place):
                kind = tuple(self._layers[each].group[place] for each in others)
                kinds.setdefault(kind, []).append(place)
        counts = {
            kind: sum(self._reached[each][group] for each, group in zip(others, kind, strict=True))
            for kind in kinds
        }
        if self._rules[number] == CONCENTRATED:
            fullest = sorted(kinds, key=lambda kind: (-counts[kind], kind))
            return [place for kind in fullest for place in kinds[kind]][:count]
        return _balanced(kinds, counts, count)


def _balanced(
    kinds: dict[tuple[int, ...], list[int]], counts: dict[tuple[int, ...], int], count: int
) -> list[int]:
    """Choose places one by one, each of the kind with the fewest."""
    heap = [(counts[kind], kind, 0) for kind in kinds]
    heapify(heap)
    taken: list[int] = []
    while heap and len(taken) < count:
        have, kind, done = heappop(heap)
        taken.append(kinds[kind][done])
        if done + 1 < len(kinds[kind]):
            heappush(heap, (have + 1, kind, done + 1))
    return taken
