"""Edges between items: loads of links and the trees over them, however they are counted."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from forestcoll import Topology, generate
from forestcoll.core.assembly import expand
from forestcoll.errors import VerificationError
from forestcoll.schedule.factored import FactoredForest, Shapes
from forestcoll.schedule.verification.dispatch import verify
from forestcoll.schedule.verification.trees import set_edges
from forestcoll.schedule.verification.trees.factored import check_sets
from forestcoll.schedule.verification.trees.set_edges import (
    Edges,
    check_equal_sets,
    check_uses,
    contracted,
)
from forestcoll.schedule.verification.trees.set_family import Family
from forestcoll.topology import load_topology
from tests.schedule.made.factored import agree, factored

NAMES = ("dgx_a100:boxes=3", "mi250:boxes=2", "reduce-scatter mi250:boxes=2", "torus:dims=4x4")


def sparse(monkeypatch: pytest.MonkeyPatch) -> None:
    """Count only edges that are used, sorted."""
    monkeypatch.setattr(set_edges, "_DENSE", 0)


def in_small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take few links, columns and sets together, and sort by many digits."""
    monkeypatch.setattr(set_edges, "_LINKS_TOGETHER", 5)
    monkeypatch.setattr(set_edges, "_ENTRIES_TOGETHER", 40)
    monkeypatch.setattr(set_edges, "_DIGIT", 3)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("way", [sparse, in_small_parts])
