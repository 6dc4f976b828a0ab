"""Forests of several kinds of trees as one: the trees of all, each kind with its part."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from forestcoll import generate, load_topology, verify
from forestcoll.errors import CapacityOverflowError
from forestcoll.in_network.mixing import mirrored, mixed, one_of_each, with_used_walks
from forestcoll.in_network.pruning import multicast
from forestcoll.schedule.allreduce import Allreduce
from forestcoll.schedule.multicast import MulticastForest, Walks


def box() -> MulticastForest:
    return multicast(generate(load_topology("dgx_h100:boxes=1")).schedule)


def test_two_kinds_carry_their_parts() -> None:
    """8 trees of weight 1 and 8 of k = 1 at other weights: a third of the data and two thirds.

    1/3 / 8 and 2/3 / 16 of the data on each tree are the same: 24 trees, of GPU 0 two more than
    of each other, k = 1 and weights (1 + 9, 1 + 1, ..).
    """
    weights = (9, 1, 1, 1, 1, 1, 1, 1)
    other = multicast(generate(load_topology("dgx_h100:boxes=1"), weights=weights).schedule)
    made = mixed([box(), other], [Fraction(1, 3), Fraction(2, 3)])
    assert made.num_trees == 24 * other.k
    assert made.weights == (5, 1, 1, 1, 1, 1, 1, 1)
    verdict = verify(made)
    assert verdict.trees == made.num_trees
    assert made.num_batches == box().num_batches + other.num_batches
    loads = [a / 24 for a in map(Fraction, box().loads())]
    more = [Fraction(b, 24 * other.k) for b in other.loads()]
    assert [Fraction(c, made.num_trees) for c in made.loads()] == [
        a + b for a, b in zip(loads, more, strict=True)
    ]


def test_a_mirror_image_is_the_reduction_over_the_same_trees() -> None:
    gather = box()
    reduce = mirrored(gather)
    assert reduce.reduction
    verdict = verify(Allreduce(reduce, gather))
    assert verdict.reduce.time_s_per_gb == verdict.gather.time_s_per_gb
    loads = zip(gather.topology.links, gather.loads(), strict=True)
    back = {(link.head, link.tail): load for link, load in loads}
    assert [back[e.tail, e.head] for e in reduce.topology.links] == list(reduce.loads())


def test_walks_are_kept_once() -> None:
    node = np.array([0, 1, 0, 2, 1, 0, 2, 1, 1, 0], dtype=np.int32)
    walks, number = one_of_each(Walks(np.array([0, 2, 5, 8, 10]), node))
    assert len(walks) == 3
    assert [walks.nodes(i) for i in number.tolist()] == [(0, 1), (0, 2, 1), (0, 2, 1), (1, 0)]
    assert [walks.backwards().nodes(i) for i in number[:2].tolist()] == [(1, 0), (1, 2, 0)]


def test_walks_of_no_tree_and_equal_walks_are_left_out() -> None:
    """A walk without trees comes first, and a copy of another last."""
    forest = box()
    walks = forest.walks
    node = np.concatenate([[3, 5, 4], walks.node, walks.node[:2]]).astype(np.int32)
    first = np.concatenate([[0], walks.first_node + 3, [3 + len(walks.node) + 2]])
    walk = forest.walk + 1
    walk[forest.walk == 0] = len(walks) + 1
    loose = replace(forest, walk=walk, walks=Walks(first, node))
    assert with_used_walks(loose) == forest
    assert mixed([loose], [Fraction(1)]).walks == walks


def test_more_trees_than_can_be_counted_are_refused() -> None:
    tiny = Fraction(1, 2**62 - 1)
    with pytest.raises(CapacityOverflowError, match="beyond exact 64-bit"):
        mixed([box(), replace(box(), k=2)], [tiny, 1 - tiny])
