"""Layers and shapes of sketches: phases A and B of the sketch search.

Problem: how many destinations a sketch has in each group of each of its layers.
Input:   the layers of a cluster.
Output:  sets of layers, and for each the shapes whose destinations are all places but the root.
Cost:    groups x destinations of one layer for every number that remains for the other.
Source:  Cao et al., SyCCL (SIGCOMM 2025), by public descriptions of its search.

Phase A chooses layers: one of them has a single group, or two of them cross, so that their groups
join all GPUs. Phase B gives each layer a shape: its number of groups, and the destinations of each.
At least one layer uses all its groups alike; in the lowest layer the root's group may differ.

Departures: destinations per source are not enumerated but follow from the sources at hand (see
``sketch_search``). Groups of one layer have equal destinations, the root's aside; SyCCL also has
two classes of groups. Its option names are public, its thresholds are not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from baselines.synthesizers.syccl.layers import Cluster, Layer

__all__ = ["Shape", "layer_sets", "shapes_of"]


@dataclass(frozen=True, slots=True)
class Shape:
    """The share of a layer in a sketch.

    Parameters
    ----------
    layer : int
        Number of the layer in the cluster.
    own : int
        Destinations in the root's group.
    others : int
        Number of other groups in use.
    each : int
        Destinations in each of them; 0 if there are none.
    """

    layer: int
    own: int
    others: int
    each: int

    @property
    def total(self) -> int:
        """Destinations in all groups."""
        return self.own + self.others * self.each


def layer_sets(cluster: Cluster, most: int) -> Iterator[tuple[int, ...]]:
    """Yield the sets of at most so many layers that join all GPUs, small sets first (phase A)."""
    numbers = range(len(cluster.layers))
    for count in range(1, most + 1):
        for chosen in combinations(numbers, count):
            layers = [cluster.layers[number] for number in chosen]
            single = any(len(layer.members) == 1 for layer in layers)
            if single or any(_cross(*pair) for pair in combinations(layers, 2)):
                yield chosen


def shapes_of(cluster: Cluster, chosen: Sequence[int]) -> Iterator[tuple[Shape, ...]]:
    """Yield the shapes of the chosen layers that reach every place but the root's (phase B)."""
    yield from _filled(cluster, chosen, cluster.places - 1, ())


def _cross(one: Layer, other: Layer) -> bool:
    """Whether every group of one layer meets every group of the other."""
    pairs = set(zip(one.group, other.group, strict=True))
    return len(pairs) == len(one.members) * len(other.members)


def _filled(
    cluster: Cluster, chosen: Sequence[int], left: int, before: tuple[Shape, ...]
) -> Iterator[tuple[Shape, ...]]:
    number, *rest = chosen
    layer = cluster.layers[number]
    lowest = not before
    for shape in _shapes(number, layer, left, special=lowest, exactly=not rest):
        made = (*before, shape)
        if rest:
            yield from _filled(cluster, rest, left - shape.total, made)
        elif any(_uses_all(cluster.layers[one.layer], one) for one in made):
            yield made


def _shapes(
    number: int, layer: Layer, left: int, *, special: bool, exactly: bool
) -> Iterator[Shape]:
    """Yield the shapes of one layer with at most, or exactly, so many destinations."""
    most, groups = layer.size - 1, len(layer.members) - 1
    for others in range(groups + 1):
        for each in range(1, most + 1) if others else (0,):
            rest = left - others * each
            if rest < 0:
                break
            for own in _own(others, each, most, every=special and others == groups):
                if own == rest or (own < rest and not exactly):
                    yield Shape(number, own, others, each)


def _own(others: int, each: int, most: int, *, every: bool) -> Sequence[int]:
    """Destinations in the root's group: none, as many as in others, or any number."""
    if every or not others:
        return range(most + 1)
    return (0, each)


def _uses_all(layer: Layer, shape: Shape) -> bool:
    return shape.others == len(layer.members) - 1 and shape.total > 0
