"""Trees to be packed into links: whole numbers of them, by node and by rank."""

from fractions import Fraction

import numpy as np
import pytest

from forestcoll.core.problem import Problem, tree_capacities
from forestcoll.errors import CapacityOverflowError
from forestcoll.topology import Topology, load_topology
from tests.hand_networks import network_of


def behind_a_switch() -> Topology:
    """A switch, at position 0, then GPUs a and b; 3/2 GB/s up and 2 GB/s down."""
    return network_of("[w] a b", "a b > w: 3/2, w > a b: 2", "switch first")


def test_links_carry_whole_trees_rounded_down() -> None:
    """At 5/3 trees per GB/s: 5/2 trees up, which is 2, and 10/3 down, which is 3."""
    net = behind_a_switch()
    found = dict(zip(net.link_between, tree_capacities(net, Fraction(5, 3)).tolist(), strict=True))
    assert found == {(1, 0): 2, (2, 0): 2, (0, 1): 3, (0, 2): 3}
    assert set(tree_capacities(net, Fraction(2, 3)).tolist()) == {1}  # 1 and 4/3


def test_trees_of_ranks_are_spread_over_nodes() -> None:
    """Ranks 0 and 1 are at positions 1 and 2; trees arrive there, not at the switch."""
    net = behind_a_switch()
    problem = Problem.at(net, Fraction(2), np.array([5, 7]))
    *_, trees, target = problem.arrays
    assert trees.tolist() == [0, 5, 7]
    assert target.tolist() == [0, 1, 1]
    assert problem.capacity.tolist() == tree_capacities(net, Fraction(2)).tolist()
    narrow = problem.within(np.ones(4, dtype=np.int64))
    assert narrow.capacity.tolist() == [1] * 4
    assert narrow.trees is problem.trees


def test_numbers_beyond_64_bits_on_the_way_are_exact() -> None:
    """At 2 + 1/2^62 trees per GB/s: 2 trees, though 2^63 + 1 fits no 64 bits; at 1/2^70, none."""
    pair = load_topology("complete:nodes=2")
    assert tree_capacities(pair, Fraction(2**63 + 1, 2**62)).tolist() == [2, 2]
    assert tree_capacities(pair, Fraction(1, 2**70)).tolist() == [0, 0]


def test_more_trees_than_62_bits_count_are_refused() -> None:
    """Two links of 2^61 trees are one too many; the remedy is named."""
    pair = load_topology("complete:nodes=2")
    assert tree_capacities(pair, Fraction(2**61 - 1)).sum() == 2**62 - 2
    with pytest.raises(CapacityOverflowError, match=rf"{2**62} trees .*round the bandwidths"):
        tree_capacities(pair, Fraction(2**61))
