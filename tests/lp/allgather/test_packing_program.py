"""The program over trees: its rows by hand, and the cheapest trees that prices find."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from forestcoll.core.optimality import optimum
from forestcoll.solver.linear_program import Settings
from forestcoll.solver.solve import solve
from forestcoll.topology import load_topology
from lp.allgather.packing_program import PackedTree, PackingProgram
from tests.lp.networks import star
from tests.random_topologies import random_topology

SETTINGS = Settings(seconds=20)


def test_a_tree_uses_each_link_of_its_paths() -> None:
    """Both paths begin over the same link."""
    tree = PackedTree(0, (-1, 0, 0), ((), (0, 3, 1), (0, 3, 2)))
    assert tree.hops == {(0, 3): 2, (3, 1): 1, (3, 2): 1}


def test_equal_prices_on_a_triangle_by_hand() -> None:
    """A cheapest tree of each root has two links: 6 in all, and 6 links of 1 GB/s."""
    program = PackingProgram(load_topology("complete:nodes=3"))
    assert program.scale_gb_s == 1  # two shards enter a GPU over 2 GB/s
    priced = program.price(np.ones(6))
    assert (priced.cost, priced.bound) == (6, 1)
    assert program.num_columns == 3
    program.price(np.ones(6))
    assert program.num_columns == 3  # known already


def test_a_triangle_is_worth_one_once_its_stars_are_known() -> None:
    """Cheap links out of a GPU make its star the cheapest tree, and each link carries one of these.

    The program has a row for each root and for each link, a column for each tree and for x.
    """
    topology = load_topology("complete:nodes=3")
    program = PackingProgram(topology)
    tail = np.array([link.tail for link in topology.links])
    for gpu in range(3):
        program.price(np.where(tail == gpu, 1.0, 3.0))
    stated = program.stated()
    assert stated.matrix.shape == (3 + 6, program.num_columns + 1)
    found = solve(stated, SETTINGS)
    assert found.objective == pytest.approx(1)
    load: Counter[tuple[int, int]] = Counter()
    rooted = [0.0, 0.0, 0.0]
    for tree in program.weighted(found.x):
        rooted[tree.root] += tree.weight_gb_s
        for hop in tree.hops:
            load[hop] += tree.weight_gb_s  # type: ignore[assignment]
    assert rooted == pytest.approx([1, 1, 1])
    assert all(each <= 1 + 1e-7 for each in load.values())


def test_paths_lead_through_switches_and_weights_are_in_gb_s() -> None:
    """Two GPUs of 3 GB/s at a switch: a tree each way over two links, 3 GB/s of each."""
    topology = star(3, 3)
    program = PackingProgram(topology)
    program.price(np.ones(len(topology.links)))
    trees = program.weighted(solve(program.stated(), SETTINGS).x)
    switch = topology.position_of["switch"]
    a, b = topology.compute
    assert [tree.paths for tree in trees] == [((), (a, switch, b)), ((b, switch, a), ())]
    assert [tree.weight_gb_s for tree in trees] == pytest.approx([3, 3])


@pytest.mark.parametrize("seed", range(8))
def test_any_prices_prove_a_bound(seed: int) -> None:
    """Weak duality: none is below the exact optimum."""
    topology = random_topology(seed, "directed")
    program = PackingProgram(topology)
    best = float(1 / Fraction(optimum(topology).inverse_rate)) / program.scale_gb_s
    chance = np.random.default_rng(seed)
    for prices in (program.first_prices(), chance.uniform(0, 1, len(topology.links))):
        assert program.price(prices).bound >= best * (1 - 1e-9)


def test_first_prices_are_higher_on_narrow_links() -> None:
    """Those of 1 and 2 GB/s have twice the price; all trees together cost 1 at them."""
    topology = star(1, 2)
    program = PackingProgram(topology)
    prices = program.first_prices()
    widths = np.array([float(link.bandwidth_gb_s) for link in topology.links])
    assert prices * widths == pytest.approx(np.full(len(widths), prices.max()))
    assert program.price(prices).cost == pytest.approx(1)
