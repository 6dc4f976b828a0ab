"""Rounding shares of links: on the grid, within the links, no switch that sends too much."""

import random
from fractions import Fraction

import numpy as np
import pytest

from forestcoll.allreduce.shares import common_divisor, fitted, with_bandwidths
from forestcoll.core.balance import trim_to_balance
from forestcoll.topology import Link, Node, NodeKind, Topology, load_topology
from tests.random_topologies import KINDS, random_topology


def test_shares_are_rounded_down_but_not_for_noise() -> None:
    """Of 10 GB/s in steps of 1/2: 3.3 is 6 steps; 6.4999999 is 13, as noise is no reason."""
    ring = load_topology("ring:nodes=2,bandwidth=10")
    shares = np.array([[3.3, 3.3], [6.4999999, 6.7]])
    assert fitted(ring, shares, Fraction(1, 2)) == [[6, 6], [13, 13]]


def test_shares_that_exceed_a_link_are_cut() -> None:
    ring = load_topology("ring:nodes=2,bandwidth=10")
    assert fitted(ring, np.full((2, 2), 5.9999), Fraction(1)) == [[6, 6], [4, 4]]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(20))
def test_no_switch_sends_more_than_it_gets(seed: int, kind: str) -> None:
    """Nothing is raised, and a balanced part of the network is left alone."""
    topology = random_topology(seed, kind)
    chance = random.Random(seed)
    share = [chance.randint(0, 9) for _ in topology.links]
    lowered = share.copy()
    trim_to_balance(topology, lowered)
    assert all(0 <= new <= old for new, old in zip(lowered, share, strict=True))
    for switch in topology.switches:
        out = sum(s for s, e in zip(lowered, topology.links, strict=True) if e.tail == switch)
        into = sum(s for s, e in zip(lowered, topology.links, strict=True) if e.head == switch)
        assert out <= into
    again = lowered.copy()
    trim_to_balance(topology, again)
    assert again == lowered


def test_lowering_goes_on_down_a_chain() -> None:
    """Over a -3-> v -9-> w -9-> b: v and then w can pass on 3 only."""
    kinds = (NodeKind.COMPUTE, NodeKind.SWITCH, NodeKind.SWITCH, NodeKind.COMPUTE)
    nodes = tuple(Node(name, kind) for name, kind in zip("avwb", kinds, strict=True))
    chain = Topology("chain", nodes, tuple(Link(i, i + 1, Fraction(9)) for i in range(3)))
    share = [3, 9, 9]
    trim_to_balance(chain, share)
    assert share == [3, 3, 3]


def test_links_without_a_share_are_gone() -> None:
    ring = load_topology("ring:nodes=3")
    part = with_bandwidths(ring, [0, 1, 2, 0, 4, 5], Fraction(1, 3))
    assert [link.bandwidth_gb_s * 3 for link in part.links] == [1, 2, 4, 5]


def test_the_common_divisor_divides() -> None:
    assert common_divisor([Fraction(300), Fraction(25)]) == 25
    assert common_divisor([Fraction(3, 4), Fraction(1, 2)]) == Fraction(1, 4)
