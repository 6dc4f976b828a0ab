"""Column generation over trees against the exact core: two ways to the same optimum."""

import sys
from collections import Counter
from fractions import Fraction

import pytest

import forestcoll
from forestcoll.errors import DisconnectedError, SolverError, TimeLimitError
from forestcoll.topology import Link, Node, NodeKind, Topology, load_topology
from lp.allgather.fractional_packing import GAP, FractionalPacking, fractional_packing
from lp.solver.linear_program import Settings
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


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("start", range(0, 68, 17))
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
