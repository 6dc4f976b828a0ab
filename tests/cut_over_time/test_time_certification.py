"""Bounds on time as certificates: all numbers of the bound, by name."""

import pytest

from forestcoll import certificate_of_time, group, load_topology, time_bound
from forestcoll.problem.over_time.time_certificate import (
    DelayedPrices,
    PairPrices,
    SumPrices,
    TimeLabels,
)
from forestcoll.topology import SharedCapacity
from tests.hand_networks import network_of


def test_labels_stand_beside_names():
    bound = time_bound("dgx_a100:boxes=2", size=4_000_000)
    made = certificate_of_time(bound)
    assert isinstance(made.proof, TimeLabels)
    labels = {one.node: one.us for one in made.proof.labels}
    assert labels["b0.gpu0"] == bound.time_us == made.time_us
    assert (labels["b1.gpu3"], labels["b1.nvswitch"], labels["ib"]) == (0, 10, bound.time_us - 10)
    assert [gpu.name for gpu in made.gpus][:2] == ["b0.gpu0", "b0.gpu1"]
    assert made.forwarding == ["b0.nvswitch", "b1.nvswitch", "ib"]
    assert (made.relays, made.multicast, made.shared) == ([], [], [])
    assert len(made.links) == 64


@pytest.mark.parametrize(
    ("collective", "prices"), [("allreduce", SumPrices), ("all-to-all", PairPrices)]
)
def test_prices_are_of_the_collective(collective: str, prices: type):
    """Of an all-to-all, only links with a price are listed."""
    bound = time_bound("torus:dims=3x3", collective, 10**9)
    made = certificate_of_time(bound)
    assert isinstance(made.proof, DelayedPrices)
    assert isinstance(made.proof.prices, prices)
    assert made.proof.delay_us == 10
    assert made.time_us == 10 + made.size_bytes / (1000 * made.proof.algbw_gb_s)
    if isinstance(made.proof.prices, PairPrices):
        assert all(one.price for one in made.proof.prices.links)


def test_prices_of_trees_and_of_shared_capacities():
    """Two GPUs on half-duplex cables: prices of two cuts and the cables."""
    network = network_of("a b [s]", "a b - s: 1 1/2")
    groups = tuple(SharedCapacity(f"wire{i}", ((i, 2), (2, i)), network.links[0].bandwidth_gb_s)
                   for i in range(2))  # fmt: skip
    shared = type(network)("cables", network.nodes, network.links, groups)
    made = certificate_of_time(time_bound(shared, "allgather", 10**6, 2))
    assert isinstance(made.proof, DelayedPrices)
    assert {one.name for one in made.proof.prices.shared} <= {"wire0", "wire1"}
    assert made.proof.prices.shared
    assert [(one.name, len(one.links)) for one in made.shared] == [("wire0", 2), ("wire1", 2)]
    assert {str(one.latency_us) for one in made.links} == {"1/2"}


def test_relays_and_switches_that_multicast():
    whole = load_topology("dgx_h100:boxes=2,sharp=true")
    part = group(whole, ["b0.gpu0", "b1.gpu0"], idle="forward")
    made = certificate_of_time(time_bound(part, "allgather", 1000))
    assert len(made.relays) == 14
    assert set(made.relays) < set(made.forwarding)
    assert set(made.multicast) == {"b0.nvswitch", "b1.nvswitch", "ib"}
