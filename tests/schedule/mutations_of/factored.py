"""Ways to change a factored forest, most of them for the worse, with numbers drawn at random.

Each returns a changed forest, or None where the one given has no place for the change. Whether the
result still is an allgather is not said here: that is what the two ways of judging it must agree
on.
"""

import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from forestcoll.schedule.factored import FactoredForest
from forestcoll.schedule.forest import Path, Routes

Random = random.Random
Mutation = Callable[[FactoredForest, Random], FactoredForest | None]


def _batch(forest: FactoredForest, draw: Random) -> tuple[int, int, int]:
    """Draw a batch; return its number, its first entry in ``parent`` and its items."""
    batch = draw.randrange(len(forest.shapes.root))
    items = np.repeat(forest.shapes.items, forest.shapes.batches).tolist()
    return batch, sum(items[:batch]), items[batch]


def _with(forest: FactoredForest, part: str, **changes: Any) -> FactoredForest:
    return replace(forest, **{part: replace(getattr(forest, part), **changes)})


def _changed(array: Any, at: int, value: int) -> Any:
    copy = array.copy()
    copy[at] = value
    return copy


def dropped_edge(forest: FactoredForest, draw: Random) -> FactoredForest | None:
    """An item of a batch loses its parent."""
    _, start, items = _batch(forest, draw)
    at = start + draw.randrange(items)
    return _with(forest, "shapes", parent=_changed(forest.shapes.parent, at, -1))


def redirected_edge(forest: FactoredForest, draw: Random) -> FactoredForest | None:
    """An item of a batch hangs from another item, maybe itself or a descendant."""
    _, start, items = _batch(forest, draw)
    at = start + draw.randrange(items)
    parent = _changed(forest.shapes.parent, at, draw.randrange(items))
    return _with(forest, "shapes", parent=parent)


def cycle(forest: FactoredForest, draw: Random) -> FactoredForest | None:
    """Two items of a batch become each other's parents."""
    _, start, items = _batch(forest, draw)
    if items < 3:
        return None
    one, other = draw.sample(range(items), 2)
    parent = _changed(forest.shapes.parent, start + one, other)
    return _with(forest, "shapes", parent=_changed(parent, start + other, one))


def wrong_root(forest: FactoredForest, draw: Random) -> FactoredForest | None:
    """A batch is said to be rooted at another item."""
    batch, _, items = _batch(forest, draw)
    root = _changed(forest.shapes.root, batch, draw.randrange(items))
    return _with(forest, "shapes", root=root)


def turned_over(forest: FactoredForest, draw: Random) -> FactoredForest | None:
    """A child of the root becomes the root, and the root its child: still a spanning tree."""
    batch, start, items = _batch(forest, draw)
    root = int(forest.shapes.root[batch])
    children = [i for i in range(items) if forest.shapes.parent[start + i] == root]
    if not children:
        return None
    child = draw.choice(children)
    parent = _changed(forest.shapes.parent, start + root, child)
    parent = _changed(parent, start + child, -1)
    changed = _with(forest, "shapes", parent=parent)
    return _with(changed, "shapes", root=_changed(forest.shapes.root, batch, child))


def multiplicity(forest: FactoredForest, draw: Random) -> FactoredForest | None:
    """A batch stands for one tree more or less, maybe for none."""
    batch, _, _ = _batch(forest, draw)
    amount = int(forest.shapes.multiplicity[batch]) + draw.choice([-1, 1])
    amounts = _changed(forest.shapes.multiplicity, batch, amount)
    return _with(forest, "shapes", multiplicity=amounts)


def moved_multiplicity(forest: FactoredForest, draw: Random) -> FactoredForest | None:
    """A tree of one batch becomes one of another; their sum stays."""
    if len(forest.shapes.root) < 2:
        return None
    one, other = draw.sample(range(len(forest.shapes.root)), 2)
    amounts = forest.shapes.multiplicity.copy()
    amounts[one] -= 1
    amounts[other] += 1
    return _with(forest, "shapes", multiplicity=amounts)


def split_batch(forest: FactoredForest, draw: Random) -> FactoredForest | None:
    """A batch is listed as two that add up to it: nothing is wrong with that."""
    batch, start, items = _batch(forest, draw)
    amount = int(forest.shapes.multiplicity[batch])
    if amount < 2:
        return None
    part = draw.randrange(1, amount)
    shapes = forest.shapes
    ends = np.cumsum(shapes.batches)
    shape = int(np.searchsorted(ends, batch, side="right"))
    amounts = np.insert(shapes.multiplicity, batch, part)
    amounts[batch + 1] = amount - part
    return _with(
        forest,
        "shapes",
        batches=_changed(shapes.batches, shape, int(shapes.batches[shape]) + 1),
        root=np.insert(shapes.root, batch, shapes.root[batch]),
        multiplicity=amounts,
        parent=np.insert(shapes.parent, start, shapes.parent[start : start + items]),
    )


def _with_load(forest: FactoredForest, link: int, load: int, routed: bool) -> FactoredForest:
    """Change the load of a link, and that of its first path with it if it is to be routed."""
    changed = _with(forest, "links", load=_changed(forest.links.load, link, load))
    if not routed:
        return changed
    path = int(forest.routes.first_path[link])
    amount = int(forest.routes.multiplicity[path]) + load - int(forest.links.load[link])
    amounts = _changed(forest.routes.multiplicity, path, amount)
    return replace(changed, routes=replace(forest.routes, multiplicity=amounts))


