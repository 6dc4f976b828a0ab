"""Shares of the bound, of NCCL's best and of a simulation, by hand."""

import pytest

from experiments.advice.expected import expected
from experiments.advice.measured.measured_shares import shares
from experiments.advice.measured.nccl_tests_output import MeasuredRun, MeasuredSize
from forestcoll.schedule.simulate import AlphaBeta
from forestcoll.topology import load_topology

GB = 10**9


def run(*times_us: tuple[int, float]) -> MeasuredRun:
    return MeasuredRun(None, None, tuple(MeasuredSize(*one) for one in times_us), None)


def test_a_box_of_h100_by_hand() -> None:
    """At most 450 GB/s of algbw, 400 with NVLS: 10 GB in 50 ms are 200, half of the latter."""
    found = expected(load_topology("dgx_h100:boxes=1"), seconds=30)
    method, rows = shares(run((10 * GB, 50_000)), found, None, AlphaBeta(alpha_us=0), 60)
    assert method == "NCCL NVLS"
    (row,) = rows
    assert row.of_bound == pytest.approx(200 / 450)
    assert row.of_nccl == pytest.approx(1 / 2)
    assert row.of_simulated == pytest.approx(1 / 2, rel=0.02)


def test_latencies_raise_the_share_of_the_simulation() -> None:
    found = expected(load_topology("ring:nodes=4,bandwidth=10"), seconds=30)
    model = AlphaBeta(alpha_us=100)
    _, rows = shares(run((1000, 900.0), (GB, 300_000.0)), found, None, model, 60)
    small, large = rows
    assert [one.size.size_bytes for one in rows] == [1000, GB]
    assert small.of_nccl is not None
    assert small.of_simulated is not None
    assert small.of_nccl < 0.01 < 0.5 < small.of_simulated
    assert large.of_simulated == pytest.approx(large.of_nccl, rel=0.1)


def test_without_time_nothing_is_simulated() -> None:
    found = expected(load_topology("ring:nodes=4"), seconds=30)
    _, rows = shares(run((GB, 1e6)), found, None, AlphaBeta(), 0)
    assert rows[0].of_simulated is None
    assert rows[0].of_nccl is not None


def test_a_network_of_many_gpus_is_not_simulated() -> None:
    found = expected(load_topology("ring:nodes=65"), seconds=60)
    _, rows = shares(run((GB, 1e6)), found, None, AlphaBeta(), 60)
    assert rows[0].of_simulated is None


def test_a_root_is_used_throughout() -> None:
    found = expected(load_topology("ring:nodes=4,bandwidth=10"), "broadcast", root=2, seconds=30)
    method, rows = shares(run((GB, 1e5)), found, 2, AlphaBeta(alpha_us=0), 30)
    assert method == "NCCL ring"
    assert rows[0].of_simulated == pytest.approx(rows[0].of_nccl, rel=0.1)
