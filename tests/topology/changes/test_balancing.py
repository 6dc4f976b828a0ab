"""Links lowered whose other way is dead or slower."""

import random
from fractions import Fraction

import pytest

from forestcoll import generate, optimum, verify
from forestcoll.errors import UnbalancedError
from forestcoll.topology import Link, Topology, load_topology, validate
from forestcoll.topology.changes.balancing import balanced
from tests.random_topologies import KINDS, random_topology

BOXES = load_topology("dgx_a100:boxes=2")


def test_a_link_dead_one_way_takes_its_other_way_with_it_where_a_switch_needs_it() -> None:
    damaged = BOXES.without("b1.gpu7 -> ib")
    with pytest.raises(UnbalancedError):
        validate(damaged)
    mended, lowered = balanced(damaged)
    assert mended.links == BOXES.without("b1.gpu7 - ib").links
    assert [(one.tail, one.head, one.after_gb_s) for one in lowered] == [("ib", "b1.gpu7", 0)]
    verify(generate(mended))


def test_it_stays_where_the_collective_can_do_with_it() -> None:
    damaged = BOXES.without("ib -> b1.gpu7")
    assert balanced(damaged) == (damaged, ())
    assert balanced(damaged, "broadcast") == (damaged, ())
    for collective in ("reduce-scatter", "allreduce", "reduce"):
        assert balanced(damaged, collective)[0].links == BOXES.without("ib - b1.gpu7").links
    assert damaged.balanced("reduce-scatter") == balanced(damaged, "reduce-scatter")[0]


def test_a_slower_way_lowers_the_other_to_its_speed() -> None:
    mended, lowered = balanced(BOXES.scaled("b1.gpu7 -> ib", "1/5"))
    assert mended.link_between[BOXES.position_of["ib"], BOXES.position_of["b1.gpu7"]] == Link(
        BOXES.position_of["ib"], BOXES.position_of["b1.gpu7"], Fraction(5)
    )
    assert str(lowered[0]) == (
        "ib -> b1.gpu7 is lowered from 25 to 5 GB/s: the other way is slower or dead, and ib must "
        "stay balanced"
    )


def test_balanced_networks_stay_as_they_are() -> None:
    for spec in ("dgx_h100:boxes=2", "fat_tree:leaves=2,hosts=3,spines=2", "ring:nodes=4"):
        topology = load_topology(spec)
        assert balanced(topology, "allreduce") == (topology, ())


@pytest.mark.parametrize("seed", range(40))
def test_any_network_with_ways_of_unlike_speed_comes_out_balanced(seed: int) -> None:
    rng = random.Random(seed)
    whole = random_topology(seed, KINDS[seed % len(KINDS)])
    links = [
        Link(e.tail, e.head, e.bandwidth_gb_s * Fraction(rng.choice((1, 1, 1, 2, 3)), 3))
        for e in whole.links
        if rng.random() < 0.95
    ]
    damaged = Topology(whole.name, whole.nodes, tuple(links))
    for collective in ("allgather", "reduce-scatter", "allreduce"):
        mended, lowered = balanced(damaged, collective)
        for switch in mended.switches:
            excess = mended.egress_gb_s[switch] - mended.ingress_gb_s[switch]
            assert collective == "reduce-scatter" or excess <= 0
            assert collective == "allgather" or excess >= 0
        assert all(
            link.bandwidth_gb_s <= damaged.link_between[ends].bandwidth_gb_s
            for ends, link in mended.link_between.items()
        )
        changed = {
            ends
            for ends, link in damaged.link_between.items()
            if mended.link_between.get(ends) != link
        }
        names = [node.name for node in damaged.nodes]
        assert {(one.tail, one.head) for one in lowered} == {
            (names[a], names[b]) for a, b in changed
        }


def test_the_optimum_afterwards_is_of_the_network_as_lowered() -> None:
    whole, damaged = BOXES, BOXES.without("b1.gpu7 -> ib")
    assert (
        optimum(damaged.balanced()).algbw_gb_s == optimum(whole.without("b1.gpu7 - ib")).algbw_gb_s
    )
