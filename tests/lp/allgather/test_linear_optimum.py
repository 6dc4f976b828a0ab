"""The linear program of the allgather optimum against enumeration and the exact core."""

from fractions import Fraction

import pytest

import forestcoll
from forestcoll.errors import (
    DisconnectedError,
    InvalidTopologyError,
    TimeLimitError,
)
from forestcoll.solver.solve import available_methods
from forestcoll.topology import Link, Node, NodeKind, Topology, load_topology
from lp.allgather.linear_optimum import AllgatherLp, allgather_rate, build, extract, solve
from tests.hand_networks import network_of
from tests.random_topologies import KINDS, random_topology
from tests.reference.cuts import enumerate_optimum

RELATIVE = 1e-7


@pytest.mark.first_rows(9)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(12))
def test_theorem_1_the_program_equals_the_worst_cut(kind: str, seed: int) -> None:
    """The largest x with max-flows of N x to every GPU is the inverse of the worst ratio."""
    topology = random_topology(seed, kind)
    inverse_rate, _ = enumerate_optimum(topology)
    found = allgather_rate(topology, seconds=30)
    assert found.rate_gb_s == pytest.approx(float(1 / inverse_rate), rel=RELATIVE)
    assert found.algbw_gb_s == pytest.approx(topology.num_compute * found.rate_gb_s)


@pytest.mark.parametrize(
    ("spec", "algbw_gb_s"),
    [
        ("dgx_a100:boxes=2", Fraction(1040, 3)),  # 15 shards through one GPU's 325 GB/s
        ("mi250:boxes=2", Fraction(5312, 15)),  # 30 shards into a pair of GPUs with 332 GB/s
        ("dgx_a100:boxes=4", Fraction(800, 3)),  # 24 shards into a box with 200 GB/s
        ("paper_example", Fraction(8)),  # 4 shards into a box with 4 GB/s
        ("torus:dims=3x3", Fraction(9, 2)),  # 8 shards over a GPU's 4 links
    ],
)
def test_published_optima(spec: str, algbw_gb_s: Fraction) -> None:
    """N x* with the binding cut counted by hand, and the core's exact value."""
    topology = load_topology(spec)
    found = allgather_rate(topology, seconds=60)
    assert found.status == "optimal"
    assert found.algbw_gb_s == pytest.approx(float(algbw_gb_s), rel=RELATIVE)
    assert forestcoll.optimum(topology).algbw_gb_s == algbw_gb_s


@pytest.mark.parametrize("factor", ["1/1000000000", "1000000000"])
def test_bandwidths_of_any_size_are_scaled(factor: str) -> None:
    """All bandwidths times c make the rate c times as high, 18 orders of magnitude apart."""
    topology = load_topology("dgx_a100:boxes=2").scaled("*", factor)
    found = allgather_rate(topology, seconds=30)
    assert found.rate_gb_s == pytest.approx(65 / 3 * float(Fraction(factor)), rel=RELATIVE)


def test_networks_without_an_allgather_are_refused() -> None:
    """No link enters c; or none leaves it; one GPU."""
    gpus = tuple(Node(name, NodeKind.COMPUTE) for name in "abc")
    pair = (Link(0, 1, Fraction(1)), Link(1, 0, Fraction(1)))
    for third in (Link(2, 0, Fraction(1)), Link(0, 2, Fraction(1))):
        cut_off = Topology("cut off", gpus, tuple(sorted((*pair, third), key=lambda e: e.tail)))
        with pytest.raises(DisconnectedError, match="'c'"):
            build(cut_off)
        with pytest.raises(DisconnectedError, match="'c'"):
            allgather_rate(cut_off, seconds=30)
    with pytest.raises(InvalidTopologyError, match="has 1 GPU"):
        build(Topology("alone", gpus[:1], ()))


def test_a_switch_sends_no_more_than_it_receives() -> None:
    """Three GPUs with 1 GB/s up and 2 down: 3 shards leave the switch twice each, 6 x <= 3.

    Flows to each GPU by itself would allow x = 1.
    """
    found = allgather_rate(
        network_of("[w] a b c", "a b c > w, w > a b c: 2", "sends more"), seconds=30
    )
    assert found.rate_gb_s == pytest.approx(0.5, rel=RELATIVE)


@pytest.mark.parametrize("method", available_methods())
def test_the_bound_is_proved_by_every_method(method: str) -> None:
    """In units of the scale x* is 65/3 of 325/15 GB/s: the compiled minimisation has -1."""
    program = build(load_topology("dgx_a100:boxes=2"))
    found = solve(program, seconds=60, method=method)
    assert found.bound == pytest.approx(-1, abs=1e-6)
    assert found.objective == pytest.approx(-1, abs=1e-6)


def test_only_an_optimal_status_counts() -> None:
    """At its time limit the solver has no optimum, and whatever it hands back is not used."""
    program = build(load_topology("dgx_a100:boxes=12"))
    with pytest.raises(TimeLimitError, match=r"limit of 0\.001 s"):
        solve(program, seconds=0.001)


def test_build_solve_and_extract_are_separate() -> None:
    """A program can be built and looked at before it is solved: two GPUs and 3 GB/s each way.

    2 links and 2 GPUs make 2 (2 + 2) + 1 = 9 variables; each GPU sends its shard at 3 GB/s.
    """
    program = build(load_topology("ring:nodes=2,bandwidth=3"))
    assert isinstance(program, AllgatherLp)
    assert program.problem.size_metrics.num_scalar_variables == 9
    assert program.problem.status is None
    solve(program, seconds=10)
    assert extract(program).rate_gb_s == pytest.approx(3)
