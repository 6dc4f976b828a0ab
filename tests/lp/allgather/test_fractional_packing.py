"""Column generation over trees against the exact core: two ways to the same optimum."""

import sys
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

import forestcoll
from forestcoll.core.optimality import optimum
from forestcoll.errors import DisconnectedError, SolverError, TimeLimitError
from forestcoll.solver.linear_program import Settings
from forestcoll.solver.solve import solve
from forestcoll.topology import Link, Node, NodeKind, Topology, load_topology
from lp.allgather.fractional_packing import (
    GAP,
    FractionalPacking,
    PackedTree,
    PackingProgram,
    fractional_packing,
)
from tests.baselines.once_each import every
from tests.lp.networks import star
from tests.random_topologies import KINDS, random_topology

SETTINGS = Settings(seconds=60)
RELATIVE = 1e-7


def check_packing(found: FractionalPacking) -> None:
    """Trees span, run over links and through switches only, and fit the bandwidths."""
    topology, size = found.topology, found.topology.num_compute
    load: Counter[tuple[int, int]] = Counter()
    rooted = [0.0] * size
    for tree in found.trees:
        rooted[tree.root] += tree.weight_gb_s
        for rank, path in enumerate(tree.paths):
            at, steps = rank, 0
            while at != tree.root:
                at, steps = tree.parent[at], steps + 1
                assert steps < size
            if rank == tree.root:
                assert path == ()
                continue
            assert path[0] == topology.compute[tree.parent[rank]]
            assert path[-1] == topology.compute[rank]
            assert all(topology.nodes[node].is_switch for node in path[1:-1])
        for hop, count in tree.hops.items():
            load[hop] += tree.weight_gb_s * count  # type: ignore[assignment]
    assert rooted == pytest.approx([found.rate_gb_s] * size, rel=RELATIVE)
    assert load.keys() <= topology.link_between.keys()
    for ends, total in load.items():
        assert total <= float(topology.link_between[ends].bandwidth_gb_s) * (1 + RELATIVE)


@pytest.mark.first_rows(2)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("start", every(2, range(0, 68, 17)))
def test_the_packing_of_204_random_networks_is_the_cores(start: int, kind: str) -> None:
    """N x = N x*, with the bound closed and trees that fit."""
    for seed in range(start, start + 17):
        topology = random_topology(seed, kind)
        found = fractional_packing(topology, SETTINGS)
        exact = float(forestcoll.optimum(topology).algbw_gb_s)
        assert found.status == "optimal"
        assert found.algbw_gb_s == pytest.approx(exact, rel=RELATIVE)
        assert found.rate_gb_s <= found.bound_gb_s * (1 + GAP)
        assert found.bound_gb_s == pytest.approx(found.rate_gb_s, rel=RELATIVE)
        check_packing(found)


@pytest.mark.first_rows(1)
@pytest.mark.parametrize(
    ("spec", "algbw_gb_s"),
    [
        ("dgx_a100:boxes=2", Fraction(1040, 3)),  # 15 shards through one GPU's 325 GB/s
        ("mi250:boxes=1", Fraction(2400, 7)),
        ("paper_example", Fraction(8)),  # 4 shards into a box with 4 GB/s
    ],
)
def test_known_networks(spec: str, algbw_gb_s: Fraction) -> None:
    topology = load_topology(spec)
    found = fractional_packing(topology, SETTINGS)
    assert found.algbw_gb_s == pytest.approx(float(algbw_gb_s), rel=RELATIVE)
    assert forestcoll.optimum(topology).algbw_gb_s == algbw_gb_s
    check_packing(found)


def test_at_the_time_limit_value_and_bound_are_reported() -> None:
    """The bound holds though it is not met; the first one comes from prices alone."""
    topology = load_topology("dgx_a100:boxes=2")
    exact = float(forestcoll.optimum(topology).algbw_gb_s) / 16
    with pytest.raises(TimeLimitError) as caught:
        fractional_packing(topology, Settings(seconds=1e-9))
    assert isinstance(caught.value.bound, float)
    assert caught.value.bound >= exact
    assert isinstance(caught.value.incumbent, FractionalPacking)
    assert caught.value.incumbent.rate_gb_s == 0
    assert caught.value.incumbent.trees == ()


def test_a_gap_that_does_not_close_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where rounding keeps value and bound apart, the answer is no answer."""
    monkeypatch.setattr(sys.modules["lp.allgather.fractional_packing"], "GAP", -1e-3)
    with pytest.raises(SolverError, match="no tree helps"):
        fractional_packing(load_topology("ring:nodes=4"), SETTINGS)


def test_a_network_without_an_allgather_is_refused() -> None:
    nodes = (Node("a", NodeKind.COMPUTE), Node("b", NodeKind.COMPUTE))
    with pytest.raises(DisconnectedError):
        fractional_packing(Topology("one way", nodes, (Link(0, 1, Fraction(1)),)), SETTINGS)


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