def test_all_ways_to_count_give_one_verdict(
    name: str, way: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    forest = factored(name)
    proved, edges = verify(forest), contracted(forest, Family.of(forest))
    way(monkeypatch)
    assert verify(forest) == proved
    again = contracted(forest, Family.of(forest))
    for field in ("tail", "load", "first", "entering"):
        assert np.array_equal(getattr(again, field), getattr(edges, field))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("way", [sparse, in_small_parts, None])
def test_all_ways_to_count_find_a_wrong_load(
    name: str, way: Callable[[pytest.MonkeyPatch], None] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The trees over an edge are one less than its links carry, in the first and the last set."""
    forest = factored(name)
    if way is not None:
        way(monkeypatch)
    for link in (0, len(forest.links) - 1):
        load = forest.links.load.copy()
        load[link] += 1
        wrong = replace(forest, links=replace(forest.links, load=load))
        with pytest.raises(VerificationError, match=r"but the links there carry|trees are packed"):
            check_sets(wrong)


def interleaved() -> Topology:
    """Three boxes of A100, whose GPUs take turns in the order of ranks."""
    net = load_topology("dgx_a100:boxes=3")
    order = sorted(range(len(net.nodes)), key=lambda v: (net.nodes[v].index or 0, v))
    place = {old: new for new, old in enumerate(order)}
    links = [replace(e, tail=place[e.tail], head=place[e.head]) for e in net.links]
    return Topology(net.name, [net.nodes[v] for v in order], links)


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter"])
def test_sets_need_not_hold_consecutive_ranks(collective: str) -> None:
    forest = generate(interleaved(), collective=collective, factored=True).schedule
    assert isinstance(forest, FactoredForest)
    assert set(forest.sets.set_of[:3].tolist()) == {0, 1, 2}
    assert agree(verify(forest), verify(expand(forest)))


def with_shapes(forest: FactoredForest, **changes: np.ndarray) -> FactoredForest:
    return replace(forest, shapes=Shapes(**{**vars(forest.shapes), **changes}))


@pytest.mark.parametrize("way", [sparse, in_small_parts, None])
def test_an_edge_without_a_link_is_named_with_its_batch(
    way: Callable[[pytest.MonkeyPatch], None] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a ring of four, rooted at gpu0, gpu2 becomes a child of gpu0, across the ring."""
    forest = factored("ring:nodes=4")
    if way is not None:
        way(monkeypatch)
    rows = forest.shapes.parent.reshape(-1, 4).copy()
    batch = int(np.flatnonzero(forest.shapes.root == 0)[0])
    rows[batch] = [-1, 0, 0, 0]
    message = rf"batch {batch} goes from gpu0 to gpu2, but no link does$"
    with pytest.raises(VerificationError, match=message):
        verify(with_shapes(forest, parent=rows.ravel()))


def test_loads_beyond_64_bits_are_exact() -> None:
    """Two multiplicities of 2^62 add up to 2^63, which a signed number cannot hold.

    Two GPUs send each other their shards; the tree of the first is listed twice.
    """
    forest = factored("complete:nodes=2")
    half = 2**62
    many = with_shapes(
        forest,
        batches=np.array([3]),
        root=np.array([0, 0, 1], dtype=np.int32),
        multiplicity=np.array([half, half, half]),
        parent=np.array([-1, 0, -1, 0, 1, -1], dtype=np.int32),
    )
    with pytest.raises(
        VerificationError, match=rf"{2**63} trees are packed from gpu0, but 1 start"
    ):
        verify(many)


@pytest.mark.parametrize("way", [sparse, in_small_parts, None])
def test_trees_beyond_64_bits_are_counted_exactly(
    way: Callable[[pytest.MonkeyPatch], None] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four times 2^62 is 2^64, which is 0 in 64 bits: the links between two GPUs carry less."""
    forest = factored("complete:nodes=2")
    if way is not None:
        way(monkeypatch)
    shapes = Shapes(
        items=np.array([2], dtype=np.int32),
        batches=np.array([8]),
        root=np.repeat([0, 1], 4).astype(np.int32),
        multiplicity=np.full(8, 2**62),
        parent=np.repeat([[-1, 0], [1, -1]], 4, axis=0).ravel().astype(np.int32),
    )
    wrong, family = replace(forest, shapes=shapes), Family.of(forest)
    edges = contracted(forest, family)
    with pytest.raises(VerificationError, match=rf"{2**64} trees go from gpu1 to gpu0, but the"):
        check_uses(wrong, family, edges, 0, slice(0, 8), shapes.parent.reshape(8, 2), [])
    amounts = np.array([2**62, 2**62, 2**62, 2**62 + 1] * 2)
    uneven = replace(forest, shapes=replace(shapes, multiplicity=amounts))
    with pytest.raises(VerificationError, match=rf"{2**64 + 1} trees go from gpu1 to gpu0, but"):
        check_uses(uneven, family, edges, 0, slice(0, 8), shapes.parent.reshape(8, 2), [])


def test_a_wrong_load_of_an_equal_set_is_named() -> None:
    """Three boxes of one shape; box 1 carries a tree more from its GPU 2 to its GPU 5."""
    forest = factored("dgx_a100:boxes=3")
    load = forest.links.load.copy()
    (link,) = np.flatnonzero((forest.links.tail == 8 + 2) & (forest.links.head == 8 + 5))
    load[link] += 1
    wrong = replace(forest, links=replace(forest.links, load=load))
    family = Family.of(wrong)
    message = (
        rf"^set 1 \(8 GPUs from b1\.gpu0 on\): {load[link] - 1} trees go from b1\.gpu2 to "
        rf"b1\.gpu5, but the links there carry {load[link]}$"
    )
    with pytest.raises(VerificationError, match=message):
        check_equal_sets(wrong, family, contracted(wrong, family), np.array([0, 1, 2]))


def test_the_last_set_may_have_too_few_edges() -> None:
    """Only the edges in three boxes are left, and the last of these is not."""
    forest = factored("dgx_a100:boxes=3")
    family = Family.of(forest)
    edges = contracted(forest, family)
    left = int(edges.first[family.first[3]]) - 1
    short = Edges(
        edges.tail[:left], edges.load[:left], np.minimum(edges.first, left), edges.entering
    )
    with pytest.raises(VerificationError, match=r"no link of set 2 leads from its item 6 to 7$"):
        check_equal_sets(forest, family, short, np.array([0, 1, 2]))
