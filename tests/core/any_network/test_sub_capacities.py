"""Balanced capacities and the prices that prove them, on networks solved by hand."""

import time
from fractions import Fraction

import numpy as np
import pytest

from forestcoll.core.any_network.cut_program import CutProgram, ExactPoint, Limits
from forestcoll.core.any_network.sub_capacities import (
    Roles,
    Separation,
    SubCapacities,
    balanced_sub_capacities,
    find_symmetries,
    first_sets,
)
from forestcoll.errors import CapacityOverflowError
from forestcoll.topology import Topology, load_topology
from forestcoll.topology.symmetry.automorphism import no_symmetry
from tests.core.any_network.networks import damaged_network, fan, half_duplex


def found_for(network: Topology, weights: tuple[int, ...], seconds: float = 20, **more: object):
    links, groups = (
        tuple(int(one.bandwidth_gb_s) for one in each) for each in (network.links, network.shared)
    )
    deadline = time.monotonic() + seconds
    return balanced_sub_capacities(
        network, Limits(links, groups), Roles.of(network, weights), deadline, **more
    )


def check(found: SubCapacities, network: Topology) -> None:
    """Within limits, balanced at switches, and proved."""
    for capacity, link in zip(found.capacity, network.links, strict=True):
        assert 0 <= capacity <= link.bandwidth_gb_s
    for switch in network.switches:
        ends = list(zip(found.capacity, network.links, strict=True))
        into = sum(c for c, link in ends if link.head == switch)
        assert into >= sum(c for c, link in ends if link.tail == switch)
    by_ends = {(e.tail, e.head): c for c, e in zip(found.capacity, network.links, strict=True)}
    for group in network.shared:
        assert sum(by_ends[ends] for ends in group.links) <= group.bandwidth_gb_s
    assert found.is_exact


def test_a_forwarding_switch_divides_its_ingress():
    """1 GB/s into the switch, a third to each GPU; its price is that of a cut."""
    found = found_for(fan(), (1, 0, 0, 0))
    check(found, fan())
    assert found.rate == found.bound == Fraction(1, 3)
    assert sorted(found.capacity)[:3] == [Fraction(1, 3)] * 3
    assert len(found.prices.cuts) == 3
    assert len({one.price for one in found.prices.cuts}) == 1
    assert [one.switch for one in found.prices.switches] == [1]


def test_symmetry_changes_neither_the_rate_nor_the_bound():
    """A price of one row is spread evenly over the four wires and the cuts that they cross."""
    network = half_duplex()
    one = found_for(network, (1,) * 4)
    other = found_for(network, (1,) * 4, orbits=no_symmetry(network))
    for found in (one, other):
        check(found, network)
        assert found.rate == Fraction(32, 3)
    assert len({price.price for price in one.prices.shared}) == 1
    assert len(one.prices.shared) == len(one.prices.cuts) == 4


def test_symmetries_keep_weights():
    """Wires of GPUs with unlike weights are not alike."""
    network = half_duplex()
    for weights, kinds in (((1, 1, 1, 1), 2), ((2, 1, 1, 1), 4)):
        roles = Roles.of(network, weights)
        orbits = find_symmetries(network, roles, time.monotonic() + 20)
        assert int(orbits.link.max()) + 1 == kinds


def test_too_many_images_of_a_cut_leave_symmetry_aside(monkeypatch: pytest.MonkeyPatch):
    """With room for a single set, the four cuts of the wires are stated one by one."""
    monkeypatch.setattr("forestcoll.core.any_network.sub_capacities._MOST_NODES", 5)
    found = found_for(half_duplex(), (1,) * 4)
    assert found.rate == Fraction(32, 3)


def test_without_time_it_is_bounded_from_both_sides():
    """Each wire's 64 GB/s are halved, so x = 32 / 3 is feasible; 3 x <= 64 bounds it by a cut."""
    found = found_for(half_duplex(), (1,) * 4, seconds=0)
    assert not found.is_exact
    assert found.rate == Fraction(32, 3) < found.bound == Fraction(64, 3)
    by_ends = dict(zip(half_duplex().link_between, found.capacity, strict=True))
    for group in half_duplex().shared:
        assert sum(by_ends[ends] for ends in group.links) <= group.bandwidth_gb_s


def test_too_many_images_of_a_cut_end_symmetry(
    monkeypatch: pytest.MonkeyPatch,
):
    """As above, where the images are those of the first cut alone: 3 x <= 64."""
    monkeypatch.setattr("forestcoll.core.any_network.sub_capacities._MOST_NODES", 5)
    network = half_duplex()
    orbits = find_symmetries(network, Roles.of(network, (1,) * 4), time.monotonic() + 20)
    found = found_for(network, (1,) * 4, seconds=0, orbits=orbits)
    assert (found.rate, found.bound) == (Fraction(32, 3), Fraction(64, 3))


def test_a_basis_that_breaks_limits_is_not_believed(monkeypatch: pytest.MonkeyPatch):
    """Twice the capacities would have twice the rate, 64/3, which 3 x <= 64 does not forbid."""

    def doubled(program: CutProgram, deadline: float) -> ExactPoint | None:
        point = exact(program, deadline)
        assert point is not None
        return ExactPoint([2 * one for one in point.capacity], 2 * point.rate, point.prices)

    exact = CutProgram.exact
    monkeypatch.setattr(CutProgram, "exact", doubled)
    assert found_for(half_duplex(), (1,) * 4).rate <= Fraction(32, 3)


@pytest.mark.parametrize("seed", range(12))
def test_random_networks_within_limits_and_balance(seed: int):
    if (made := damaged_network(seed, groups=seed % 2 == 0)) is None:
        return
    network, weights = made
    whole = np.lcm.reduce([one.bandwidth_gb_s.denominator for one in network.links])
    network = network.scaled("*", int(whole))
    groups = np.lcm.reduce([one.bandwidth_gb_s.denominator for one in network.shared] or [1])
    if groups == 1:
        check(found_for(network, weights), network)


def test_first_sets_leave_out_a_target_or_a_box():
    """16 GPUs and 2 boxes; none that holds no data, as everything but the root or its box."""
    network = load_topology("dgx_a100:boxes=2")
    assert len(list(first_sets(network, Roles.of(network, (1,) * 16)))) == 18
    assert len(list(first_sets(network, Roles.of(network, (1,) + (0,) * 15)))) == 16


def test_separation_finds_a_set_for_each_gpu_that_is_not_reached():
    """At rate 1 every GPU needs three shards, and its wire lets two through."""
    network = half_duplex()
    roles = Roles.of(network, (1,) * 4)
    separation = Separation(network, roles)
    half = [Fraction(2)] * len(network.links)
    assert len(separation.exactly(ExactPoint(half, Fraction(1), {}))) == 4
    assert separation.exactly(ExactPoint([2 * one for one in half], Fraction(1), {})) == []
    assert len(separation.near(np.full(len(network.links), 2.0), 4.0)) == 4
    assert separation.near(np.full(len(network.links), 3.0), 4.0) == []
    assert len(separation.of_whole(np.full(len(network.links), 2, dtype=np.int64))) == 4
    assert separation.of_whole(np.full(len(network.links), 3, dtype=np.int64)) == []


def test_separation_refuses_numbers_beyond_64_bits():
    network = half_duplex()
    separation = Separation(network, Roles.of(network, (1,) * 4))
    odd = [Fraction(1, 2**61 - 1)] + [Fraction(3)] * (len(network.links) - 1)
    with pytest.raises(CapacityOverflowError):
        separation.exactly(ExactPoint(odd, Fraction(1), {}))
