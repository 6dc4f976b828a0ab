"""Bounds of simulations by hand."""

from fractions import Fraction

import pytest

from forestcoll.cut_over_time.simulated_bound import SimulatedBound
from forestcoll.schedule.simulate import AlphaBeta
from forestcoll.topology import Topology, load_topology
from tests.hand_networks import network_of

MODEL = AlphaBeta(alpha_us=3)
LINE = network_of("a b c", "a - b: 2 1, b - c: 1")


def least_us(network: Topology, collective: str, size: int, **given: object) -> float:
    return SimulatedBound(network, collective, MODEL, **given).least_s(size) * 1e6  # type: ignore[arg-type]


def test_two_gpus_by_hand():
    """Half of 8 000 bytes over 2 GB/s after 4 us."""
    network = network_of("a b", "a - b: 2 1")
    assert least_us(network, "allgather", 8000) == pytest.approx(6)
    assert least_us(network, "allreduce", 8000) == pytest.approx(8)


def test_a_root_may_be_given_by_its_weight():
    """From b, 1000 bytes: 3 us and 1 to c. From a: both hops, 4 and 3 us, and 1."""
    assert least_us(LINE, "broadcast", 1000, weights=(0, 1, 0)) == pytest.approx(4.5)
    assert least_us(LINE, "broadcast", 1000, root=1) == pytest.approx(4.5)
    assert least_us(LINE, "broadcast", 1000) == pytest.approx(8)
    assert least_us(LINE, "reduce", 1000, root=2) == pytest.approx(8)
    assert least_us(LINE, "reduce", 1000, root=2, weights=(1, 0, 0)) == pytest.approx(8)


def test_weights_are_of_allgathers_alone():
    """All of the data at c, over 1 GB/s to b and on; equal parts in an allreduce anyway."""
    assert least_us(LINE, "allgather", 1000, weights=(0, 0, 1)) == pytest.approx(8)
    assert least_us(LINE, "allreduce", 1000, weights=(0, 0, 1)) == least_us(LINE, "allreduce", 1000)


def test_a_known_rate_counts_after_the_delay():
    """1/10 GB/s: 10 us for 1000 bytes after 3 us, the shortest hop."""
    assert least_us(LINE, "allgather", 1000, rate_gb_s=Fraction(1, 10)) == pytest.approx(13)
    assert least_us(LINE, "all-to-all", 1000, rate_gb_s=Fraction(1, 10)) == pytest.approx(13)
    assert least_us(LINE, "allgather", 1000, rate_gb_s=Fraction(10**6)) == pytest.approx(
        least_us(LINE, "allgather", 1000)
    )


def test_nothing_takes_no_time():
    alone = network_of("a", "", "alone")
    assert least_us(alone, "allgather", 1000) == 0
    assert least_us(LINE, "allgather", 0) == 0


def test_the_paths_of_all_pairs_are_not_searched_for(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("forestcoll.cut_over_time.time_search.best_flow", None)
    assert least_us(load_topology("ring:nodes=4"), "all-to-all", 1000) > 0
