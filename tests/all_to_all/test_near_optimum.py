"""Rates of all-to-alls, by whichever method suits the size of the network."""

from __future__ import annotations

import pytest

from forestcoll.all_to_all import concurrent_flow
from forestcoll.all_to_all import near_optimum as module
from forestcoll.all_to_all.concurrent_flow import ApproximateFlow
from forestcoll.all_to_all.flow_problem import FlowProblem
from forestcoll.all_to_all.linear_optimum import AllToAllOptimum, all_to_all_rate
from forestcoll.all_to_all.near_optimum import near_optimum
from forestcoll.all_to_all.path_schedule import schedule_of
from forestcoll.errors import TimeLimitError
from forestcoll.schedule import verify
from forestcoll.solver.linear_program import Settings
from forestcoll.topology import load_topology


@pytest.mark.slow
def test_a_line_graph_of_256_gpus_is_exact() -> None:
    """Its symmetries leave 8 sources of 256, where flows within 1 % are 0.3 % off."""
    topology = load_topology("line_graph:of=(circulant:nodes=16,offsets=3+4),times=2")
    found = near_optimum(topology, eps=0.01, seconds=60)
    assert isinstance(found, AllToAllOptimum)
    assert len(found.sources) == 8
    assert found.rate_gb_s == pytest.approx(found.bound_gb_s, rel=1e-6)
    assert found.rate_gb_s == pytest.approx(3.945292e-3, rel=1e-5)


def test_a_network_beyond_the_program_is_approximated(monkeypatch: pytest.MonkeyPatch) -> None:
    topology = load_topology("generalized_kautz:degree=3,nodes=20")
    exact = all_to_all_rate(topology, settings=Settings(seconds=60)).rate_gb_s
    monkeypatch.setattr(module, "MOST_UNKNOWNS", 100)
    found = near_optimum(topology, eps=0.02, seconds=60)
    assert isinstance(found, ApproximateFlow)
    assert found.gap <= 0.02
    assert found.rate_gb_s <= exact * (1 + 1e-6)
    assert exact <= found.bound_gb_s * (1 + 1e-6)


def test_a_large_torus_with_a_dead_link_is_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    """15 x 15 pairs cross 9 links where a half of the rings of six ends."""
    monkeypatch.setattr(module, "MOST_UNKNOWNS", 100)
    torus = load_topology("torus:dims=5x6").without("gpu0.0 - gpu0.1")
    found = near_optimum(torus, eps=0.01, seconds=60)
    assert isinstance(found, AllToAllOptimum)
    assert found.rate_gb_s == pytest.approx(found.bound_gb_s, rel=1e-7)
    assert found.bound_gb_s == pytest.approx(9 / 15**2)


def test_a_time_limit_holds() -> None:
    with pytest.raises(TimeLimitError):
        near_optimum(load_topology("generalized_kautz:degree=3,nodes=20"), eps=0.02, seconds=1e-6)


def test_one_source_of_each_orbit_is_approximated(monkeypatch: pytest.MonkeyPatch) -> None:
    """The flow of each is rotated to the others: all pairs are served at the returned rate."""
    topology = load_topology("generalized_kautz:degree=3,nodes=20")
    exact = all_to_all_rate(topology, settings=Settings(seconds=60)).rate_gb_s
    monkeypatch.setattr(module, "MOST_UNKNOWNS", 100)
    found = near_optimum(topology, eps=0.02, seconds=60)
    assert isinstance(found, ApproximateFlow)
    assert found.orbits is not None
    assert len(found.flow_gb_s) == int(found.orbits.node.max()) + 1 < 20
    assert found.rate_gb_s <= exact * (1 + 1e-6)
    verdict = verify(schedule_of(found))
    assert float(1 / verdict.congestion) == pytest.approx(found.rate_gb_s, rel=1e-3)


def test_a_gap_left_by_orbits_is_closed_by_all_sources(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    topology = load_topology("generalized_kautz:degree=3,nodes=20")
    monkeypatch.setattr(module, "MOST_UNKNOWNS", 100)
    true = concurrent_flow.approximate_flow

    def only_all(problem: FlowProblem, **more: float) -> ApproximateFlow:
        if problem.rows is not None:
            raise TimeLimitError("further apart")
        return true(problem, **more)

    monkeypatch.setattr(concurrent_flow, "approximate_flow", only_all)
    found = near_optimum(topology, eps=0.02, seconds=60)
    assert isinstance(found, ApproximateFlow)
    assert found.orbits is None
    assert len(found.flow_gb_s) == 20