def wrong_load(forest: FactoredForest, draw: Random) -> FactoredForest | None:
    """A link carries one tree more or less, its paths too or not."""
    link = draw.randrange(len(forest.links))
    load = int(forest.links.load[link]) + draw.choice([-1, 1])
    return _with_load(forest, link, load, draw.random() < 0.5)


def moved_load(forest: FactoredForest, draw: Random) -> FactoredForest | None:
    """A tree goes over another link into the same GPU, with its paths: right within one edge."""
    link = draw.randrange(len(forest.links))
    others = np.flatnonzero(forest.links.head == forest.links.head[link]).tolist()
    other = draw.choice(others)
    if other == link or forest.links.load[link] < 2:
        return None
    changed = _with_load(forest, link, int(forest.links.load[link]) - 1, True)
    return _with_load(changed, other, int(forest.links.load[other]) + 1, True)


def removed_link(forest: FactoredForest, draw: Random) -> FactoredForest | None:
    """A link is left out, and its paths too or not."""
    link = draw.randrange(len(forest.links))
    links = forest.links
    left = {name: np.delete(array, link) for name, array in vars(links).items()}
    changed = replace(forest, links=replace(links, **left))
    if draw.random() < 0.5:
        return changed
    paths = forest.routes.paths()
    del paths[int(links.tail[link]), int(links.head[link])]
    return replace(changed, routes=Routes.from_paths(paths))


def redirected_link(forest: FactoredForest, draw: Random) -> FactoredForest | None:
    """A link ends at another GPU, maybe out of order or at its own start."""
    link = draw.randrange(len(forest.links))
    head = _changed(forest.links.head, link, draw.randrange(forest.topology.num_compute))
    return _with(forest, "links", head=head)


def wrong_shape(forest: FactoredForest, draw: Random) -> FactoredForest | None:
    """A set has the shape of another, maybe one that does not exist."""
    number = draw.randrange(len(forest.sets))
    shape = draw.randrange(-1, len(forest.shapes) + 1)
    return _with(forest, "sets", shape=_changed(forest.sets.shape, number, shape))


def moved_gpu(forest: FactoredForest, draw: Random) -> FactoredForest | None:
    """A GPU is in another set."""
    rank = draw.randrange(forest.topology.num_compute)
    into = draw.randrange(len(forest.sets))
    return _with(forest, "sets", set_of=_changed(forest.sets.set_of, rank, into))


def moved_set(forest: FactoredForest, draw: Random) -> FactoredForest | None:
    """A set is the child of another, maybe of one before it or of none."""
    number = draw.randrange(len(forest.sets))
    around = draw.randrange(-1, len(forest.sets))
    return _with(forest, "sets", parent=_changed(forest.sets.parent, number, around))


def swapped_gpus(forest: FactoredForest, draw: Random) -> FactoredForest | None:
    """Two GPUs change their places in the family."""
    one, other = draw.sample(range(forest.topology.num_compute), 2)
    set_of = forest.sets.set_of.copy()
    set_of[[one, other]] = set_of[[other, one]]
    return _with(forest, "sets", set_of=set_of)


def wrong_k(forest: FactoredForest, draw: Random) -> FactoredForest | None:
    """One tree more or less per root is claimed."""
    return replace(forest, k=forest.k + draw.choice([-1, 1]))


def lower_congestion(forest: FactoredForest, draw: Random) -> FactoredForest | None:
    """Less congestion is claimed than there is."""
    return replace(forest, congestion=forest.congestion * Fraction(draw.randrange(1, 9), 10))


def broken_route(forest: FactoredForest, draw: Random) -> FactoredForest | None:
    """A hop of a path leads to another node."""
    at = draw.randrange(len(forest.routes.hop))
    node = draw.randrange(len(forest.topology.nodes))
    return _with(forest, "routes", hop=_changed(forest.routes.hop, at, node))


def removed_route(forest: FactoredForest, draw: Random) -> FactoredForest | None:
    """A link has no paths."""
    paths: dict[tuple[int, int], tuple[Path, ...]] = forest.routes.paths()
    del paths[draw.choice(sorted(paths))]
    return replace(forest, routes=Routes.from_paths(paths))


def _array(forest: FactoredForest, draw: Random) -> tuple[str, str, Any]:
    """Draw an array with entries; return its part, its name and itself."""
    part = draw.choice(["sets", "shapes", "links"])
    arrays = vars(getattr(forest, part))
    name = draw.choice(sorted(name for name, array in arrays.items() if len(array)))
    return part, name, arrays[name]


def cut_off_array(forest: FactoredForest, draw: Random) -> FactoredForest | None:
    """An array lacks its last entry."""
    part, name, array = _array(forest, draw)
    return _with(forest, part, **{name: array[:-1]})


def other_type(forest: FactoredForest, draw: Random) -> FactoredForest | None:
    """An array holds wider or narrower integers than it should."""
    part, name, array = _array(forest, draw)
    kind = np.int64 if array.dtype == np.int32 else np.int32
    return _with(forest, part, **{name: array.astype(kind)})


MUTATIONS: tuple[Mutation, ...] = (
    *(dropped_edge, redirected_edge, cycle, wrong_root, turned_over, multiplicity),
    *(moved_multiplicity, split_batch, wrong_load, moved_load, removed_link, redirected_link),
    *(wrong_shape, moved_gpu, moved_set, swapped_gpus, wrong_k, lower_congestion),
    *(broken_route, removed_route, cut_off_array, other_type),
)
