"""The check of groups that communicate at once, and what a group is."""

from dataclasses import replace
from fractions import Fraction

import pytest

import forestcoll
from forestcoll.errors import (
    InvalidParameterError,
    VerificationError,
)
from forestcoll.solver.linear_program import Settings
from forestcoll.topology import load_topology
from lp.groups.result import ConcurrentGroups, ProcessGroup, check_concurrent, rate_of
from lp.groups.sharing import concurrent_groups, groups_by_index

SETTINGS = Settings(seconds=60)


@pytest.fixture(scope="module")
def pair() -> ConcurrentGroups:
    topology = load_topology("dgx_a100:boxes=2")
    return concurrent_groups(topology, groups_by_index(topology), SETTINGS)


def test_a_rate_too_high_is_refused(pair: ConcurrentGroups) -> None:
    with pytest.raises(VerificationError, match=r"all groups together send 25\.025"):
        check_concurrent(replace(pair, rate_gb_s=pair.rate_gb_s * Fraction(1001, 1000)))


def test_a_forest_of_another_group_is_refused(pair: ConcurrentGroups) -> None:
    turned = (*pair.forests[1:], pair.forests[0])
    with pytest.raises(VerificationError, match="'index 0': its forest is of another network"):
        check_concurrent(replace(pair, forests=turned))


def test_a_broken_forest_is_refused(pair: ConcurrentGroups) -> None:
    first = pair.forests[0]
    broken = replace(first, multiplicity=first.multiplicity + 1)
    with pytest.raises(VerificationError, match="group 'index 0': "):
        check_concurrent(replace(pair, forests=(broken, *pair.forests[1:])))
    with pytest.raises(VerificationError, match="7 forests for 8 groups"):
        check_concurrent(replace(pair, forests=pair.forests[1:]))
    reduction = forestcoll.generate(first.topology, collective="reduce-scatter").schedule
    with pytest.raises(VerificationError, match="is not an allgather"):
        check_concurrent(replace(pair, forests=(reduction, *pair.forests[1:])))


def test_groups_that_overlap_are_refused_by_the_check(pair: ConcurrentGroups) -> None:
    twice = (pair.groups[0], *pair.groups[:7])
    forests = (pair.forests[0], *pair.forests[:7])
    with pytest.raises(VerificationError, match="a GPU is in two groups"):
        check_concurrent(replace(pair, groups=twice, forests=forests))


def test_the_rate_is_that_of_the_busiest_link(pair: ConcurrentGroups) -> None:
    """25 GB/s of each NIC are used up; at twice the weight half of t will do."""
    assert rate_of(pair.groups, pair.forests) == pair.rate_gb_s == 25
    heavy = tuple(replace(one, weight=Fraction(2)) for one in pair.groups)
    assert rate_of(heavy, pair.forests) == Fraction(25, 2)


def test_a_groups_data_are_those_of_all_its_members(pair: ConcurrentGroups) -> None:
    """Two members that send 25 GB/s each; three times as fast with weight 3."""
    assert pair.algbw_gb_s(0) == 50
    fast = replace(pair.groups[0], weight=Fraction(3))
    assert replace(pair, groups=(fast, *pair.groups[1:])).algbw_gb_s(0) == 150


def test_a_group_has_two_members_and_a_positive_weight() -> None:
    with pytest.raises(InvalidParameterError, match="group 'x' has fewer than two members"):
        ProcessGroup("x", ("gpu0",))
    with pytest.raises(InvalidParameterError, match="group 'x': weight is 0; it must be positive"):
        ProcessGroup("x", ("gpu0", "gpu1"), Fraction(0))


def test_others_are_relays_on_the_network_of_a_group() -> None:
    ring = load_topology("ring:nodes=4")
    network = ProcessGroup("x", ("gpu1", "gpu3")).on(ring)
    assert [network.nodes[v].name for v in network.compute] == ["gpu1", "gpu3"]
    assert network.links == ring.links
    with pytest.raises(InvalidParameterError, match="group 'x': the group names 'gpu9'"):
        ProcessGroup("x", ("gpu1", "gpu9")).on(ring)
