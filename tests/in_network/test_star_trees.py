"""Broadcast trees of one hop over switches that multicast."""

import numpy as np
import pytest

from forestcoll.generation import generate
from forestcoll.in_network.star_trees import star_trees
from forestcoll.problem.options import Options
from forestcoll.schedule import verify
from forestcoll.topology import load_topology
from tests.hand_networks import network_of


def test_a_switch_sends_to_all_others_at_once():
    """B over s of 2 GB/s: one tree with a walk to s and two from it."""
    network = network_of("a b c [s*]", "a b c - s: 2")
    star = star_trees(network, 1)
    assert star is not None
    assert (star.k, star.time_s_per_gb) == (1, 0.5)
    (tree,) = star.trees()
    assert tree.walks == ((1, 3), (3, 0), (3, 2))
    verify(star)


def test_switches_carry_what_their_narrowest_link_does():
    """2 GB/s over s and 3/2 over t, though t gets 3 from a: seven trees in all."""
    network = network_of("a b c [s*] [t*]", "a b c - s: 2, a - t: 3, b - t: 3/2, c - t: 3")
    star = star_trees(network, 0)
    assert star is not None
    assert star.multiplicity.tolist() == [4, 3]
    assert (star.k, star.algbw_gb_s) == (7, 7 / 2)
    verify(star)


@pytest.mark.parametrize(
    "links",
    ["a b - s: 2, b - c: 1", "b c - s: 2, a - b: 1", "a b c - p: 1, s - p: 1"],
)
def test_no_switch_reaches_all_from_the_root(links: str):
    network = network_of("a b c [s*] [p]", f"{links}, s - p: 1, p - a: 1")
    assert star_trees(network, 0) is None


def test_a_switch_that_only_forwards_makes_no_star():
    assert star_trees(network_of("a b [s]", "a b - s: 1"), 0) is None


@pytest.mark.parametrize("collective", ["broadcast", "reduce"])
@pytest.mark.parametrize("root", [0, 40])
def test_a_rack_takes_one_hop_at_the_optimal_rate(collective: str, root: int):
    options = Options(collective=collective, root=root, multicast=True)
    made = generate(load_topology("nvl72"), options).schedule
    verdict = verify(made)
    assert made.optimum is not None
    assert verdict.depth == 2
    assert made.algbw_gb_s == 900
    assert np.unique(made.multiplicity).tolist() == [1]


def test_a_reduce_counts_the_links_that_it_takes():
    """Into a over s 1 GB/s, out of it 9: the sum takes as long as the links to a allow."""
    network = network_of("a b c [s*]", "a > s: 9, s > a: 1, b c - s: 1")
    made = generate(network, Options(collective="reduce", root=0, multicast=True)).schedule
    verify(made)
    assert made.algbw_gb_s == 1


def test_a_given_k_keeps_its_trees():
    options = Options(collective="broadcast", root=0, multicast=True, k=2)
    assert generate(load_topology("nvl72"), options).schedule.k == 2


def test_slower_stars_are_not_taken():
    """Over s 1 GB/s to all, over the links as well: two trees are faster than the star alone."""
    network = network_of("a b c [s*]", "a b c - s: 1, a - b c: 2, b - c: 2")
    made = generate(network, Options(collective="broadcast", root=0, multicast=True)).schedule
    verify(made)
    assert made.algbw_gb_s > 1
